"""Local scores by the names that users give: parametrisation and form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import FORMS, Array, Form
from heterodag.core.table import Table
from heterodag.errors import check_choice
from heterodag.runtime.seeds import model_seed
from heterodag.runtime.work import Work
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.networks import NetworkFitter

PARAMETRIZATIONS = ("linear", "spline", "mlp")


@dataclass(frozen=True)
class ScoreSettings:
    """Which models: how they depend on the parents, and in which form."""

    parametrization: str
    form: Form

    def lines(self) -> LineFitter:
        """Return the fitter of straight lines in this form."""
        return LineFitter(self.form)

    def fitter(self, seed: np.random.SeedSequence) -> Fitter:
        """Return the fitter of these models; only networks draw random numbers."""
        if self.parametrization == "spline":
            return CurveFitter(self.form)
        if self.parametrization == "mlp":
            return NetworkFitter(self.form, model_seed(seed))
        return self.lines()

    def make(self, array: Array, seed: np.random.SeedSequence, work: Work | None = None) -> LocalScores:
        """Return the local scores of a table that has been checked already."""
        return LocalScores(Table.standardize(array), self.fitter(seed), work)


def score_settings(parametrization: str, form: str) -> ScoreSettings:
    """Check the names of a parametrisation and a form."""
    check_choice("parametrization", parametrization, PARAMETRIZATIONS)
    return ScoreSettings(parametrization, FORMS[check_choice("form", form, FORMS)])


#: The paper's models.
LINES = score_settings("linear", "natural")
