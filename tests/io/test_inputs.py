"""Tables in: what is accepted, and one sentence for everything that is not."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from heterodag import HOST
from heterodag.errors import DataError, DataTypeError, DataWarning, HeterodagError
from heterodag.io.inputs import check_data, column_labels, read_data

NAMES = ["age", "dose", "cost"]


def values(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def frame(n=40, d=3):
    return pd.DataFrame(values(n, d), columns=NAMES[:d])


def put(rows, column, value):
    table = frame()
    table[column] = table[column].astype(object) if isinstance(value, str) else table[column]
    table.loc[rows, column] = value
    return table


def with_column(name, column):
    return frame().assign(**{name: column})


def array_with(i, j, value):
    X = values()
    X[i, j] = value
    return X


X0 = values()
BAD = {
    "missing": (put([1, 2], "dose", np.nan), ["Missing", "'dose' (2)"]),
    "missing twice": (
        put([1], "dose", np.nan).assign(age=[np.nan] * 3 + list(range(37))),
        ["'age' (3)", "'dose' (1)"],
    ),
    "missing in an array": (array_with(0, 2, np.nan), ["Missing", "'x2' (1)"]),
    "infinite": (put([0], "cost", np.inf), ["'cost'", "infinite"]),
    "minus infinite": (array_with(0, 1, -np.inf), ["'x1'", "infinite"]),
    "infinite both ways": (
        put([0], "cost", np.inf).assign(age=[-np.inf] + [1.0, 2.0] * 19 + [3.0]),
        ["'age', 'cost'"],
    ),
    "constant": (with_column("dose", 4.0), ["'dose'", "constant"]),
    "constants": (with_column("dose", 4.0).assign(age=0), ["'age', 'dose'", "constant"]),
    "duplicate": (with_column("twin", X0[:, 1]), ["'dose'", "'twin'", "duplicates"]),
    "duplicate in other units": (with_column("twin", 3 - 1e4 * X0[:, 2]), ["'cost'", "'twin'", "duplicates"]),
    "collinear": (with_column("sum", X0.sum(axis=1)), ["'sum'", "collinear", "'age', 'dose', 'cost'"]),
    "collinear with two of three": (with_column("gap", X0[:, 0] - 5 * X0[:, 2]), ["'gap'", "'age', 'cost'"]),
    "collinear array": (np.column_stack([X0, X0[:, :2].mean(axis=1)]), ["'x3'", "'x0', 'x1'"]),
    "text column": (with_column("town", "Oslo"), ["'town'", "not numeric", "'Oslo'"]),
    "one text": (put([3], "dose", "high"), ["'dose'", "'high'"]),
    "dates": (with_column("day", pd.Timestamp("2020-01-01")), ["'day'", "not numeric"]),
    "text array": (np.array([["a", "b"], ["c", "d"]]), ["not numeric", "x0", "'a'"]),
    "objects": (np.array([[1.0, "b"], [2.0, 3.0]], dtype=object), ["'x1'", "'b'"]),
    "complex": (values() + 1j, ["Complex"]),
    "ragged": ([[1.0, 2.0], [3.0]], ["different lengths"]),
    "1-D": (values()[:, 0], ["2D", "1D"]),
    "3-D": (values()[None], ["2D", "3D"]),
    "number": (3.0, ["must be a table", "float"]),
    "none": (None, ["must be a table"]),
    "empty list": ([], ["2D", "1D"]),
    "no rows": (frame(0), ["empty", "0 rows"]),
    "no columns": (pd.DataFrame(index=range(9)), ["empty", "0 feature(s)"]),
    "no columns array": (np.empty((9, 0)), ["empty"]),
    "one row": (values(1), ["1 sample", "6"]),
    "too few rows": (values(5), ["Too few rows", "5 rows", "3 column", "6"]),
    "fewer rows than columns": (values(10, 20), ["Too few rows", "23"]),
    "sparse": (sparse.csr_matrix(values()), ["sparse", "toarray"]),
}


@pytest.mark.parametrize(("table", "fragments"), BAD.values(), ids=BAD.keys())
def test_bad_tables_are_refused_in_one_sentence(table, fragments):
    with pytest.raises(DataError) as caught:
        check_data(table)
    message = str(caught.value)
    assert [f for f in fragments if f not in message] == []
    assert "\n" not in message


def test_text_is_also_a_type_error():
    with pytest.raises(DataTypeError):
        check_data(with_column("town", "Oslo"))
    with pytest.raises(TypeError):
        check_data(np.array([["a", "b"], ["c", "d"]]))


def test_long_lists_of_columns_are_shortened():
    X = values(40, 9)
    X[:, 1:] = 1.0
    with pytest.raises(DataError, match=r"'x1', 'x2', 'x3', 'x4', 'x5' and 3 more are constant"):
        check_data(X)
    X = values(40, 9)
    X[0, 1:] = np.nan
    with pytest.raises(DataError, match=r"'x5' \(1\) and 3 more columns"):
        check_data(X)


GOOD = {
    "array": X0,
    "Fortran": np.asfortranarray(X0),
    "float32": X0.astype(np.float32),
    "float16": X0.astype(np.float16),
    "integers": (X0 * 100).astype(np.int32),
    "unsigned": (X0 * 10 + 100).astype(np.uint8),
    "booleans": X0 > 0,
    "lists": X0.tolist(),
    "objects": X0.astype(object),
    "pandas": pd.DataFrame(X0, columns=NAMES),
    "pandas mixed": pd.DataFrame({"age": X0[:, 0] > 0, "dose": (X0[:, 1] * 50).astype("int8"), "cost": X0[:, 2]}),
    "pandas nullable": pd.DataFrame(X0, columns=NAMES).convert_dtypes(),
    "pandas objects": pd.DataFrame(X0, columns=NAMES).astype(object),
    "polars": pl.DataFrame(X0, schema=NAMES),
    "polars float32": pl.DataFrame(X0.astype(np.float32), schema=NAMES),
}


@pytest.mark.parametrize("table", GOOD.values(), ids=GOOD.keys())
def test_good_tables_become_float_arrays_with_their_names(table):
    array, names = check_data(table)
    assert array.dtype == np.float64
    assert array.shape == (40, 3)
    assert names == (NAMES if isinstance(table, pd.DataFrame | pl.DataFrame) else None)
    expected = table.to_numpy() if hasattr(table, "to_numpy") else np.asarray(table)
    np.testing.assert_array_equal(array, expected.astype(float))


def test_missing_values_of_nullable_frames_are_seen():
    table = pd.DataFrame(X0, columns=NAMES).convert_dtypes()
    table.loc[4, "dose"] = pd.NA
    for given in (table, pl.DataFrame({"age": X0[:, 0], "dose": [None, *X0[1:, 1]], "cost": X0[:, 2]})):
        with pytest.raises(DataError, match=r"'dose' \(1\)"):
            check_data(given)


def test_missing_values_of_object_arrays_are_seen():
    table = X0.astype(object)
    table[2, 1] = None
    with pytest.raises(DataError, match=r"'x1' \(1\)"):
        check_data(table)


@pytest.mark.parametrize("unit", [1e150, 1e-150, 1e300, 1e-300, 1e307])
def test_values_of_any_size_are_accepted(unit):
    X = values()
    X[:, 1] *= unit
    array, _ = check_data(X)
    np.testing.assert_array_equal(array, X)
    with pytest.raises(DataError, match=r"'x1' and 'x3' are duplicates"):
        check_data(np.column_stack([X, 2 * X[:, 1] if unit < 1e307 else X[:, 1]]))


def test_near_collinear_columns_are_accepted():
    x, noise = values(2000, 2).T
    close = 0.999 * x + np.sqrt(1 - 0.999**2) * noise
    assert np.corrcoef(x, close)[0, 1] > 0.998
    check_data(np.column_stack([x, close]))
    check_data(np.column_stack([x, x + 1e-4 * noise]))


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_share_only_an_outlier_are_accepted(seed):
    X = values(500, 2, seed)
    X[17] = 1e9
    assert np.corrcoef(X.T)[0, 1] > 1 - 1e-12
    check_data(X)
    with pytest.raises(DataError, match="duplicates"):
        check_data(np.column_stack([X, X[:, 0]]))


def test_a_large_common_offset_is_no_collinearity():
    check_data(values() + 1e8)


def test_integer_column_names_become_text():
    _, names = check_data(pd.DataFrame(X0))
    assert names == ["0", "1", "2"]


def test_column_names_of_several_levels_become_text():
    levels = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    array, names = check_data(pd.DataFrame(X0, columns=levels))
    np.testing.assert_array_equal(array, X0)
    assert len(set(names)) == 3


def test_repeated_column_names_are_refused_by_name():
    with pytest.raises(DataError, match="'age'"):
        check_data(pd.DataFrame(X0, columns=["age", "age", "cost"]))


def test_an_array_of_dates_is_refused():
    with pytest.raises(DataError, match="dates"):
        check_data(np.arange(80).reshape(40, 2).astype("datetime64[s]"))


def test_masked_values_are_missing_values():
    with pytest.raises(DataError, match=r"'x0' \(1\)"):
        check_data(np.ma.masked_array(X0, mask=np.arange(120).reshape(40, 3) == 0))


def test_labels_are_names_or_numbers():
    assert column_labels(3, NAMES) == NAMES
    assert column_labels(2, None) == ["x0", "x1"]


def test_the_smallest_table_that_is_accepted():
    check_data(values(5, 1))
    check_data(values(5, 2))
    check_data(values(6, 3))
    with pytest.raises(DataError):
        check_data(values(4, 1))


def test_reading_alone_judges_types_but_not_values():
    array, names = read_data(pd.DataFrame({"a": [np.nan, 1.0], "b": [2.0, 2.0]}))
    assert names == ["a", "b"]
    assert np.isnan(array[0, 0])


def test_the_table_is_not_changed():
    X = values()
    kept = X.copy()
    check_data(X)
    np.testing.assert_array_equal(X, kept)


def test_rows_with_missing_values_are_dropped_on_request():
    rng = np.random.default_rng(0)
    gappy = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    gappy.loc[[3, 7], "a"] = np.nan
    gappy.loc[[7, 9], "c"] = np.nan
    with pytest.warns(DataWarning) as caught:
        array, names = check_data(gappy, missing="drop")
    (warning,) = caught
    assert str(warning.message) == "3 of 30 rows have missing values, in 'a' (2), 'c' (2), and were left out."
    assert names == ["a", "b", "c"]
    assert np.array_equal(array, gappy.dropna().to_numpy())


def test_a_whole_table_drops_nothing_and_says_nothing(recwarn):
    X = np.random.default_rng(0).standard_normal((20, 2))
    assert check_data(X, missing="drop")[0].shape == (20, 2)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("X", "missing", "said"),
    [
        (np.full((20, 2), np.nan), "drop", "Every row has a missing value (in 'x0' (20), 'x1' (20))"),
        (np.where(np.arange(40).reshape(20, 2) > 5, np.nan, np.arange(40).reshape(20, 2)), "drop", "Too few rows"),
        (np.where(np.eye(20, 2) > 0, np.nan, 1.0), "refuse", "'x0' (1), 'x1' (1)"),
        (np.where(np.eye(20, 2) > 0, np.inf, np.arange(40.0).reshape(20, 2)), "drop", "infinite"),
        (np.zeros((20, 2)), "fill", "`missing` must be one of 'refuse', 'drop'"),
    ],
)
def test_what_dropping_cannot_mend_is_refused(X, missing, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(HeterodagError) as caught:
            check_data(X, missing=missing)
    assert said in str(caught.value)


@pytest.mark.parametrize("path", ["my.csv", b"my.csv", Path("my.csv")])
def test_a_path_in_place_of_a_table(path):
    with pytest.raises(
        DataError, match=r"not the path 'my\.csv': .*pandas\.read_csv, or run .*heterodag fit my\.csv"
    ):
        read_data(path)
    with pytest.raises(DataError, match="not the path"):
        HOST().fit(path)


def test_categories_of_numbers_are_no_amounts():
    frame = pd.DataFrame({"a": pd.Categorical([1, 2, 1]), "b": [1, 2, 3], "c": pd.Categorical([1.5, 2, 2])})
    with pytest.raises(DataError, match=r"Columns 'a', 'c' are categorical: .*astype\(float\).*drop"):
        read_data(frame)
    with pytest.raises(DataError, match=r"'a' is not numeric .*'x'"):
        read_data(pd.DataFrame({"a": pd.Categorical(["x", "y"])}))


def test_whole_numbers_of_any_size():
    assert read_data(pd.DataFrame({"a": [10**30, 1]}))[0].tolist() == [[1e30], [1.0]]
    assert read_data(np.array([[10**30, None]], dtype=object))[0][0, 0] == 1e30
    huge = np.array([[1], [10**400]], dtype=object)
    for X in (pd.DataFrame(huge, columns=["a"]), huge, huge.tolist()):
        with pytest.raises(DataError, match=r"holds a number beyond 1.8e308 in row 1"):
            read_data(X)
    with pytest.raises(DataError, match="holds no number in row 0"):
        read_data(pd.DataFrame({"a": [Decimal("sNaN")]}))
    assert read_data(np.empty((3, 0), dtype=object))[0].shape == (3, 0)


def test_a_polars_column_of_nulls_is_missing():
    with pytest.raises(DataError, match=r"Missing values \(NaN\) in 'b'"):
        check_data(pl.DataFrame({"a": [float(k) for k in range(9)], "b": [None] * 9}))


@pytest.mark.parametrize(
    ("X", "remedy"),
    [
        ({"a": [1, 2]}, "got dict: pass pandas.DataFrame"),
        (None, "got NoneType: pass an array or a data frame"),
        (np.zeros(9, dtype=[("a", float), ("b", float)]), "pass pandas.DataFrame"),
    ],
)
def test_what_is_no_table_at_all(X, remedy):
    with pytest.raises(DataError, match=f"`X` must be a table, .*{remedy}"):
        read_data(X)
