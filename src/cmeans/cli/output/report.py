"""Summaries for people: how clear the clusters of a fit are, what to try next, and the text of
both."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import scipy.sparse

from ...data.recipe.scaling import LONG_TAIL, skewness, some_rows
from ...data.recipe.table_recipe import TableRecipe
from ...data.row_source import ColumnLabel, as_source
from ...runtime.numerals import in_bytes, in_digits, percent, several
from ...runtime.tables import texts_of
from ..option_values import METHODS

SAMPLE = 5_000  # rows that are looked at, evenly spaced
FIRST = 4_096  # rows that are looked at where they stay in their files
UNEQUAL = 30.0  # ratio of the columns' spreads from which on a scale is advised
MANY = 0.3  # share of the rows that are unclear, or noise, from which on there is advice
# clusters, and characters of the longest bar and of what a cluster is like
SHOWN, BAR, LIKE = 20, 20, 48

Part = str | list[Sequence[str]]  # a line, or a table whose first row names its columns


def clearness(model: Any, x: Any) -> dict[str, Any] | None:
    """Return how clear the clusters are; None where that would take another pass over rows that are
    not in memory.

    Of soft clusters the mean over a cluster's rows of their largest membership, of hard ones of the
    simplified silhouette, 1 - a / b, a and b being the distances to the nearest and the second
    nearest centre; of pieces and communities that of `probabilities_`. `unclear` is the share of
    the rows whose largest membership is below 1/2, where these sum to one.
    """
    labels, n_clusters, unclear = model.labels_, len(model.get_feature_names_out()), None
    if (depths := vars(model).get("probabilities_")) is not None:
        measure, clear = "mean depth", depths
    elif model.rule_.is_soft and "_nearest" in vars(model):
        top = vars(model).get("memberships_top_k_")
        measure = "mean largest membership"
        clear = (model.memberships_ if top is None else top.values).max(axis=1)
        unclear = (
            float(((clear < 0.5) & (labels >= 0)).mean()) if model.rule_.rows_sum_to_one else None
        )
    elif not model.rule_.is_soft and as_source(x) is None and n_clusters > 1:
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
    rows = (
        x[:: -(-x.shape[0] // SAMPLE)]
        if source is None
        else source.read(0, min(FIRST, len(source)))
    )
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
    skew, values = skewness(rows), recipe.scaling.undone(rows)
    with np.errstate(invalid="ignore"):
        taken = (skew > LONG_TAIL) & ~(values < 0).any(axis=0)
    return {
        label: value
        for label, value, take in zip(columns, skew.tolist(), taken, strict=True)
        if take and str(label) not in recipe.unscaled
    }


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
    elif summary["scale"] == "none" and own.get("scaling") != "range" and spread:
        widest, least = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
        ratio = spread[widest] / spread[least]
        if ratio > UNEQUAL:
            why = (
                f"{widest!r} varies {ratio:,.0f} times as much as {least!r} and outweighs it; "
                "bring columns to one scale"
            )
            again(why, "--scale", "standard")
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


def _of_plan(summary: Mapping[str, Any]) -> Iterator[Part]:
    sizes = f"{summary['n_rows']:,} rows and {summary['n_columns']:,} columns"
    yield f"A fit of {sizes} of {summary['file']} would take"
    yield [
        ("at most", f"{in_bytes(summary['memory'])} of memory"),
        ("at least", f"{in_bytes(summary['least_memory'])}, the smallest --memory-budget"),
        ("about", f"{summary['passes']:,} passes and {summary['row_visits']:,} row visits"),
    ]


def of_fit(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the summary of a fit, or of one that is planned, as lines and tables."""
    if summary["command"] == "plan":
        yield from _of_plan(summary)
        return
    clear, names = summary["clearness"], [str(label) for label in summary["column_names"]]
    some = ", ".join(names[:8]) + (f", ... ({len(names):,} in all)" if len(names) > 8 else "")
    found = several(len(summary["sizes"]), "cluster")
    settings = {name: summary[name] for name in ("kernel", "gamma", "covariance", "m")}
    used = ", ".join(
        f"{name} {in_digits(value)}" if isinstance(value, float) else f"{name} {value}"
        for name, value in settings.items()
        if value
    )
    yield f"{found} in {summary['rows']:,} rows of {summary['file']}"
    yield f"  columns: {some}" + (
        "" if summary["scale"] == "none" else f"; scale: {summary['scale']}"
    )
    if summary["left_out"]:
        yield f"  left out: {', '.join(map(str, summary['left_out']))}"
    yield f"  method: {summary['method']}{used and f' ({used})'}, {summary['reason']}"
    yield ""
    yield _clusters(
        summary["sizes"],
        summary["noise"],
        None if clear is None else clear["clusters"],
        summary.get("like"),
    )
    if clear is None:
        yield (
            "  how clear they are is not computed, as that takes another pass over rows that are "
            "not in memory"
        )
    else:
        meaning = (
            "1: beyond doubt"
            if "silhouette" not in clear["measure"]
            else "1: far from the others, 0: between two"
        )
        yield (
            f"  clear: {clear['measure']} of a cluster's rows ({meaning}); "
            f"{_number(clear['mean'])} over all"
        )
    if summary["approximation"] is not None:
        certificate = summary["approximation"]
        error = certificate["comparison_error"]
        compare = "" if error is None else f"; costs of two clusterings compare to {percent(error)}"
        yield (
            f"  {certificate['n_landmarks']:,} landmarks leave out "
            f"{percent(certificate['residual'])} of the kernel{compare}"
        )
    yield from _end(summary)


def of_predict(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the summary of a prediction as lines and tables."""
    yield f"{summary['rows']:,} rows of {summary['file']}, labelled by {summary['model']}"
    yield ""
    yield _clusters(summary["sizes"].tolist(), summary["noise"], None)
    yield from (f"  {line}" for line in (summary["changed"] or {}).values())
    yield from _end(summary)


def of_index(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the cells of an index, or of one that is planned, as lines and tables."""
    if summary["command"] == "plan":
        yield from _of_plan(summary)
        return
    rows = f"{summary['rows']:,} rows"
    if "added" in summary:
        rows += f", {summary['added']:,} of them added from {summary['file']}"
        if summary["moved"]:
            rows += f", {summary['moved']:,} not to the nearest cell, which was full"
    yield f"{several(summary['n_clusters_found'], 'cell')} with {rows}"
    yield [
        ("smallest", f"{summary['smallest']:,} rows"),
        ("mean", f"{summary['mean']:,.1f}"),
        ("largest", f"{summary['largest']:,}"),
        ("imbalance", f"{summary['imbalance']:.3f} (1: equal cells)"),
    ]
    yield from _end(summary)


def of_stream(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the end of a stream, whose warnings have been told as they came."""
    skipped = summary["rows_malformed"]
    yield f"{several(summary['rows_clustered'], 'row')} of {summary['source']} clustered" + (
        f"; {several(skipped, 'malformed row')} left out" if skipped else ""
    )
    yield ""
    yield _clusters(summary["sizes"], summary["noise"], None)
    yield f"written: {', '.join(summary['outputs'].values())}"


def of_report(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what a page was written of."""
    model = summary["model"] or summary["estimator"]
    yield f"{summary['rows']:,} rows of {summary['file']}, as {model} sees them"
    yield from _end(summary)


def of_select(summary: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what numbers of clusters were judged, and the choice."""
    known = {
        "n_clusters": "clusters",
        "silhouette": "silhouette",
        "chance": "by chance",
        "corrected": "corrected",
        "xie_beni": "Xie-Beni",
        "bic": "BIC",
        "icl": "ICL",
    }
    known |= {"stability": "stability", "stability_error": "+-"}
    names = {name: title for name, title in known.items() if name in summary["table"]}
    rows = zip(*(texts_of(summary["table"][name]) for name in names), strict=True)
    yield (
        f"{several(summary['n_clusters'], 'cluster')} in "
        f"{summary['rows']:,} rows of {summary['file']}"
    )
    yield ""
    yield [tuple(names.values()), *rows]
    yield summary["reason"]
    yield from (f"warning: {text}" for text in summary["warnings"])
    if "outputs" in summary:
        yield f"written: {', '.join(summary['outputs'].values())}"
    yield from _steps(summary)


def of_model(facts: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what a model file holds, without the arrays and entries for the library alone; unset
    ones are left out."""
    own = {name: value for name, value in facts["fitted"].items() if not name.startswith("_")}
    yield facts["model"]
    yield [
        ("", ""),
        *_flat(
            {
                name: value
                for name, value in {**facts, "fitted": own}.items()
                if name not in ("arrays", "model")
            }
        ),
    ]


def _end(summary: Mapping[str, Any]) -> Iterator[Part]:
    yield from (f"warning: {text}" for text in summary["warnings"])
    yield ""
    yield f"written: {', '.join(summary['outputs'].values())}"
    yield from _steps(summary)


def _steps(summary: Mapping[str, Any]) -> Iterator[Part]:
    steps = summary.get("next", [])
    if steps:
        yield "next:"
    for step in steps:
        yield f"  {step['why']}:"
        yield f"    {step['command']}"


def _clusters(
    sizes: Sequence[int],
    noise: int,
    clear: Sequence[float | None] | None,
    like: Sequence[str] | None = None,
) -> Part:
    """Return the table of clusters, the largest of them where there are many."""
    total, longest = max(1, sum(sizes) + noise), max(1, *sizes, noise)
    shown = sorted(sorted(range(len(sizes)), key=lambda at: -sizes[at])[:SHOWN])
    rows = [
        (
            str(at),
            sizes[at],
            "" if clear is None else _number(clear[at]),
            "" if like is None else _shortened(like[at]),
        )
        for at in shown
    ]
    if len(sizes) > SHOWN:
        rows.append(
            (f"{len(sizes) - SHOWN:,} more", sum(sizes) - sum(sizes[at] for at in shown), "", "")
        )
    if noise:
        rows.append(("none", noise, "", ""))
    bars = ["█" * math.ceil(BAR * min(1.0, size / longest)) for _, size, *_ in rows]
    lines = [
        (name, f"{size:,}", percent(size / total, 1), bar, *more)
        for (name, size, *more), bar in zip(rows, bars, strict=True)
    ]
    return [
        (
            "cluster",
            "rows",
            "share",
            "",
            "" if clear is None else "clear",
            "" if like is None else "what it is like",
        ),
        *lines,
    ]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LIKE else f"{line[: LIKE - 1]}…"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _flat(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            more = f", ... ({len(value)} in all)" if len(value) > 6 else ""
            yield f"{above}{name}", ", ".join(str(part) for part in value[:6]) + more
        elif value is not None:
            yield f"{above}{name}", str(value)
