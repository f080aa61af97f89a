"""Conditional independence tests from other packages, adapted to the contract."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import warnings
from functools import partial

import numpy as np

from heterodag.errors import DataError, MissingExtraError, check_choice
from heterodag.independence._regression import regression, standardized
from heterodag.independence.contract import Array, PairwiseTest
from heterodag.independence.pairwise import check_samples

CAUSAL_LEARN = ("kci", "fisherz")


def causal_learn(name: str) -> PairwiseTest:
    """Return a test of the causal-learn package.

    Parameters
    ----------
    name : {"kci", "fisherz"}
        "kci": the kernel-based test of Zhang et al. (2011), whose time grows with the cube of the number of rows.
        "fisherz": Fisher's z-test of the partial correlation; `partial_correlation` gives the same result faster.

    Returns
    -------
    callable (x, y, Z) -> float
        The p-value is 1 when x or y is constant. It raises `DataError` where causal-learn cannot compute its
        test: "fisherz" when the columns depend on each other linearly or Z has n - 3 columns or more.

    Raises
    ------
    MissingExtraError
        If causal-learn is not installed.

    Notes
    -----
    Columns are standardised first, and both tests keep causal-learn's defaults, under which they use no
    random numbers.
    """
    check_choice("name", name, CAUSAL_LEARN)
    if importlib.util.find_spec("causallearn") is None:
        raise MissingExtraError(f"The test '{name}'", "ci-tests")
    return partial(_causal_learn_test, name)


def _causal_learn_test(name: str, x: Array, y: Array, Z: Array) -> float:
    from causallearn.utils.cit import CIT

    x, y, Z = check_samples(x, y, Z)
    table = standardized(np.column_stack([x, y, Z]))
    if not table[:, :2].any(axis=0).all():
        return 1.0
    if name == "fisherz":
        _check_invertible(table)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            p = float(CIT(table, name)(0, 1, list(range(2, table.shape[1]))))
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        reason = str(error).rstrip(".")
        raise DataError(f"causal-learn could not compute its test '{name}': {reason}.") from error
    if np.isnan(p):
        raise DataError(f"causal-learn could not compute its test '{name}': a column is constant given the others.")
    return p


def _check_invertible(table: Array) -> None:
    n, columns = table.shape
    remedy = "drop columns, or use 'partial-correlation', which copes with this."
    if columns - 2 >= n - 3:
        raise DataError(
            f"'fisherz' needs at least 4 rows more than Z has columns; got {n} rows and {columns - 2} columns: {remedy}"
        )
    if regression(table).rank < columns:
        raise DataError(f"'fisherz' cannot be computed when x, y and Z have linearly dependent columns: {remedy}")
