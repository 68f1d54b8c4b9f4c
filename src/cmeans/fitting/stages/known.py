"""Clusters that some rows are known to belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray
from ...data.blocks import Blocks
from ...data.containers import unlabelled
from ...data.known_labels import GROUP, KnownLabels, free_part, known_of, with_known
from ...engines import Engine, brought, column_beside
from ...rules import Hard
from ...runtime.checks import real
from ...solvers.fit_identity import digest_of
from ...spaces import Metrics
from ...sweeps.passes import KnownPass
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ...sweeps.statistics import KnownSums
from ..procedure import FitContext, Stage, Swept
from ..validation import host_array, refuse_entries


@dataclass(frozen=True)
class KnownRows(Stage):
    """A share of a row's weight belongs to its known cluster whatever its distances are; the rule
    divides the rest."""

    labels: Any  # as the user gives them
    strength: Any = None
    found: KnownLabels | None = None  # once the rows are known

    name = "known_labels"

    def settle(self, context: FitContext) -> FitContext:
        found = checked_labels(
            self.labels,
            self.strength,
            context.blocks,
            context.settings.n_clusters,
            context.estimator_name,
        )
        if found is None:
            return context
        if (groups := context.blocks.columns.get(GROUP)) is not None:
            found = _shared(found, groups, context.estimator_name)
        context = context.with_stage(replace(self, found=found))
        return replace(context, blocks=with_known(context.blocks, found))

    @property
    def identity(self) -> Mapping[str, Any]:
        assert self.found is not None, "rows come first"
        return {"known labels": digest_of(self.found.labels, self.found.strength)}

    def prepare(self, swept: Swept) -> Swept:
        c = swept.context.settings.n_clusters
        problem, rows = beside_known(swept.problem, c), swept.starting.rows
        rows = problem.rows if rows is swept.problem.rows else rows.over(free_part(rows.blocks))
        return replace(
            swept, problem=problem, starting=replace(swept.starting, rows=rows, known=problem.known)
        )


def beside_known(problem: Problem, n_clusters: int) -> Problem:
    """Return the problem with what is known of its rows taken out of their weights, and added to
    the sums of every sweep."""
    rows = problem.rows
    sums = sums_of_known(rows, n_clusters, problem.engine)
    if sums is None:
        return problem
    return replace(problem, rows=rows.over(free_part(rows.blocks)), known=sums)


def sums_of_known(
    rows: RepresentedRows, n_clusters: int, engine: Engine, about: State | None = None
) -> KnownSums | None:
    """Return the sums of the part of some rows that belongs to known clusters, by one pass over
    them; None where nothing is known. `about`: a state whose metrics ask for second moments."""
    known = known_of(rows.blocks)
    if known is None:
        return None
    fixed = replace(rows.blocks, weight=known.fixed(rows.blocks.weight))
    by = KnownPass(Hard(), n_clusters, about)
    sums = engine.fold(RepresentedRows(rows.space, fixed, 0), by)
    return KnownSums(rows, sums.weight, sums.mass, sums.moment, sums.spread, sums.second)


def with_second_moments(
    known: KnownSums | None, engine: Engine, *, diagonal: bool
) -> KnownSums | None:
    """Return what is known of rows with second moments about the means of these, as clusters with
    metrics need them."""
    if known is None or known.second is not None:
        return known
    centres, r = known.centres(), known.space.n_coordinates
    metrics = Metrics.same(np.ones(r) if diagonal else np.eye(r), len(centres))
    return sums_of_known(known.rows, len(centres), engine, State(centres, None, metrics))


def checked_labels(
    labels: Any, strength: Any, blocks: Blocks, n_clusters: int, estimator_name: str
) -> KnownLabels | None:
    """Return what is known of the clusters of rows, checked; None where nothing is."""
    if labels is None:
        if strength is not None:
            raise ValueError(
                f"{estimator_name}: label_strength is given without known_labels; give both, or "
                "neither."
            )
        return None
    if strength is not None and np.ndim(strength) == 0:
        strength = real(strength, "label_strength", estimator_name)
        if strength > 1:
            raise ValueError(
                f"{estimator_name}(label_strength={strength!r}): it is a share of the rows' "
                "weights, from 0 to 1."
            )
    elif strength is not None:
        strength = _by_row(
            strength,
            partial(_checked_strengths, estimator_name),
            "label_strength",
            blocks,
            estimator_name,
        )
    numbers = _by_row(
        labels,
        partial(_whole_labels, estimator_name, n_clusters),
        "known_labels",
        blocks,
        estimator_name,
    )
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


def _whole_labels(estimator_name: str, n_clusters: int, numbers: Any, start: int = 0) -> IntArray:
    """Return known labels as integers, those from row `start` on."""
    if numbers.dtype.kind == "f":
        if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any():
            row = int(np.flatnonzero(~np.isfinite(numbers) | (numbers != np.rint(numbers)))[0])
            raise ValueError(
                f"{estimator_name}: known_labels[{start + row}] is {numbers[row]}; give whole "
                "numbers, -1 where a label is not known."
            )
    elif numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{estimator_name}: known_labels are {numbers.dtype}; give whole numbers from 0, -1 "
            "where a label is not known (scikit-learn's LabelEncoder numbers names)."
        )
    said = f"{estimator_name}(n_clusters={n_clusters}): known_labels"
    why = f"labels are 0 ... {n_clusters - 1}, or -1 where they are not known"
    refuse_entries((numbers < -1) | (numbers >= n_clusters), numbers, said, why, start)
    return np.asarray(numbers, np.intp)


def _checked_strengths(estimator_name: str, shares: Any, start: int = 0) -> Float64:
    """Return strengths of labels in float64, those from row `start` on."""
    if shares.dtype.kind not in "iuf":
        raise ValueError(
            f"{estimator_name}: label_strength is {shares.dtype}; give numbers from 0 to 1."
        )
    wrong = ~((shares >= 0) & (shares <= 1))  # NaN too
    why = "it is a share of the weight, from 0 to 1"
    refuse_entries(wrong, shares, f"{estimator_name}: label_strength", why, start)
    return np.asarray(shares, np.float64)


def _by_row(
    value: Any, check: Callable[..., Any], name: str, blocks: Blocks, estimator_name: str
) -> Any:
    """Return one checked entry for each row: an array, or a column that stays where the rows
    are."""
    value = unlabelled(value)
    if (column := column_beside(blocks.x, value, check, name, estimator_name)) is not None:
        return column
    try:
        values = host_array(brought(value), name, estimator_name)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{estimator_name}: {name} must be one number for each of the {blocks.n_rows} rows "
            f"({error})."
        ) from None
    if values.shape != (blocks.n_rows,):
        raise ValueError(
            f"{estimator_name}: {name} has shape {values.shape}; one entry for each of the "
            f"{blocks.n_rows} rows is needed."
        )
    return check(values)


def _shared(known: KnownLabels, groups: IntArray, estimator_name: str) -> KnownLabels:
    """Return the labels that are known of groups through one of their rows."""
    told = np.flatnonzero(known.labels >= 0)
    label, strength = np.full(groups.max() + 1, -1, np.intp), np.zeros(groups.max() + 1)
    label[groups[told]] = known.labels[told]
    clash = told[label[groups[told]] != known.labels[told]]
    if len(clash):
        other = told[
            (groups[told] == groups[clash[0]]) & (known.labels[told] != known.labels[clash[0]])
        ][0]
        raise ValueError(
            f"{estimator_name}: must_link joins rows {min(clash[0], other)} and "
            f"{max(clash[0], other)}, whose known_labels are "
            f"{known.labels[min(clash[0], other)]} and {known.labels[max(clash[0], other)]}."
        )
    np.maximum.at(strength, groups[told], known.strength[told])
    return KnownLabels(label[groups], strength[groups])
