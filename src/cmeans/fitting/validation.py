"""Validation of rows and other arrays given by the user; error messages name the argument."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..data.arrays import (
    Array,
    Float64,
    in_order,
    is_foreign,
    is_sparse,
    namespace,
    to_numpy,
    without_gradients,
)
from ..data.containers import column_names, comes_by_arrow, is_table, refuse_frame, unlabelled
from ..data.damage import masked_entries, sparse_damage
from ..data.files import open_blocks
from ..data.limits import Limits
from ..data.narrow_rows import NarrowRows, is_narrow
from ..data.precision import itemsize
from ..data.row_source import StoredRows, as_source
from ..engines import rows_held
from ..runtime.user_warnings import warn
from .rows.advice import holds_dates, refuse_no_rows, refuse_text
from .rows.finite import has_holes, hollow, names_of, takes_holes, way_out


@dataclass(frozen=True)
class CheckedRows:
    """Checked rows, and the number of bytes copied by the checks."""

    x: Array  # (n, d) float32 or float64: NumPy, CSR, an array of another library, or stored rows
    copied: int
    holes: bool = False  # whether values are missing, or may be in stored rows
    weight: Float64 | None = None  # (n,) where the rows come with weights
    names: npt.NDArray[Any] | None = None  # (d,) of the columns, where all of them are text
    recipe: Any = None  # of the table that they are, where they were read by one

    def name_columns(self, estimator: BaseEstimator) -> None:
        """Give an estimator the attributes of scikit-learn that tell of the columns of its fit."""
        estimator.n_features_in_ = int(self.x.shape[1])
        for name in ("feature_names_in_", "recipe_"):
            estimator.__dict__.pop(name, None)
        if self.recipe is not None:
            estimator.recipe_ = self.recipe
        if self.names is not None:
            estimator.feature_names_in_ = self.names


def intact(values: Any, name: str, estimator_name: str) -> Any:
    """Return the array in order, without a mask that hides nothing; refused where entries are
    masked, or a sparse matrix is damaged."""
    hidden = masked_entries(values)
    if hidden:
        raise ValueError(
            f"{estimator_name}: {name} has masked entries ({hidden} of {np.size(values)}), whose "
            "values are not known. Impute them "
            f"(scikit-learn's SimpleImputer, or {name}.filled(value)), or drop their rows."
        )
    damage = sparse_damage(values) if is_sparse(values) else None
    if damage is not None:
        raise ValueError(
            f"{estimator_name}: {name} is a damaged sparse {values.format.upper()} matrix: "
            f"{damage}. Build it anew from its entries."
        )
    values = np.asarray(values) if isinstance(values, np.ma.MaskedArray) else values
    return in_order(values) if type(values) is np.ndarray else values


def host_array(value: Any, name: str, estimator_name: str) -> npt.NDArray[Any]:
    """Return a parameter that is an array of any library, or nested lists, as a NumPy array."""
    value = intact(value, name, estimator_name)
    try:
        ordered: npt.NDArray[Any] = in_order(
            np.asarray(to_numpy(value) if is_foreign(value) else value)
        )
    except ValueError as error:
        raise ValueError(f"{estimator_name}({name}=...): it is no array: {error}") from None
    return ordered


def host_matrix(X: Any, estimator_name: str) -> Any:
    """Return X, which holds a number for each pair of rows, as a NumPy array, or sparse as it
    is."""
    refuse_no_rows(X, estimator_name)
    return intact(X, "X", estimator_name) if is_sparse(X) else host_array(X, "X", estimator_name)


def read_rows(
    estimator: BaseEstimator, X: Any, *, fitting: bool, sparse: bool = True
) -> CheckedRows:
    """Read rows: whatever scikit-learn takes (lists, arrays, CSR, data frames, memory maps), arrays
    of another library, or files."""
    given = X
    if not _is_plain(X):
        # first of all, as a frame that workers hold may offer its rows here by Arrow as well
        engine, X = vars(estimator).get("engine"), unlabelled(X)
        X = rows_held(X, engine, type(estimator).__name__, holes=takes_holes(estimator))
        recipe = None if fitting else vars(estimator).get("recipe_")
        missing = "partial" if takes_holes(estimator) else "error"
        if recipe is not None and _is_for(recipe, X):
            from ..data.recipe.read_table import read_table

            X, recipe = read_table(X, recipe=recipe, missing=missing), None
        elif isinstance(X, (str, os.PathLike)) or comes_by_arrow(X):
            columns = None if fitting else names_of(estimator)
            X = open_blocks(X, columns=columns, missing=missing)
        if type(X) in (np.ndarray, np.memmap) and X.dtype.kind == "f" and not X.dtype.isnative:
            X = X.astype(X.dtype.newbyteorder("="))
        if (
            sparse  # as matrices of kernel values are not
            and type(X) in (np.ndarray, np.memmap)
            and X.ndim == 2
            and X.size
            and is_narrow(X.dtype)
        ):
            X = NarrowRows(X)
            X.holes = X.may_be_infinite and has_holes(X, estimator, None)
        source = as_source(X)
        if recipe is not None and (hasattr(X, "dtypes") or comes_by_arrow(given)):
            _warn_of_units(estimator, given, recipe)
        if source is not None:
            if engine is not None:
                source = engine.reader_of(
                    source, type(estimator).__name__, estimator._limits.partition_rows
                )
            return _stored_rows(estimator, source, fitting=fitting)
        refuse_no_rows(X, type(estimator).__name__)
        X = hollow(X) if takes_holes(estimator) else X
    X = intact(X, "X", type(estimator).__name__)
    if not sparse and is_sparse(X):
        raise ValueError(
            f'{type(estimator).__name__}(kernel="precomputed"): a sparse kernel matrix is not '
            "supported; pass a dense one."
        )
    if is_foreign(X):
        x = _foreign_rows(estimator, X, fitting=fitting)
        names = None if fitting else vars(estimator).get("feature_names_in_")
    else:
        x, names = _host_rows(estimator, X, fitting=fitting)
    # a map of a file, which may be larger than memory, is read as it lies there
    x = x if isinstance(X, np.memmap) else in_order(x)
    holes = has_holes(x, estimator, names)
    shared = x is given or (
        isinstance(x, np.ndarray) and isinstance(given, np.ndarray) and np.shares_memory(x, given)
    )
    return CheckedRows(x, 0 if shared else _nbytes(x), holes, names=names)


def refuse_entries(
    wrong: npt.NDArray[np.bool_], values: Any, said: str, why: str, start: int = 0
) -> None:
    """Refuse values of rows of which some are wrong, naming the first; `start`: the number of the
    first row."""
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"{said}[{start + row}] is {values[row]:g}; {why}.")


def checked_random_state(value: Any, estimator_name: str) -> np.random.RandomState:
    """Return the generator for the parameter `random_state`."""
    try:
        rng: np.random.RandomState = check_random_state(value)
        return rng
    except ValueError:
        raise ValueError(
            f"{estimator_name}(random_state={value!r}): give a whole number from 0 to 2^32 - 1, a "
            "RandomState, or None."
        ) from None


def _is_for(recipe: Any, X: Any) -> bool:
    """True of files and tables that are read by the recipe of a model."""
    if isinstance(X, (str, os.PathLike)):
        return bool(recipe.changes_rows)
    return is_table(X) and bool(recipe.is_for(column_names(X)))


def _warn_of_units(estimator: BaseEstimator, X: Any, recipe: Any) -> None:
    """Warn of a table in memory, whose numbers may be as they stand in a file, where the model has
    others."""
    if recipe.scaling.factor:
        warn(
            f"{type(estimator).__name__}: the table of the fit was scaled as it was read "
            f"({recipe.scaling.kind}), and X, a {type(X).__name__}, is taken as scaled already. Of "
            "numbers as they stand in a file pass the file itself, or "
            "cmeans.read_table(file, recipe=model)."
        )


def _stored_rows(estimator: BaseEstimator, X: StoredRows, *, fitting: bool) -> CheckedRows:
    """Return stored rows as they are; a small number of them is read into memory."""
    if not fitting:
        check_columns(estimator, X.columns, X.where)
    if X.holes and not takes_holes(estimator):
        raise ValueError(
            f'{type(estimator).__name__}: {X.where} was opened with missing="partial"; impute '
            f"{way_out(estimator)}, or open it without."
        )
    limits: Limits = estimator._limits
    x = X.loaded(limits.loaded_bytes, limits.canonical_rows)
    if fitting and x is X:
        X.for_sweeps()
    holes = X.holes and (isinstance(x, StoredRows) or bool(np.isnan(x).any()))
    return CheckedRows(x, 0 if x is X else X.nbytes, holes, X.weight, _names(X.columns), X.recipe)


def _names(columns: tuple[Any, ...]) -> npt.NDArray[Any] | None:
    if all(isinstance(label, str) for label in columns):
        return np.array(columns, dtype=object)
    return None


def refuse_width(estimator: BaseEstimator, n_features: int) -> None:
    """Refuse rows of another number of features than the fit had, in scikit-learn's words."""
    if n_features != estimator.n_features_in_:
        wanted = estimator.n_features_in_
        is_packed = wanted >= 64 and -(-wanted // 8) == n_features
        bits = f" If its bytes are packed bits, pass packed_bits(X, {wanted})." if is_packed else ""
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{wanted} features as input.{bits}"
        )


def check_columns(estimator: BaseEstimator, columns: tuple[Any, ...], where: str) -> None:
    """Check that columns of stored rows match the model's, by number and, where both have them, by
    name."""
    estimator_name, d, names = type(estimator).__name__, len(columns), _names(columns)
    refuse_width(estimator, d)
    if names is not None and (known := names_of(estimator)) is not None and known != names.tolist():
        raise ValueError(
            f"{estimator_name}: the columns of {where} are {names.tolist()}, those of the fit were "
            f"{known}; open it with columns={known}."
        )


def _host_rows(
    estimator: BaseEstimator, X: Any, *, fitting: bool
) -> tuple[Array, npt.NDArray[Any] | None]:
    """Return rows in memory, checked by scikit-learn, and the names of their columns; columns of
    text and dates are refused by name."""
    if _needs_no_check(estimator, X, fitting=fitting):
        return X, None
    refuse_frame(X, type(estimator).__name__)
    seen = copy.copy(estimator)  # scikit-learn notes there what columns it sees
    try:
        if holds_dates(X):
            raise ValueError("dates are no numbers")
        x = validate_data(
            seen,
            X,
            reset=fitting,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        return x, vars(seen).get("feature_names_in_")
    except (TypeError, ValueError) as error:
        refuse_text(X, error, type(estimator).__name__)
        raise


def _needs_no_check(estimator: BaseEstimator, X: Any, *, fitting: bool) -> bool:
    """True for an array of floats in which scikit-learn would find nothing to change or refuse: to
    ask it takes longer than small fits."""
    if not _is_plain(X):
        return False
    known = vars(estimator)
    return fitting or (
        "feature_names_in_" not in known and known.get("n_features_in_") == X.shape[1]
    )


def _is_plain(X: Any) -> bool:
    """True of an array that is rows of floats as they are, of which nothing has to be asked."""
    return (
        type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32)
    )


def _foreign_rows(estimator: BaseEstimator, X: Any, *, fitting: bool) -> Array:
    estimator_name = type(estimator).__name__
    xp = namespace(X)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"{estimator_name}: found an array of shape {tuple(X.shape)}; at least one row and one "
            "feature are needed."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{estimator_name}: complex data not supported, got dtype {X.dtype}.")
    if not fitting:
        refuse_width(estimator, int(X.shape[1]))
    x = without_gradients(X)
    return x if x.dtype in (xp.float32, xp.float64) else xp.astype(x, xp.float64)


def _nbytes(x: Array) -> int:
    if is_sparse(x):
        return int(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes)
    return int(np.prod(x.shape)) * itemsize(x)
