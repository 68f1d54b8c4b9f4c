"""Facts that the user tells of the clusters of rows: known labels, and rows that must share a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...data.arrays import Float64, IntArray, is_stored, unlabelled
from ...data.blocks import Blocks
from ...data.known_labels import KnownLabels
from ...engines.dask.dask_api import is_collection
from ..memory import parse_budget, require
from ..validation import host_array, real

if TYPE_CHECKING:
    from ..fit import BaseCMeans
    from ..procedure import FitSettings


@dataclass(frozen=True)
class Told:
    """Arguments of a fit that tell of the clusters of rows, as they came."""

    known_labels: Any = None
    label_strength: Any = None
    must_link: Any = None

    def of(
        self,
        blocks: Blocks,
        parameters: BaseCMeans,
        settings: FitSettings,
        estimator_name: str,
        *,
        by_sweeps: bool,
        top_k: int | None = None,
    ) -> Blocks:
        """Return the rows with what is told of them, checked; `by_sweeps`: the estimator sweeps over all rows at once; `top_k`: clusters in
        which a row has memberships, None: all."""
        known = _known_labels(self.known_labels, self.label_strength, blocks, settings.n_clusters, estimator_name)
        groups = _groups(self.must_link, blocks.n_rows, estimator_name)
        for name, value, fits in (("known_labels", known, by_sweeps or parameters._takes_labels), ("must_link", groups, by_sweeps)):
            if value is not None and not fits:
                others = "CMeans and StreamingFuzzyCMeans" if name == "known_labels" else "and CMeans"
                raise ValueError(
                    f"{estimator_name}: {name} is for KernelKMeans, FuzzyCMeans, PossibilisticCMeans, {others}; use one of these, or "
                    "leave it out."
                )
        if known is not None and settings.search.method == "breathing":
            raise ValueError(
                f'{estimator_name}(search="breathing"): clusters of known rows cannot come and go; take search="auto" or None with '
                "known_labels."
            )
        if known is not None and top_k is not None:
            raise ValueError(
                f"{estimator_name}(top_k={top_k}): a row's known cluster need not be one of its nearest; leave out known_labels=, or "
                "top_k=."
            )
        if groups is not None:
            blocks = _loaded(blocks, parameters.memory_budget, estimator_name)
        if known is not None and groups is not None:
            known = _shared(known, groups, estimator_name)
        return replace(blocks, known=known, groups=groups)


NOTHING = Told()


def _loaded(blocks: Blocks, budget: int | float | str | None, estimator_name: str) -> Blocks:
    """Return the same rows in memory, where those that are linked become one."""
    if not is_stored(blocks.x):
        return blocks
    where = blocks.x.where
    if blocks.x.elsewhere:
        raise ValueError(f"{estimator_name}: must_link needs rows in memory; load {where} and pass the array, or leave it out.")
    advice = "linked rows are read into memory; allow for more, or leave out must_link"
    require(parse_budget(budget, estimator_name), estimator_name, blocks.x.nbytes, f"all rows of {where}", advice)
    return blocks.in_memory()


def _groups(value: Any, n_rows: int, estimator_name: str) -> IntArray | None:
    """Return the number of its group (n,) for each row, of groups in the order of their first rows; None where no rows are linked."""
    if value is None:
        return None
    try:
        numbers = host_array(value.compute() if is_collection(value) else value, "must_link", estimator_name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{estimator_name}: must_link must be pairs of row numbers, or a group for each row ({error}).") from None
    pairs = numbers.ndim == 2 and numbers.shape[1] == 2
    if not pairs and numbers.shape not in ((n_rows,), (0,)):
        raise ValueError(
            f"{estimator_name}: must_link has shape {numbers.shape}; give (k, 2) row numbers of pairs, or ({n_rows},) numbers of groups."
        )
    if numbers.size and numbers.dtype.kind not in "iu":
        raise ValueError(f"{estimator_name}: must_link are {numbers.dtype}; give whole numbers: rows of pairs, or groups, -1 for none.")
    numbers = numbers.astype(np.intp)
    if pairs:
        wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
        if len(wrong):
            raise ValueError(f"{estimator_name}: must_link names row {wrong[0]}, which does not exist; there are {n_rows} rows, from 0.")
        graph = sparse.coo_array((np.ones(len(numbers)), (numbers[:, 0], numbers[:, 1])), shape=(n_rows, n_rows))
        numbers = connected_components(graph, directed=False)[1]
    elif numbers.size and numbers.min() < -1:
        raise ValueError(f"{estimator_name}: must_link holds the group {numbers.min()}; groups are numbered from 0, -1 for rows in none.")
    elif not numbers.size:
        return None
    own = np.where(numbers < 0, numbers.max() + 1 + np.arange(n_rows), numbers)
    first, place = np.unique(own, return_index=True, return_inverse=True)[1:]
    if len(first) == n_rows:
        return None
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[place], np.intp)


def _shared(known: KnownLabels, groups: IntArray, estimator_name: str) -> KnownLabels:
    """Return the labels that are known of groups through one of their rows."""
    told = np.flatnonzero(known.labels >= 0)
    label, strength = np.full(groups.max() + 1, -1, np.intp), np.zeros(groups.max() + 1)
    label[groups[told]] = known.labels[told]
    clash = told[label[groups[told]] != known.labels[told]]
    if len(clash):
        other = told[(groups[told] == groups[clash[0]]) & (known.labels[told] != known.labels[clash[0]])][0]
        raise ValueError(
            f"{estimator_name}: must_link joins rows {min(clash[0], other)} and {max(clash[0], other)}, whose known_labels are "
            f"{known.labels[min(clash[0], other)]} and {known.labels[max(clash[0], other)]}."
        )
    np.maximum.at(strength, groups[told], known.strength[told])
    return KnownLabels(label[groups], strength[groups])


def _known_labels(labels: Any, strength: Any, blocks: Blocks, n_clusters: int, estimator_name: str) -> KnownLabels | None:
    """Return what is known of the clusters of rows, checked; None where nothing is."""
    if labels is None:
        if strength is not None:
            raise ValueError(f"{estimator_name}: label_strength is given without known_labels; give both, or neither.")
        return None
    if strength is not None and np.ndim(strength) == 0 and not is_collection(strength):
        strength = real(strength, "label_strength", estimator_name)
        if strength > 1:
            raise ValueError(f"{estimator_name}(label_strength={strength!r}): it is a share of the rows' weights, from 0 to 1.")
    elif strength is not None:
        strength = _by_row(strength, partial(_checked_strengths, estimator_name), "label_strength", blocks, estimator_name)
    numbers = _by_row(labels, partial(_checked_labels, estimator_name, n_clusters), "known_labels", blocks, estimator_name)
    if not isinstance(numbers, np.ndarray):
        shares = numbers.mapped(_shares, 1.0 if strength is None else strength)
    elif isinstance(strength, float | np.ndarray | None):
        shares = _shares(numbers, 1.0 if strength is None else strength)
    else:
        shares = strength.mapped(_shares_of, numbers)
    known = KnownLabels(numbers, shares)
    return known if known.strength.any() else None


def _shares(numbers: IntArray, strength: Any) -> Float64:
    """Return the strengths of labels, 0 where there are none."""
    return np.where(numbers >= 0, strength, 0.0)


def _shares_of(strength: Float64, numbers: IntArray) -> Float64:
    return _shares(numbers, strength)


def _checked_labels(estimator_name: str, n_clusters: int, numbers: Any, start: int = 0) -> IntArray:
    """Return known labels as integers, those from row `start` on."""
    if numbers.dtype.kind == "f":
        if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any():
            row = int(np.flatnonzero(~np.isfinite(numbers) | (numbers != np.rint(numbers)))[0])
            raise ValueError(
                f"{estimator_name}: known_labels[{start + row}] is {numbers[row]}; give whole numbers, -1 where a label is not known."
            )
    elif numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{estimator_name}: known_labels are {numbers.dtype}; give whole numbers from 0, -1 where a label is not known (scikit-learn's "
            "LabelEncoder numbers names)."
        )
    wrong = np.flatnonzero((numbers < -1) | (numbers >= n_clusters))
    if len(wrong):
        raise ValueError(
            f"{estimator_name}(n_clusters={n_clusters}): known_labels[{start + wrong[0]}] is {numbers[wrong[0]]:g}; labels are 0 ... "
            f"{n_clusters - 1}, or -1 where they are not known."
        )
    return np.asarray(numbers, np.intp)


def _checked_strengths(estimator_name: str, shares: Any, start: int = 0) -> Float64:
    """Return strengths of labels in float64, those from row `start` on."""
    if shares.dtype.kind not in "iuf":
        raise ValueError(f"{estimator_name}: label_strength is {shares.dtype}; give numbers from 0 to 1.")
    wrong = np.flatnonzero(~((shares >= 0) & (shares <= 1)))  # NaN too
    if len(wrong):
        raise ValueError(
            f"{estimator_name}: label_strength[{start + wrong[0]}] is {shares[wrong[0]]:g}; it is a share of the weight, from 0 to 1."
        )
    return np.asarray(shares, np.float64)


def _by_row(value: Any, check: Callable[..., Any], name: str, blocks: Blocks, estimator_name: str) -> Any:
    """Return one checked entry for each row: an array, or a column that stays where the rows are."""
    value = unlabelled(value)
    if is_collection(value):
        if blocks.elsewhere:
            return blocks.x.column(value, check, name, estimator_name)
        value = value.compute()
    try:
        values = host_array(value, name, estimator_name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{estimator_name}: {name} must be one number for each of the {blocks.n_rows} rows ({error}).") from None
    if values.shape != (blocks.n_rows,):
        raise ValueError(f"{estimator_name}: {name} has shape {values.shape}; one entry for each of the {blocks.n_rows} rows is needed.")
    return check(values)
