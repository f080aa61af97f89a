"""Tests of other packages: quiet, in the shape of the contract, and a clear word when they are missing."""

from __future__ import annotations

import importlib.util
import pickle
import warnings

import numpy as np
import pytest

from heterodag.errors import DataError, MissingExtraError, ParameterError
from heterodag.independence import adapters
from heterodag.independence.adapters import causal_learn
from heterodag.independence.partial_correlation import partial_correlation

installed = pytest.mark.skipif(
    importlib.util.find_spec("causallearn") is None, reason="causal-learn is not installed"
)


def chain(n=80):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    z = x + 0.3 * rng.standard_normal(n)
    return x, z**2 + 0.3 * rng.standard_normal(n), z[:, None]


@installed
def test_fisherz_is_our_partial_correlation():
    x, y, Z = chain()
    for given in (Z, np.empty((80, 0))):
        assert causal_learn("fisherz")(x, y, given) == pytest.approx(partial_correlation(x, y, given), rel=1e-6)


@installed
def test_kci_sees_curves_and_what_blocks_them(capfd):
    x, y, Z = chain()
    kci = pickle.loads(pickle.dumps(causal_learn("kci")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kci(x, y, np.empty((80, 0))) < 0.001
        blocked = kci(x, y, Z)
    assert blocked > 0.01
    assert kci(1000 * x + 5, -y, Z) == pytest.approx(blocked, rel=1e-3)
    assert capfd.readouterr() == ("", "")


@installed
@pytest.mark.parametrize("name", ["kci", "fisherz"])
def test_bad_input_is_an_error_of_ours(name):
    x, y, Z = chain(30)
    with pytest.raises(DataError, match="`x` has missing"):
        causal_learn(name)(np.where(x > 0, x, np.nan), y, Z)


@installed
def test_what_causal_learn_cannot_compute_is_one_sentence(monkeypatch):
    def broken(self, *args):
        raise ValueError("no.")

    monkeypatch.setattr("causallearn.utils.cit.FisherZ.__call__", broken)
    with pytest.raises(DataError, match=r"^causal-learn could not compute its test 'fisherz': no\.$"):
        causal_learn("fisherz")(*chain(30))


def test_a_missing_package_names_the_command(monkeypatch):
    monkeypatch.setattr(adapters.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"The test 'kci' needs .*: pip install 'heterodag\[ci-tests\]'"):
        causal_learn("kci")


def test_unknown_names_are_errors():
    with pytest.raises(ParameterError, match="`name` must be one of 'kci', 'fisherz'; got 'rcit'"):
        causal_learn("rcit")
