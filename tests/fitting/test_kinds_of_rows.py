"""What people pass as rows: what is fitted like its values, and what is told in one line what it
is.

Objects of xarray, DuckDB, AnnData and Dask are stand-ins here with the attributes by which they are
known, where these are not installed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.engines.dask.dask_api import is_collection

X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0, 0, 0], [9, 0, 0]], 20, axis=0)


class Labelled:
    """As xarray.DataArray is: it defines `__dask_graph__`, which is None over NumPy."""

    dims = ("row", "column")

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def data(self) -> Any:
        return self._data

    shape, ndim, dtype = (
        property(lambda self, name=name: getattr(self._data, name))
        for name in ("shape", "ndim", "dtype")
    )

    def __dask_graph__(self) -> Any:
        graph = getattr(self._data, "__dask_graph__", None)
        return graph and graph()

    def __len__(self) -> int:
        return len(self._data)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._data, dtype)

    def map_blocks(self) -> None: ...


def labelled(x: Any, of_xarray: bool) -> Any:
    return (
        pytest.importorskip("xarray").DataArray(x, dims=("row", "column"))
        if of_xarray
        else Labelled(x)
    )


@pytest.mark.parametrize("of_xarray", [False, True])
def test_labelled_arrays_are_fitted_like_their_values(of_xarray: bool) -> None:
    rows, weight = labelled(X, of_xarray), np.linspace(1.0, 2.0, len(X))
    assert not is_collection(rows)
    weights = labelled(weight[:, None], of_xarray)[:, 0] if of_xarray else Labelled(weight)
    model = FuzzyCMeans(2, random_state=0).fit(rows, sample_weight=weights)
    plain = FuzzyCMeans(2, random_state=0).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(model.cluster_centers_, plain.cluster_centers_)
    for name in ("predict", "memberships", "transform", "outlier_score"):
        np.testing.assert_array_equal(getattr(model, name)(rows), getattr(plain, name)(X))


@pytest.mark.parametrize("of_xarray", [False, True])
def test_labelled_arrays_over_dask_are_answered_about_like_dask_arrays(of_xarray: bool) -> None:
    array = pytest.importorskip("dask.array")
    rows = labelled(array.from_array(X, chunks=(15, 3)), of_xarray)
    assert is_collection(rows)
    model = FuzzyCMeans(2, random_state=0).fit(X)
    answer = model.predict(rows)
    assert isinstance(answer, array.Array)
    np.testing.assert_array_equal(answer.compute(), model.labels_)


def test_what_dask_has_is_known_before_a_client_is_asked_for() -> None:
    bag = pytest.importorskip("dask.bag")
    with pytest.raises(
        ValueError, match="X is a Bag of Dask; pass a Dask array or data frame, or what it computes"
    ):
        FuzzyCMeans(2).fit(bag.from_sequence([1, 2]))


def with_attributes(name: str, *attributes: str) -> Any:
    return type(name, (), dict.fromkeys(attributes))()


def polars(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(pytest.importorskip("polars"))


def pandas(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(pytest.importorskip("pandas"))


THREE = (
    r"got one of shape \(4, 5, 2\)\. Reshape your data: X\.reshape\(-1, 2\) .*, X\.reshape\(4, "
    r"-1\) if each X\[i\] is one row"
)
KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "xarray Dataset": (
        lambda: with_attributes("Dataset", "data_vars", "to_dataframe"),
        r"an xarray\.Dataset; .* X\.to_dataframe\(\)",
    ),
    "AnnData": (
        lambda: with_attributes("AnnData", "obsm", "varm"),
        r"AnnData; pass it to cmeans\.anndata\.cluster, or .*X\.obsm",
    ),
    "DuckDB": (
        lambda: with_attributes("DuckDBPyRelation", "fetchnumpy", "fetchall"),
        r"a DuckDBPyRelation of DuckDB.*; pass X\.df\(\)",
    ),
    "lazy frame": (
        polars(lambda pl: pl.DataFrame({"a": X[:, 0]}).lazy()),
        r"a LazyFrame, .* pass X\.collect\(\)",
    ),
    "Arrow dataset": (
        lambda: with_attributes("Dataset", "to_table", "schema"),
        r"an Arrow dataset, .* pass X\.scanner\(\)\.to_reader\(\)",
    ),
    "Arrow scanner": (
        lambda: with_attributes("Scanner", "to_reader", "to_table"),
        r"a Scanner, .* pass X\.to_reader\(\)",
    ),
    "iterator": (
        lambda: iter(X),
        r"an iterator \(\w+\), which can be read only once; pass its rows, list\(X\)",
    ),
    "generator": (lambda: (row for row in X), r"an iterator \(generator\)"),
    "mapping": (
        lambda: {"a": X[:, 0]},
        r"a mapping \(dict\); pass a data frame, pandas\.DataFrame\(X\)",
    ),
    "mappings": (lambda: [{"a": 1.0}, {"a": 2.0}], r"a list of mappings; pass a data frame"),
    "set": (lambda: {1, 2}, "a set, which has no order"),
    "None": (lambda: None, "X is None; pass rows of numbers"),
    "class": (lambda: np.ndarray, "X is ndarray; pass rows, not what makes them"),
    "function": (lambda: len, "X is len; pass rows, not what makes them"),
    "open file": (lambda: io.StringIO("a,b"), "an open file; pass its name"),
    "matrix": (lambda: np.asmatrix(X), r"a numpy\.matrix; pass an array, numpy\.asarray\(X\)"),
    "three axes": (lambda: X[:, :1].reshape(4, 5, 2), THREE),
    "lists of lists of lists": (lambda: X[:, :1].reshape(4, 5, 2).tolist(), THREE),
    "three axes elsewhere": (
        lambda: pytest.importorskip("array_api_strict").asarray(X[:, :1].reshape(4, 5, 2)),
        THREE,
    ),
    "labelled with three axes": (lambda: Labelled(X[:, :1].reshape(4, 5, 2)), THREE),
    "one axis": (
        lambda: X[:, 0],
        r"got one of shape \(40,\)\. Reshape your data: X\.reshape\(-1, 1\) if it is one feature",
    ),
    "one sparse axis": (
        lambda: sparse.coo_array(X[:, 0]),
        r"got one of shape \(40,\)\. Reshape your data",
    ),
    "no axis": (lambda: 5, r"got one of shape \(\)\. Reshape your data\."),
    "records": (lambda: np.zeros(5, [("a", float)]), "records, .*structured_to_unstructured"),
    "complex": (lambda: X + 1j, "complex numbers, complex128. Complex data not supported"),
    "dates": (lambda: np.zeros((5, 2), "M8[s]"), r"dates, datetime64\[s\]; pass days"),
    "ragged": (lambda: [[1, 2], [3]], "no array of rows of as many numbers each"),
    "series of lists": (
        pandas(lambda pd: pd.Series(X.tolist())),
        r"a column of lists; .* numpy\.array\(X\.to_list\(\)\)",
    ),
    "series of numbers": (pandas(lambda pd: pd.Series(X[:, 0])), r"got one of shape \(40,\)"),
    "series of polars": (polars(lambda pl: pl.Series(X[:, 0])), r"got one of shape \(40,\)"),
    "series of lists in polars": (
        polars(lambda pl: pl.Series(X.tolist())),
        r"a column of lists; .* numpy\.array\(X\.to_list\(\)\)",
    ),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass", "ignore:X has feature names")
@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_fitted_is_told_in_one_line(kind: str) -> None:
    make, message = KINDS[kind]
    model = FuzzyCMeans(2, random_state=0).fit(X)
    for name, ask in (
        ("KernelKMeans", KernelKMeans(2, kernel="linear").fit),
        ("FuzzyCMeans", model.predict),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^{name}: .*{message}") as raised:
            ask(make())
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("of", ["duckdb", "anndata", "xarray"])
def test_the_real_ones(of: str) -> None:
    library = pytest.importorskip(of)
    if of == "duckdb":
        columns = {name: X[:, k] for k, name in enumerate("abc")}
        numbers = pytest.importorskip("pyarrow").table(columns)  # noqa: F841  the query names it
        made, message = library.sql("select * from numbers"), r"of DuckDB.*X\.df\(\)"
    elif of == "anndata":
        made, message = library.AnnData(X), r"AnnData; pass it to cmeans\.anndata\.cluster"
    else:
        made, message = library.Dataset({"a": ("row", X[:, 0])}), r"xarray\.Dataset; pass a table"
    with pytest.raises(ValueError, match=message):
        FuzzyCMeans(2).fit(made)
