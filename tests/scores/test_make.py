"""Local scores by name: which fitter comes of which names, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.errors import ParameterError
from heterodag.runtime.work import Work
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter
from heterodag.scores.make import LINES, score_settings
from heterodag.scores.networks import NetworkFitter


@pytest.mark.parametrize(
    ("parametrization", "kind"), [("linear", LineFitter), ("spline", CurveFitter), ("mlp", NetworkFitter)]
)
@pytest.mark.parametrize(("name", "form"), [("natural", NATURAL), ("location-scale", LOCATION_SCALE)])
def test_names_choose_fitter_and_form(parametrization, kind, name, form):
    settings = score_settings(parametrization, name)
    fitter = settings.fitter(np.random.SeedSequence(1))
    assert type(fitter) is kind
    assert fitter.form is form
    assert settings.lines() == LineFitter(form)
    assert fitter.comparable == (parametrization != "mlp")


def test_lines_of_the_paper_are_natural():
    assert (LINES.parametrization, LINES.form) == ("linear", "natural")
    assert LINES.fitter(np.random.SeedSequence(0)) == LineFitter(NATURAL)


def test_only_networks_draw_random_numbers():
    one, two = (score_settings("mlp", "natural").fitter(np.random.SeedSequence(seed)) for seed in (1, 2))
    assert one != two
    assert one == score_settings("mlp", "natural").fitter(np.random.SeedSequence(1))
    curves = (score_settings("spline", "natural").fitter(np.random.SeedSequence(seed)) for seed in (1, 2))
    assert len(set(curves)) == 1


@pytest.mark.parametrize(
    ("parametrization", "form", "name"),
    [("cubic", "natural", "parametrization"), ("linear", "Natural", "form"), ("linear", None, "form")],
)
def test_bad_choices_are_named(parametrization, form, name):
    with pytest.raises(ParameterError, match=rf"`{name}` must be one of"):
        score_settings(parametrization, form)


def test_a_table_is_standardised_on_the_way():
    work = Work()
    X = np.random.default_rng(0).normal(3.0, 7.0, size=(50, 2))
    scores = LINES.make(X, np.random.SeedSequence(0), work)
    assert scores.work is work
    assert (scores.n_rows, scores.d) == (50, 2)
    np.testing.assert_allclose(scores.table.take([0, 1]).std(axis=1), 1.0)
