"""The clearness of the clusters of a fit, and the next steps that a command advises."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import scipy.sparse

from ...data.long_tails import have_long_tails, skewness
from ...data.recipe.scaling import some_rows
from ...data.recipe.table_recipe import TableRecipe
from ...data.row_source import ColumnLabel, as_source
from ...runtime.numerals import in_times, percent, several
from ..methods import METHODS
from .report import SHOWN

SAMPLE = 5_000  # rows that are looked at, evenly spaced
FIRST = 4_096  # rows that are looked at where they stay in their files
UNEQUAL = 30.0  # ratio of the columns' spreads from which on a scale is advised
MANY = 0.3  # share of the rows that are unclear, or noise, from which on there is advice


def clearness(model: Any, x: Any) -> dict[str, Any] | None:
    """Return how clear the clusters are; None where that would take another pass over rows that are
    not in memory.

    Of soft clusters the mean over a cluster's rows of their largest membership, of hard ones of the
    simplified silhouette, 1 - a / b, a and b being the distances to the nearest and the second
    nearest centre; of pieces and communities that of `probabilities_`. `unclear` is the share of
    the rows whose largest membership is below 1/2, where these sum to one.
    """
    labels, n_clusters, unclear = model.labels_, len(model.get_feature_names_out()), None
    rule = getattr(model, "rule_", None)  # a consensus has none, and memberships
    if (depths := vars(model).get("probabilities_")) is not None:
        measure, clear = "mean depth", depths
    elif rule is None or (rule.is_soft and "_nearest" in vars(model)):
        top = vars(model).get("memberships_top_k_")
        measure = "mean largest membership"
        clear = (model.memberships_ if top is None else top.values).max(axis=1)
        if rule is None or rule.rows_sum_to_one:
            unclear = float(((clear < 0.5) & (labels >= 0)).mean())
    elif not rule.is_soft and as_source(x) is None and n_clusters > 1:
        step = -(-x.shape[0] // SAMPLE)
        nearest = np.partition(np.asarray(model.transform(x[::step]), dtype=np.float64), 1, axis=1)[
            :, :2
        ]
        far = np.where(nearest[:, 1] == 0, 1.0, nearest[:, 1])
        measure = "mean simplified silhouette"
        clear = 1 - nearest[:, 0] / far
        labels = labels[::step]
    else:
        return None
    own = labels >= 0
    rows = np.bincount(labels[own], minlength=n_clusters)
    sums = np.bincount(labels[own], weights=clear[own], minlength=n_clusters)
    means = [
        total / count if count else None
        for total, count in zip(sums.tolist(), rows.tolist(), strict=True)
    ]
    return {
        "measure": measure,
        "mean": clear[own].mean() if own.any() else None,
        "clusters": means,
        "unclear": unclear,
    }


def spreads(x: Any, columns: Sequence[ColumnLabel], n_left: int) -> dict[ColumnLabel, float]:
    """Return the deviation of each column that is not constant, from some of the rows; the last
    `n_left` are left out."""
    if scipy.sparse.issparse(x):
        return {}
    source = as_source(x)
    if source is None:
        rows = x[:: -(-x.shape[0] // SAMPLE)]
    else:
        rows = source.read(0, min(FIRST, len(source)))
    observed = np.ma.masked_invalid(rows) if np.isnan(rows).any() else rows
    deviations = np.ma.filled(observed.std(axis=0, dtype=np.float64), 0.0).tolist()[
        : len(columns) - n_left
    ]
    return {
        label: deviation
        for label, deviation in zip(columns, deviations, strict=False)
        if deviation > 0
    }


def long_tails(
    x: Any, columns: Sequence[ColumnLabel], recipe: TableRecipe
) -> dict[ColumnLabel, float]:
    """Return the skewness of columns without negative values that have a long tail, of some of the
    rows; `recipe`: by which they were scaled."""
    if scipy.sparse.issparse(x) or recipe.scaling.kind == "log":
        return {}
    rows, _ = some_rows(x, FIRST)
    values = recipe.scaling.undone(rows)
    skew, taken = skewness(values), have_long_tails(values)
    return {
        label: value
        for label, value, take in zip(columns, skew.tolist(), taken, strict=True)
        if take and str(label) not in recipe.unscaled
    }


def outweighing(summary: Mapping[str, Any], spread: Mapping[ColumnLabel, float]) -> str:
    """Return which column outweighs another, of rows that are not scaled; nothing where none
    does."""
    own_unit = summary["method_options"].get("scaling") == "range"
    of_mixtures = summary["covariance"] not in (None, "spherical")
    of_mixtures |= summary["method"] == "consensus"
    if summary["scale"] != "none" or own_unit or of_mixtures or not spread:
        return ""
    widest, least = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
    ratio = spread[widest] / spread[least]
    if ratio <= UNEQUAL:
        return ""
    return f"{widest!r} varies {in_times(ratio)} as much as {least!r} and outweighs it"


def next_steps(
    arguments: Sequence[str],
    summary: Mapping[str, Any],
    spread: Mapping[ColumnLabel, float],
    tails: Mapping[ColumnLabel, float],
) -> list[dict[str, str]]:
    """Return what to try next and why, each as a command to copy; `arguments` are those of this
    fit."""
    found, size, method = list[tuple[str, str]](), len(summary["sizes"]), METHODS[summary["method"]]
    own = summary["method_options"]
    noise = summary["noise"] / summary["rows"]
    clear = summary["clearness"] or {}

    def again(why: str, option: str, value: object) -> None:
        found.append(
            (why, shlex.join(["cmeans", *_without(arguments, option), option, str(value)]))
        )

    if tails:
        longest = max(tails, key=tails.__getitem__)
        beside = len(tails) - 1
        others = f", and {several(beside, 'more column')}" if beside else ""
        why = f"{longest!r}: skewness {tails[longest]:.0f}{others}; take logarithms of long tails"
        again(why, "--scale", "log")
    elif why := outweighing(summary, spread):
        again(f"{why}; bring columns to one scale", "--scale", "auto")
    if not summary["converged"]:
        again(
            "the fit had not converged; give it more sweeps",
            "--max-iter",
            4 * max(summary["n_iter"], 75),
        )
    if size > summary["n_clusters_found"] > 0 and not method.finds_number:
        again(
            f"{size - summary['n_clusters_found']} clusters hold no row; take fewer",
            "-c",
            summary["n_clusters_found"],
        )
    elif size > 1 and any(
        "coincide" in text or "collapsed" in text for text in summary["warnings"]
    ):
        fuzzy = summary["method"] == "fuzzy" and own["m"] != "auto"
        again(
            f"centres coincide; take {'a smaller m' if fuzzy else 'fewer clusters'}",
            *(("--m", "auto") if fuzzy else ("-c", size - 1)),
        )
    elif (clear.get("unclear") or 0) > MANY:
        why = (
            f"{percent(clear['unclear'])} of the rows belong to no cluster by more than half; take "
        )
        if summary["method"] == "fuzzy":
            again(why + "a smaller m", "--m", f"{1 + (summary['m'] - 1) / 2:.3g}")
        if size > 2:
            again(why + "fewer clusters", "-c", size - 1)
    if noise > MANY and "sparsity" in method.parameters:
        again(
            f"{percent(noise)} of the rows belong to no cluster; a smaller sparsity leaves fewer "
            "out",
            "--sparsity",
            0,
        )
    if arguments and "--names" not in arguments and 1 < size <= SHOWN:
        more = ["--names", ",".join(ascii_uppercase[:size])]
        more += ["--with-rows"] if isinstance(summary["column_names"][0], str) else []
        more += ["--report"] if method.is_shown and "--report" not in arguments else []
        why = "name the clusters, keep your columns beside them, and write a page"
        words = [word for word in arguments if word != "--with-rows"]
        found.append((why, shlex.join(["cmeans", *words, *more])))
    new = f"NEW{Path(summary['file']).suffix or '.csv'}"
    names = [] if summary["id"] is None else ["--id", summary["id"]]
    command = [
        "cmeans",
        "predict",
        summary["outputs"]["model"],
        new,
        *names,
        "--out",
        "labels-of-new.parquet",
    ]
    found.append(("label new rows", shlex.join(command)))
    return [{"why": why, "command": command} for why, command in found]


def _without(arguments: Sequence[str], option: str) -> Iterator[str]:
    """Yield arguments without an option and its value."""
    names, left = ("-c", "--clusters") if option == "-c" else (option,), iter(arguments)
    for word in left:
        if word in names:
            next(left, None)
        elif not word.startswith(tuple(f"{name}=" for name in names)):
            yield word
