"""Local scores from the names that users give: parametrisation, form and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heterodag.core.blocks import LongTable
from heterodag.core.experiments import Experiments
from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL, Array, Form
from heterodag.core.parts import array_parts, part_rows
from heterodag.core.survey import survey
from heterodag.core.table import Table
from heterodag.errors import ParameterError, check_choice
from heterodag.runtime.seeds import model_seed
from heterodag.runtime.work import Work
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.long import CHOSEN_ON, SAMPLE_ROWS, LongScores
from heterodag.scores.networks import NetworkFitter

PARAMETRIZATIONS = ("auto", "linear", "spline", "mlp")
FORM_NAMES = ("auto", *FORMS)
NOISES = ("auto", "gaussian", "flexible")


@dataclass(frozen=True)
class ScoreSettings:
    """Which models to fit: how they depend on the parents, in which form, with which noise."""

    parametrization: str
    form: str
    noise: str = "gaussian"

    @property
    def compete(self) -> bool:
        """Whether several mechanisms, or densities of the noise, compete; networks never do."""
        return self.parametrization != "mlp" and (
            self.noise != "gaussian" or "auto" in (self.parametrization, self.form)
        )

    @property
    def tell_sides(self) -> bool:
        """Whether effects on the mean and on the spread can be separated: only in location-scale form."""
        return self.form == LOCATION_SCALE.name

    @property
    def fixed_form(self) -> Form:
        """The form; the paper's if it is to be chosen."""
        return NATURAL if self.form == "auto" else FORMS[self.form]

    def lines(self) -> LineFitter:
        """Return the fitter of straight lines in this form, for the rounds of Algorithm 2."""
        return LineFitter(self.fixed_form)

    def fitter(self, seed: np.random.SeedSequence) -> Fitter:
        """Return the fitter of these models; only networks draw random numbers."""
        if self.parametrization == "mlp":
            return NetworkFitter(self.fixed_form, model_seed(seed))
        if self.compete:
            forms = (LOCATION_SCALE, NATURAL) if self.form == "auto" else (FORMS[self.form],)
            natural_curves = self.parametrization == "spline" or self.form == NATURAL.name
            return CompetingFitter(forms, self.parametrization != "linear", self.noise, natural_curves)
        return CurveFitter(self.fixed_form) if self.parametrization == "spline" else self.lines()

    def make(
        self,
        array: Array,
        seed: np.random.SeedSequence,
        work: Work | None = None,
        experiments: Experiments | None = None,
    ) -> LocalScores:
        """Return the local scores of a table that has already been checked."""
        return LocalScores(Table.standardize(array), self.fitter(seed), work, experiments)

    def make_for_graph(
        self,
        array: Array,
        seed: np.random.SeedSequence,
        work: Work,
        experiments: Experiments | None = None,
        random_state: Any = None,
    ) -> LocalScores:
        """Return the local scores that a graph is learned from; for a long table, these use samples and sums.

        Samples follow the user's `random_state`; None means a fixed seed, so that a table always gives the same
        graph.
        """
        if experiments is not None or len(array) <= CHOSEN_ON or not self.linear_in_coefficients:
            return self.make(array, seed, work, experiments)
        parts = tuple(array_parts(array, part_rows(array.shape[1])))
        rng = np.random.default_rng(0 if random_state is None else seed)
        return LongScores(LongTable(parts, survey(parts, SAMPLE_ROWS, rng, work.map)), self.fitter(seed), work)

    @property
    def linear_in_coefficients(self) -> bool:
        """Whether models can be fitted to a long table by sums over its rows."""
        return self.compete or self.parametrization == "linear"


def score_settings(parametrization: str, form: str, noise: str = "gaussian") -> ScoreSettings:
    """Check the names of a parametrisation, a form and a noise."""
    check_choice("parametrization", parametrization, PARAMETRIZATIONS)
    check_choice("form", form, FORM_NAMES)
    check_choice("noise", noise, NOISES)
    if parametrization == "mlp" and noise == "flexible":
        raise ParameterError("noise", "be 'auto' or 'gaussian' with parametrization 'mlp'", noise)
    return ScoreSettings(parametrization, form, noise)


#: The paper's models.
LINES = score_settings("linear", "natural")
#: The best mechanism and noise for every variable.
AUTO = score_settings("auto", "auto", "auto")
