"""The text of summaries, for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...runtime.numerals import in_bytes, in_digits, percent, several
from ...runtime.tables import texts_of
from ...selection.select import LEAST

# clusters, and characters of the longest bar and of what a cluster is like
SHOWN, BAR, LIKE = 20, 20, 48

# what is known of a number of clusters, by its name in the table: its head, and how to read it
OF_TRIALS = {
    "n_clusters": ("clusters", ""),
    "silhouette": ("silhouette", "1: each row lies far from the other clusters, 0: between two"),
    "chance": ("by chance", "the silhouette of rows without clusters, spread as these are"),
    "corrected": ("beyond chance", "what the silhouette has more; 0: no clusters to see, 1: most"),
    "xie_beni": ("Xie-Beni", "how wide clusters are for how far they lie apart; little is good"),
    "bic": ("BIC", "how badly the mixture fits, and how much it takes to describe it"),
    "icl": ("ICL", "as BIC, and how much clusters overlap"),
    "stability": ("stability", "agreement of fits to samples; 1: always the same, 0: by chance"),
    "stability_error": ("+-", ""),
}

Part = str | list[Sequence[str]]  # a line, or a table whose first row names its columns


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
        if "silhouette" not in clear["measure"]:
            meaning = "1: beyond doubt"
        else:
            meaning = "1: far from the others, 0: between two"
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
    table, chosen = summary["table"], summary["n_clusters"]
    names = {name: head for name, (head, _) in OF_TRIALS.items() if name in table}
    rows = zip(*(texts_of(table[name]) for name in names), strict=True)
    marks = ("> " if number == chosen else "" for number in table["n_clusters"])
    decides = {"auto": "bic" if "bic" in table else "corrected"}.get(summary["by"], summary["by"])
    taken = f"the {'least' if decides in LEAST else 'largest'} is the best"
    if decides == "stability":
        taken = "the most clusters within +- of the best are taken"
    yield (
        f"{several(summary['n_clusters'], 'cluster')} in "
        f"{summary['rows']:,} rows of {summary['file']}"
    )
    yield ""
    marked = ((mark + number, *more) for (number, *more), mark in zip(rows, marks, strict=True))
    yield [tuple(names.values()), *marked]
    yield f"  {names[decides]} decides, {taken}"
    yield from (f"  {names[name]}: {OF_TRIALS[name][1]}" for name in names if OF_TRIALS[name][1])
    yield ""
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
