"""A report: one self-contained page of what was found, for people. Jinja enters the package in this
file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..data.addresses import place
from ..data.arrays import Float64
from ..fitting.validation import one_of
from ..runtime.numerals import in_digits, percent
from ..runtime.version import __version__
from ..storage.atomic import staged_file, write_text
from .contrast import Contrast, contrast_of
from .directions import Plane, plane_of
from .ellipses import ellipse
from .explain import Explanation, explanation_of, unclear
from .figure import colour
from .rows import InspectedRows, inspected, named_features
from .summary import table_of
from .tables import Table, cell

CALLER = "report"
PAGE = Path(__file__).parent / "page"
DRAWN = 10_000  # rows at most in the picture
LISTED = 25  # rows at most that are named as lying between clusters, or in none
MEANS = 60  # columns at most in the table of means
POINTS = 120  # of a profile
NAME = 80  # characters at most of a name that is shown


@dataclass(frozen=True)
class Again:
    """Code and commands that do a fit again.

    Attributes
    ----------
    code : in Python.
    command : lines for a terminal, if it came from there.
    """

    code: str
    command: Sequence[str] = ()


@dataclass(frozen=True)
class Findings:
    """Further findings on a fit, for its report.

    Attributes
    ----------
    selection : what `cmeans.select` returned.
    stability : what `cmeans.stability` returned.
    warnings : sentences.
    facts : of the data, name by name: where they came from, how they were scaled.
    again : how to do the fit again; None: by the estimator's parameters.
    """

    selection: Any = None
    stability: Any = None
    warnings: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    again: Again | None = None


def report(
    model: Any,
    X: Any,
    out: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    row_names: Sequence[Any] | None = None,
    sample_weight: Any = None,
    diag: Any = None,
    inverse_transform: Callable[[Any], Any] | None = None,
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
) -> Path:
    """Write a page that shows the clusters of a fitted model: one file, to be opened by any
    browser, without a network.

    It has the rows in a picture (hover a row, switch clusters off, hide rows of small membership),
    sizes, memberships and silhouettes of the clusters, their means over the columns, the columns
    that set them apart, rules that tell them, the rows between clusters and those of none, the
    certificate of landmarks, warnings, and how to do it again.

    Parameters
    ----------
    model : a fitted estimator of this library, or a scikit-learn pipeline that ends in one, of
        which the columns that go in are shown.
    X : rows as its `predict` takes them: those of the fit, or others; files too. Of more than
        50,000 as many, evenly spaced, are looked at, and of these at most 10,000 are drawn.
    out : str or path, the file, .html; it is there when all of it is, or not at all.
    feature_names : d names, default=None: those of the fit, or numbers.
    row_names : (n,) names of the rows, default=None: their numbers.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x), for precomputed kernels, as for `predict`.
    inverse_transform : function of rows as the model takes them, default=None
        Brings them to the units to show, such as a scaler's `inverse_transform`.
    title : str
    theme : "auto", "light" or "dark", default="auto": as the reader's system has it.
    findings : Findings, default=None
        What else is known of the fit.

    Returns
    -------
    path : of the file.

    Raises
    ------
    ValueError
        For a model or rows that are none, and where the file cannot be written.
    ImportError
        Without jinja2, which `pip install "cmeans[report]"` brings.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import report
    >>> wine = load_wine()
    >>> model = FuzzyCMeans(3, random_state=0).fit(scale(wine.data))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "wine.html")
    ...     page = report(model, scale(wine.data), file, feature_names=wine.feature_names)
    ...     "proline" in page.read_text()
    True
    """
    one_of(theme, "theme", CALLER, ("auto", "light", "dark"))
    if not names_a_page(out):
        raise ValueError(
            f"{CALLER}(out={str(place(out))!r}): the page is HTML; give a file that ends in .html."
        )
    seen = inspected(
        model,
        X,
        CALLER,
        sample_weight=sample_weight,
        diag=diag,
        inverse_transform=inverse_transform,
    )
    return page_of(
        model,
        seen,
        out,
        feature_names=feature_names,
        row_names=row_names,
        title=title,
        theme=theme,
        findings=findings,
    )


def names_a_page(out: str | os.PathLike[str]) -> bool:
    """True of a file whose name says that it is HTML."""
    return place(out).suffix.lower() in (".html", ".htm")


def page_of(
    model: Any,
    seen: InspectedRows,
    out: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    row_names: Sequence[Any] | None = None,
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
) -> Path:
    """Write the page of a model and rows that have been looked at."""
    if row_names is not None and len(row_names) != seen.n_rows:
        raise ValueError(f"{CALLER}(row_names=...): {len(row_names)} names for {seen.n_rows} rows.")
    names = (
        [_short(row_names[number]) for number in seen.numbers]
        if row_names is not None
        else [str(number) for number in seen.numbers]
    )
    contrast = contrast_of(seen, tuple(map(_short, named_features(feature_names, seen, CALLER))))
    told = None if contrast is None else explanation_of(seen, contrast.feature_names, 5, 3)
    contents = _contents(model, seen, names, contrast, told, findings or Findings())
    text = _template().render(title=_short(title), theme=theme, **contents)
    file = place(out)
    with staged_file(file) as staging:
        write_text(staging, text)
    return file


def _template() -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('report needs jinja2: python -m pip install "cmeans[report]".') from error
    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": cell, "percent": percent}
    return environment.get_template("report.html")


def _contents(
    model: Any,
    seen: InspectedRows,
    names: list[str],
    contrast: Contrast | None,
    told: Explanation | None,
    findings: Findings,
) -> dict[str, Any]:
    """Return all that the page shows."""
    again = findings.again or Again(_code(model))
    if isinstance(model, Pipeline):
        findings = replace(
            findings, facts={**findings.facts, "steps": ", ".join(map(_one_line, model[:-1]))}
        )
        model = seen.model
    table = table_of(seen, contrast, 3)
    plane = plane_of(seen)
    shown = np.arange(0, len(names), -(-len(names) // DRAWN))
    by_number = dict(zip(seen.numbers.tolist(), names, strict=True))
    soft = seen.is_soft
    noise = seen.weight[seen.labels < 0].sum()
    return {
        "facts": _facts(model, seen, findings),
        "clusters": _clusters(
            table, by_number, noise * seen.n_rows / len(names), float(noise / seen.weight.sum())
        ),
        "n_clusters": seen.n_clusters,
        "soft": soft,
        "rows_seen": len(names),
        "n_rows": seen.n_rows,
        "picture": _script_json(_picture(plane, seen, shown, names)),
        "axis_names": plane.names,
        "has_ellipses": plane.covariances is not None,
        "profiles": _profiles(seen.memberships if soft else _own_silhouettes(seen), seen, soft),
        "means": None if contrast is None else _means(contrast),
        "told": None if told is None else _told(told),
        "rules": None if told is None else told.rules,
        "fidelity": None if told is None else told.fidelity,
        "between": _named(seen.numbers[unclear(seen)], by_number),
        "noise": _named(seen.numbers[seen.labels < 0], by_number),
        "certificate": None
        if vars(model).get("approximation_") is None
        else str(model.approximation_),
        "selection": None if findings.selection is None else _selection(findings.selection),
        "stability": None if findings.stability is None else str(findings.stability),
        "warnings": list(findings.warnings),
        "again": again,
        "style": (PAGE / "report.css").read_text(encoding="utf-8"),
        "script": (PAGE / "report.js").read_text(encoding="utf-8"),
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
        (name, in_digits(value, 6) if isinstance(value, float) else _short(value, 300))
        for name, value in facts.items()
        if value is not None
    ]


def _kernel_name(model: Any) -> str | None:
    kernel = vars(model).get("kernel")  # None: of a model that has no other spaces
    return kernel if kernel is None or isinstance(kernel, str) else type(model.kernel_).__name__


def _clusters(
    table: Table, by_number: Mapping[int, str], noise: float, noise_share: float
) -> list[dict[str, Any]]:
    """Return the clusters, and noise where there is any, as rows of a table."""
    rows = []
    for j in range(len(table["cluster"])):
        row = {name: table[name][j] for name in table if name != "typical"}
        typical = ", ".join(
            by_number[number] for number in table["typical"][j].tolist() if number >= 0
        )
        rows.append({**row, "colour": colour(j), "typical": typical, "label": str(j)})
    if noise > 0:
        rows.append(
            {
                "label": "none",
                "cluster": -1,
                "colour": colour(-1),
                "weight": noise,
                "share": noise_share,
            }
        )
    return rows


def _picture(plane: Plane, seen: InspectedRows, shown: Any, names: list[str]) -> dict[str, Any]:
    """Return the rows that are drawn: positions in thousandths of the picture."""
    positions = plane.positions[shown]
    low, high = positions.min(axis=0), positions.max(axis=0)

    def places(points: Float64) -> Any:
        return np.rint(1000 * (points - low) / np.where(high > low, high - low, 1.0)).astype(int)

    at = places(positions)
    ellipses = [
        {"cluster": j, "points": places(ellipse(plane.centres[j], covariance, k)).tolist()}
        for j, covariance in enumerate([] if plane.covariances is None else plane.covariances)
        for k in (1, 2)
    ]
    return {
        "x": at[:, 0].tolist(),
        "y": at[:, 1].tolist(),
        "ellipses": ellipses,
        "cluster": seen.labels[shown].tolist(),
        "u": [float(percent(u).rstrip("%")) for u in seen.memberships[shown].max(axis=1).tolist()],
        "name": [names[at] for at in shown],
        "colours": {str(j): colour(j) for j in range(-1, seen.n_clusters)},
        "axes": list(plane.names),
    }


def _own_silhouettes(seen: InspectedRows) -> Float64:
    """Return the silhouettes of rows in the column of their own cluster, NaN in the others."""
    values = np.full(seen.memberships.shape, np.nan)
    inside = np.flatnonzero(seen.labels >= 0)
    values[inside, seen.labels[inside]] = seen.silhouettes[inside]
    return values


def _profiles(values: Float64, seen: InspectedRows, soft: bool) -> list[dict[str, str]]:
    """Return curves of a picture 100 wide and 60 high: of each cluster its values in falling
    order."""
    curves = []
    for j in range(seen.n_clusters):
        column = values[:, j]
        own = -np.sort(-column[~np.isnan(column)])
        if not len(own):
            continue
        at = np.linspace(0, len(own) - 1, min(len(own), POINTS)).astype(int)
        across = 100 * (at + 0.5) / len(own)
        height = 60 * (1 - np.clip(own[at], 0 if soft else -1, 1))
        points = " ".join(f"{x:.1f},{min(y, 60):.1f}" for x, y in zip(across, height, strict=True))
        curves.append({"cluster": str(j), "colour": colour(j), "points": points})
    return curves


def _means(contrast: Contrast) -> dict[str, Any]:
    """Return the standardised means, of the columns that differ most where there are many."""
    spread = np.ptp(contrast.standardized, axis=0)
    kept = np.sort(np.argsort(-spread, kind="stable")[:MEANS])
    most = max(float(np.abs(contrast.standardized[:, kept]).max(initial=0)), 1e-9)
    rows = [
        {
            "name": contrast.feature_names[k],
            "cells": [
                {
                    "mean": contrast.means[j, k],
                    "z": contrast.standardized[j, k],
                    "strength": round(contrast.standardized[j, k] / most, 2),
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
    return _short(repr(step), 300)


def _call(model: Any) -> str:
    defaults = type(model)().get_params(deep=False)
    given = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if _differs(value, defaults.get(name))
    }
    words = ", ".join(f"{name}={_short(repr(value), 60)}" for name, value in given.items())
    return f"{type(model).__name__}({words})"


def _differs(value: Any, default: Any) -> bool:
    return type(value) is not type(default) or not np.array_equal(value, default)


def _short(text: Any, most: int = NAME) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _script_json(value: Any) -> Any:
    """Return JSON that can stand in a page: no character of it ends an element."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
