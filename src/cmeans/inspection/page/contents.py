"""Contents of a page's template, of a model and its rows: tables, curves, and what was done."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...data.arrays import Float64
from ...runtime.numerals import in_digits, several
from ...runtime.version import __version__
from ..contrast import FULL, Contrast, contrast_of
from ..explain import Explanation, explanation_of, unclear
from ..figure import colour
from ..rows import InspectedRows
from ..summary import table_of
from ..tables import Table
from ..tree_rules import text_of
from .findings import Again, Findings
from .record import PageRows

LISTED = 25  # rows at most that are named as lying between clusters, or in none
MEANS = 60  # columns at most in the table of means
POINTS = 120  # of a profile
NAME = 80  # characters at most of a name that is shown


def contents(
    model: Any, page: PageRows, names: Sequence[str], findings: Findings
) -> dict[str, Any]:
    """Return all that the template of a page shows: of a model or a pipeline, its rows, and their
    names."""
    seen, again = page.seen, findings.again or Again(_code(model))
    if isinstance(model, Pipeline):
        steps = ", ".join(map(_one_line, model[:-1]))
        findings = replace(findings, facts={**findings.facts, "steps": steps})
        model = seen.model
    contrast = contrast_of(seen, page.feature_names)
    told = None if contrast is None else explanation_of(seen, page.feature_names, 5, 3)
    by_number = dict(zip(seen.numbers.tolist(), names, strict=True))
    given = [short(name, 40) for name in page.partitions[page.own].names]
    called = given or [f"cluster {j}" for j in range(seen.n_clusters)]
    heads = given or [str(j) for j in range(seen.n_clusters)]
    approximation = vars(model).get("approximation_")
    return {
        "facts": _facts(model, seen, findings),
        "clusters": _clusters(seen, table_of(seen, contrast, 3), by_number, heads),
        "called": called,
        "heads": heads,
        "n_clusters": seen.n_clusters,
        "soft": seen.is_soft,
        "rows_seen": len(names),
        "n_rows": seen.n_rows,
        "noun": page.noun,
        "numbered": page.ids is None,
        "notes": _far(seen, page.feature_names),
        "has_ellipses": any(plane.covariances is not None for plane in page.planes.values()),
        "profiles": _profiles(seen),
        "means": None if contrast is None else _means(contrast),
        "told": None if told is None else _told(told),
        "rules": None if told is None else text_of(told.short_rules, called),
        "fidelity": None if told is None else told.fidelity,
        "between": _named(seen.numbers[unclear(seen)], by_number),
        "noise": _named(seen.numbers[seen.labels < 0], by_number),
        "certificate": None if approximation is None else str(approximation),
        "selection": None if findings.selection is None else _selection(findings.selection),
        "stability": None if findings.stability is None else str(findings.stability),
        "warnings": list(findings.warnings),
        "again": again,
        "several_partitions": len(page.partitions) > 1,
        "has_tree": sum(one.in_series for one in page.partitions) > 1,
        "evidence_said": page.evidence,
    }


def _facts(model: Any, seen: InspectedRows, findings: Findings) -> list[tuple[str, str]]:
    """Return what was done, and with which parameters."""
    facts: dict[str, Any] = {
        **findings.facts,
        "rows": f"{seen.n_rows:,}",
        "columns": f"{len(seen.feature_names):,}" if seen.feature_names else None,
    }
    facts |= {
        "estimator": type(model).__name__,
        "kernel": _kernel_name(model),
        "covariance": vars(model).get("covariance"),
        "log-likelihood of a row": vars(model).get("lower_bound_"),
    }
    for name in ("gamma_", "m_", "n_landmarks_", "objective_", "n_iter_", "stop_reason_"):
        value = vars(model).get(name)
        facts[name.rstrip("_").replace("_", " ")] = (
            None if value is None or (name == "m_" and value == 1) else value
        )
    facts |= {
        "random state": vars(model).get("random_state"),
        "made": f"{datetime.now():%Y-%m-%d %H:%M} by cmeans {__version__}",
    }
    facts["versions"] = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return [
        (name, in_digits(value, 6) if isinstance(value, float) else short(value, 300))
        for name, value in facts.items()
        if value is not None
    ]


def _kernel_name(model: Any) -> str | None:
    kernel = vars(model).get("kernel")  # None: of a model that has no other spaces
    return kernel if kernel is None or isinstance(kernel, str) else type(model.kernel_).__name__


def _clusters(
    seen: InspectedRows, table: Table, by_number: Mapping[int, str], heads: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the clusters, and noise where there is any, as rows of a table with these heads."""
    noise, rows = float(seen.weight[seen.labels < 0].sum()), []
    for j in range(len(table["cluster"])):
        row = {name: table[name][j] for name in table if name != "typical"}
        typical = ", ".join(
            by_number[number] for number in table["typical"][j].tolist() if number >= 0
        )
        rows.append({**row, "colour": colour(j), "typical": typical, "label": heads[j]})
    if noise > 0:
        rows.append(
            {
                "label": "none",
                "cluster": -1,
                "colour": colour(-1),
                "weight": noise * seen.n_rows / len(seen.numbers),
                "share": noise / float(seen.weight.sum()),
            }
        )
    return rows


def _own_silhouettes(seen: InspectedRows) -> Float64:
    """Return the silhouettes of rows in the column of their own cluster, NaN in the others."""
    values = np.full(seen.memberships.shape, np.nan)
    inside = np.flatnonzero(seen.labels >= 0)
    values[inside, seen.labels[inside]] = seen.silhouettes[inside]
    return values


def _profiles(seen: InspectedRows) -> list[dict[str, Any]]:
    """Return curves of a picture 100 wide and 60 high: of each cluster the memberships of rows, or
    their silhouettes, in falling order."""
    soft = seen.is_soft
    values, curves = seen.memberships if soft else _own_silhouettes(seen), []
    for j in range(seen.n_clusters):
        column = values[:, j]
        own = -np.sort(-column[~np.isnan(column)])
        if not len(own):
            continue
        at = np.linspace(0, len(own) - 1, min(len(own), POINTS)).astype(int)
        across = 100 * (at + 0.5) / len(own)
        height = 60 * (1 - np.clip(own[at], 0 if soft else -1, 1))
        points = " ".join(f"{x:.1f},{min(y, 60):.1f}" for x, y in zip(across, height, strict=True))
        curves.append({"cluster": j, "colour": colour(j), "points": points})
    return curves


def _far(seen: InspectedRows, names: Sequence[str]) -> list[str]:
    """Return what is told of cells that lie far from all others of their column."""
    said = []
    for k, far in seen.far.items():
        cells, exactly = seen.column(k)[far], seen.unit(k).exactly
        ends = (exactly(float(f"{cell:.10g}")) for cell in (cells.min(), cells.max()))
        between = " to ".join(dict.fromkeys(ends))  # in digits of the table, not of its scaling
        lie = "lies" if len(cells) == 1 else "lie"
        said.append(
            f"{names[k]}: {several(len(cells), 'cell')} ({between}) {lie} far from all others; "
            "means are those of the others, but for clusters most of whose cells are so far."
        )
    return said


def _means(contrast: Contrast) -> dict[str, Any]:
    """Return the standardised means, of the columns that differ most where there are many."""
    spread = np.ptp(contrast.standardized, axis=0)
    kept = np.sort(np.argsort(-spread, kind="stable")[:MEANS])
    most = min(max(float(np.abs(contrast.standardized[:, kept]).max(initial=0)), 1e-9), FULL)
    rows = [
        {
            "name": contrast.feature_names[k],
            "cells": [
                {
                    "mean": contrast.means[j, k],
                    "z": contrast.standardized[j, k],
                    "strength": round(min(max(contrast.standardized[j, k] / most, -1), 1), 2),
                }
                for j in range(len(contrast.means))
            ],
        }
        for k in kept
    ]
    return {"rows": rows, "left_out": len(contrast.mean) - len(kept)}


def _told(told: Explanation) -> list[dict[str, Any]]:
    """Return the columns that set each cluster apart."""
    columns = told.columns
    found = []
    for j in np.unique(columns["cluster"]).tolist():
        here = np.flatnonzero(columns["cluster"] == j)
        found.append(
            {
                "cluster": j,
                "colour": colour(j),
                "columns": [{name: columns[name][at] for name in columns} for at in here],
            }
        )
    return found


def _named(numbers: Any, by_number: Mapping[int, str]) -> dict[str, Any]:
    """Return how many rows there are, and the names of some."""
    return {"count": len(numbers), "names": [by_number[int(number)] for number in numbers[:LISTED]]}


def _selection(selection: Any) -> dict[str, Any]:
    head, *rows = Table(selection.table).cells()
    return {
        "head": head,
        "rows": rows,
        "reason": selection.reason,
        "chosen": str(selection.n_clusters),
    }


def _code(model: Any) -> str:
    """Return the fit as code, by the parameters that are not defaults."""
    if isinstance(model, Pipeline):
        steps = [*map(_one_line, model[:-1]), _call(model[-1])]
        head = (
            f"from cmeans import {type(model[-1]).__name__}\nfrom sklearn.pipeline import "
            "make_pipeline"
        )
        return f"{head}\n\nmodel = make_pipeline({', '.join(steps)}).fit(X)"
    return f"from cmeans import {type(model).__name__}\n\nmodel = {_call(model)}.fit(X)"


def _one_line(step: Any) -> str:
    return short(repr(step), 300)


def _call(model: Any) -> str:
    defaults = type(model)().get_params(deep=False)
    given = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if _differs(value, defaults.get(name))
    }
    words = ", ".join(f"{name}={short(repr(value), 60)}" for name, value in given.items())
    return f"{type(model).__name__}({words})"


def _differs(value: Any, default: Any) -> bool:
    return type(value) is not type(default) or not np.array_equal(value, default)


def short(text: Any, most: int = NAME) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
