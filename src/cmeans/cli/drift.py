"""The drift of rows since a fit: changed shares of clusters and of rows far from all of them, and
changed means of columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from ..data.arrays import ratios
from ..data.recipe.scaling import some_rows
from ..data.recipe.table_recipe import TableRecipe
from ..runtime.numerals import as_date, percent, told_apart

MOST_COLUMNS = 1_000  # whose means are kept with a model
_ROWS = 2**14  # of which means are taken
_SHOWN = 3
# changes of a share, of that of outliers, and of a mean in deviations, that are told
_SHARE, _FAR, _MEAN = 0.05, 0.02, 0.25
# standard errors that such a change has at least, and rows of which something is told
_ERRORS, _FEWEST = 3.0, 20


def facts_of(model: Any, x: Any, sizes: Any, noise: int, threshold: float | None) -> dict[str, Any]:
    """Return what a model file holds of the rows of its fit, scaled as the model takes them: the
    shares of clusters and noise, that of rows whose outlier score reaches a threshold, and means
    and deviations of columns."""
    shares = np.append(sizes, noise) / max(1, int(np.sum(sizes)) + noise)
    facts: dict[str, Any] = {"shares": shares.tolist()}
    if scipy.sparse.issparse(x) or x.shape[1] > MOST_COLUMNS or getattr(x, "elsewhere", False):
        return facts
    rows = some_rows(x, _ROWS)[0]
    if threshold is not None and np.isfinite(threshold):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the rows, which were told before
            scores = np.asarray(model.outlier_score(rows))
        facts |= {"threshold": threshold, "far": float((scores >= threshold).mean())}
    return {**facts, **_means(rows)}


def _means(x: Any) -> dict[str, Any]:
    rows = np.ma.masked_invalid(x.astype(np.float64))
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return {
        "mean": np.ma.filled(mean, 0.0).tolist(),
        "deviation": np.ma.filled(deviation, 0.0).tolist(),
    }


def changes(
    stored: Any,
    model: Any,
    recipe: TableRecipe,
    x: Any,
    sizes: Any,
    noise: int,
    names: Sequence[str],
) -> dict[str, str] | None:
    """Return a line each on shares, on rows far from all clusters and on columns, of what differs
    from the rows of the fit by more than chance; None where the model does not say how those were,
    and of too few rows. `names` of the clusters; none: their numbers."""
    rows = int(np.sum(sizes)) + noise
    if rows < _FEWEST:
        return None
    try:
        threshold = float(stored["threshold"]) if "far" in stored else None
        before = np.asarray(stored["shares"], np.float64)
        now = facts_of(model, x, sizes, noise, threshold)
        lines = {"shares": _of_shares(before, np.asarray(now["shares"]), rows, names)}
        if "far" in now:
            lines["far"] = _of_far(float(stored["far"]), now["far"], rows)
        if "mean" in stored and "mean" in now:
            mean, deviation = (
                np.asarray(stored[name], np.float64) for name in ("mean", "deviation")
            )
            means = np.asarray(now["mean"])
            lines["columns"] = _of_columns(recipe, mean, deviation, means, rows)
    except (TypeError, KeyError, ValueError, AttributeError):  # the file is not trusted
        return None
    return lines


def _limit(least: float, share: Any, rows: int) -> Any:
    """Return the change of a share of so many rows that is told."""
    return np.maximum(least, _ERRORS * np.sqrt(share * (1.0 - share) / rows))


def _of_shares(before: Any, now: Any, rows: int, names: Sequence[str]) -> str:
    names = [*(names or (f"cluster {at}" for at in range(len(now) - 1))), "noise"]
    order = np.argsort(-np.abs(now - before), kind="stable")
    limits = _limit(_SHARE, before, rows)
    moved = [at for at in order.tolist() if abs(now[at] - before[at]) >= limits[at]][:_SHOWN]
    if not moved:
        return f"shares of clusters are those of the fit, within {percent(limits.max())}"
    parts = (f"{names[at]} {percent(before[at])} -> {percent(now[at])}" for at in moved)
    return f"shares since the fit: {', '.join(parts)}"


def _of_far(before: float, now: float, rows: int) -> str:
    limit = float(_limit(_FAR, max(before, 1.0 / rows), rows))
    if abs(now - before) < limit:
        return f"rows far from all clusters are as many as in the fit, within {percent(limit)}"
    return f"rows far from all clusters since the fit: {percent(before)} -> {percent(now)}"


def _said(recipe: TableRecipe, at: int, ends: Any) -> str:
    """Return from where to where the mean of a column went."""
    is_date = recipe.columns[at] in recipe.dates
    return " -> ".join(map(as_date, ends) if is_date else told_apart(ends))


def _of_columns(recipe: TableRecipe, mean: Any, deviation: Any, now: Any, rows: int) -> str:
    limit = max(_MEAN, _ERRORS / np.sqrt(min(rows, _ROWS)))
    away = ratios(now - mean, deviation)
    order = np.argsort(-np.abs(away), kind="stable")
    moved = [at for at in order.tolist() if abs(away[at]) >= limit][:_SHOWN]
    if not moved:
        return f"means of columns are those of the fit, within {limit:.2g} deviations"
    ends = recipe.scaling.undone(np.stack([mean, now]))
    parts = (
        f"{recipe.shown_names[at]!r} {_said(recipe, at, ends[:, at])} ({away[at]:+.1f} deviations)"
        for at in moved
    )
    return f"means since the fit: {', '.join(parts)}"
