"""What is measured: each line of the tables from many starts, the library's defaults, the bound of
lambda, and what the figures show."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from cmeans.papers import LocallySparse
from cmeans.rules import SparsePossibilistic

from ..paper import Run
from .fits import (
    by_defaults,
    by_nearest,
    data,
    far_row,
    fitted,
    line_of,
    max_min_rows,
    to_ten,
    uci_iris,
)
from .printed import ADAPTIVE, CLASSES, NAMES, TABLES, Line, Row

DRAWS, DRAWN_STARTS = 20, 2  # of Experiment 1; starts beside the far row
S2_STARTS, S2_FEW = 10, 3  # first rows drawn: of APCM and SAPCM; of the others, which are slow
STATES = 5
DEFAULTS = ("twice", "twenty", "sequential", "alpha")
BETAS = np.arange(1, 91) / 100
LAMBDAS = np.geomspace(0.001, 0.1, 21)
POWERS = (0.2, 0.35, 0.5, 0.65, 0.8)
SHARES = (0.5, 0.9, 1 - 1e-6, 1 + 1e-6)  # of the upper bound of lambda
FIGURE_DRAW = 5  # of Experiment 1: of draws 0 to 5 the one nearest to what is printed
LETTERS = "abcdefghijklmnopqrstuvwxyz"  # labels in figures; "." for none
SEARCHED = ("APCM - 0.3 5", "APCM - 0.3 10", "SAPCM 0.01 0.1 5", "SAPCM 0.01 0.05 8")
TOLERANCES = ((3, "SAPCM 0.1 0.2 10", (1e-3, 1e-4)), (2, "APCM - 0.1 10", (1e-2, 1e-4)))
PANELS = {
    "(a) k-means, 3 clusters": "k-means - - 3",
    "(b) k-means, 5 clusters": "k-means - - 5",
    "(c) FCM, 3 clusters": "FCM - - 3",
    "(d) FCM, 5 clusters": "FCM - - 5",
    "(e) PCM from 20": "PCM - - 20",
    "(f) APCM from 5, β = 0.1": "APCM - 0.1 5",
    "(g) SAPCM from 5, β = 0.1, λ = 0.3": "SAPCM 0.3 0.1 5",
    "(h) SeqSAPCM, λ = 0.28": "SeqSAPCM 0.28 - -",
}


def measure(run: Run) -> None:
    for table in (1, 3, 4, 2):
        run.stage(f"Table {table}: {NAMES[table]}", partial(one_table, run, table))
    run.stage(
        "Figure 1",
        partial(
            run.side_by_side,
            panel,
            {f"figure 1 | {title}": (name,) for title, name in PANELS.items()},
        ),
    )
    every = partial(figure_two, 5 if run.quick else 1)
    run.stage("Figure 2", partial(run.once, "figure 2", every))
    run.stage("Upper bound of lambda", partial(bounds, run))
    run.stage("Iris of UCI", partial(misprinted, run))
    if not run.quick:
        run.stage("Searches", partial(searches, run))
    for table in (3,) if run.quick else (1, 2, 3, 4):
        run.stage(f"Defaults: {NAMES[table]}", partial(defaults, run, table))


def row_of(table: int, name: str) -> Row:
    return next(row for row in TABLES[table] if str(row) == name)


def one_table(run: Run, table: int) -> None:
    """Every line from the far row first, then from others; of Experiment 1 on several draws."""
    rows = TABLES[table]
    if run.quick:
        rows = [row for row in rows if table != 2 or (row.method in ADAPTIVE and row.initial == 25)]
    jobs = {
        f"table {table} | {row}": (table, str(row), places(table, row, quick=run.quick))
        for row in rows
    }
    data(table)  # a set that is absent is said here
    run.side_by_side(lines, jobs)
    if table != 1 and not (run.quick and table == 2):
        run.once(f"own | {table}", partial(own_labels, table))


def places(table: int, row: Row, *, quick: bool) -> list[tuple[int, int | None]]:
    """Draws of the data and first rows of Max-Min; None for the far row."""
    if table == 1:
        starts = 0 if row.initial is None or quick else DRAWN_STARTS
        draws = range(FIGURE_DRAW, FIGURE_DRAW + 1) if quick else range(DRAWS)
        return [
            (draw, first)
            for draw in draws
            for first in (None, *chosen(len(data(1, draw)[0]), starts, draw))
        ]
    if row.initial is None or (quick and table == 2):
        return [(0, None)]
    n = len(data(table)[0])
    count = (S2_STARTS if row.method in ADAPTIVE else S2_FEW) if table == 2 else n
    return [(0, first) for first in (None, *chosen(n, 2 if quick else count, 0))]


def chosen(n: int, count: int, seed: int) -> Iterable[int]:
    return (
        range(n)
        if count >= n
        else np.random.default_rng(seed).choice(n, count, replace=False).tolist()
    )


def lines(table: int, name: str, where: list[tuple[int, int | None]]) -> dict[str, Any]:
    found = [
        line_of(row_of(table, name), table, *data(table, draw), first) for draw, first in where
    ]
    return as_lists(found) | {
        "draw": [draw for draw, _ in where],
        "first": [first for _, first in where],
    }


def as_lists(found: list[Line]) -> dict[str, Any]:
    return {field: [getattr(line, field) for line in found] for field in Line._fields}


def own_labels(table: int) -> dict[str, Any]:
    """SeqSAPCM by the library's own labels, unwanted rows in the nearest cluster."""
    x, classes = data(table)
    model, seen = fitted(TABLES[table][-1], table, x, None)
    rand, success = by_nearest(classes, model, seen)
    return {"unwanted": 100 * float(np.mean(model.labels_ < 0)), "rand": rand, "success": success}


# ------------------------------------------------------------------------------------ beside tables


def misprinted(run: Run) -> None:
    """The same Iris rows with the two misprints of the UCI file, from the far row."""
    x, classes = uci_iris()
    rows = [row for row in TABLES[3] if row.method in ADAPTIVE]
    run.side_by_side(one_line, {f"uci iris | {row}": (3, str(row), x, classes) for row in rows})


def one_line(
    table: int, name: str, x: np.ndarray, classes: np.ndarray, more: dict[str, Any] | None = None
) -> dict[str, Any]:
    return line_of(row_of(table, name), table, x, classes, None, **(more or {}))._asdict()


def searches(run: Run) -> None:
    """Lines that no first row gives, with other values of beta or lambda; and what looser
    tolerances give."""
    run.side_by_side(search, {f"search | {name}": (name,) for name in SEARCHED})
    jobs = {}
    for table, name, tolerances in TOLERANCES:
        jobs |= {
            f"tolerance | {table} | {name} | {tol:g}": (table, name, *data(table), {"tol": tol})
            for tol in tolerances
        }
    run.side_by_side(one_line, jobs)


def search(name: str) -> dict[str, Any]:
    if name.startswith("APCM"):
        row, (x, classes) = row_of(3, name), data(3)
        tried = [(Row(row.method, 0.0, float(beta), row.initial, None), None) for beta in BETAS]
        found = [line_of(row, 3, x, classes, first) for row, first in tried]
        return as_lists(found) | {"beta": BETAS.tolist()}
    row, (x, classes) = row_of(4, name), data(4)
    firsts = (None, *chosen(len(x), 3, 0))
    tried = [
        (Row(row.method, float(value), row.beta, row.initial, None), first)
        for value in LAMBDAS
        for first in firsts
    ]
    found = [line_of(row, 4, x, classes, first) for row, first in tried]
    return as_lists(found) | {
        "lambda": [row.sparsity for row, _ in tried],
        "first": [first for _, first in tried],
    }


def defaults(run: Run, table: int) -> None:
    data(table)
    jobs = {}
    for name in DEFAULTS:
        # which draws nothing
        states = DRAWS if table == 1 else 1 if name == "sequential" else STATES
        jobs[f"defaults | {table} | {name}"] = (name, table, 1 if run.quick else states)
    run.side_by_side(default_cell, jobs)


def default_cell(name: str, table: int, states: int) -> dict[str, Any]:
    results = [by_defaults(name, table, state) for state in range(states)]
    return {
        field: [result[at] for result in results]
        for at, field in enumerate(("found", "rand", "success", "unwanted"))
    }


# ------------------------------------------------------------------------ the upper bound of lambda


def bounds(run: Run) -> None:
    """Section 2: beyond which lambda no row is compatible with any cluster."""
    for p in POWERS:
        run.once(f"bound | {p:g}", partial(bound_cell, p))
    run.once("bound iris", bound_iris)


def bound_cell(p: float) -> dict[str, Any]:
    cell = {"local": 1 / (np.e * p * (1 - p)), "global": np.exp(-p) / (1 - p)}
    return cell | {f"{test} found": largest(p, test) for test in ("local", "global")}


TESTED: dict[str, type[SparsePossibilistic]] = {
    "global": SparsePossibilistic,
    "local": LocallySparse,
}


def largest(p: float, test: str) -> float:
    """The largest lambda at eta = 1 for which a row at the centre is wanted, by bisection."""
    low, high = 0.0, 10.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        rule = TESTED[test](middle, p=p)
        wanted = rule.memberships(np.zeros((1, 1)), np.ones(1))[0, 0] > 0
        low, high = (middle, high) if wanted else (low, middle)
    return low


def bound_iris() -> dict[str, Any]:
    """Rows that five clusters of Iris want at shares of the bound; the widest cluster decides."""
    rows = to_ten(data(3)[0])
    starts = max_min_rows(rows, far_row(rows), 5)
    d2 = cdist(rows, rows[starts], "sqeuclidean")
    among = d2[starts]
    eta = np.where(among > 0, among, np.inf).min(axis=1) / 2 / -np.log(0.2)
    cell: dict[str, Any] = {"eta": float(eta.max())}
    for test, factor in (("local", 4 / np.e), ("global", 2 * np.exp(-0.5))):
        limit = factor * eta.max()
        rules = [TESTED[test](limit * share, p=0.5) for share in SHARES]
        cell[test] = float(limit)
        cell[f"{test} wanted"] = [
            int((rule.memberships(d2, eta) > 0).any(axis=1).sum()) for rule in rules
        ]
    return cell


# ------------------------------------------------------------------------------------------ figures


def panel(name: str) -> dict[str, Any]:
    """Figure 1: points in hundredths of the range of 10, labels from the lowest centre to the
    highest, centres, radii and reach."""
    row, (x, classes) = row_of(1, name), data(1, FIGURE_DRAW)
    ten, low, unit = to_ten(x), x.min(axis=0), (x.max(axis=0) - x.min(axis=0)) / 10
    model, seen = fitted(row, 1, x, None)
    line = line_of(row, 1, x, classes, None)
    shift, factor = (low, unit) if seen is x else (np.zeros(2), np.ones(2))
    centres = (model.cluster_centers_ - shift) / factor
    order = np.argsort(np.argsort(centres[:, 1]))
    cell = drawn_rows(ten) | {
        "labels": spelt(np.where(model.labels_ < 0, -1, order[model.labels_])),
        "centres": centres.tolist(),
    }
    cell |= {"found": line.found, "success": line.success}
    if hasattr(model, "eta_"):
        radii = np.sqrt(model.eta_) if row.method == "PCM" else model.eta_
        cell["radii"] = (radii[:, None] / factor).tolist()
    if row.sparsity:
        cell["reach"] = np.sqrt(LocallySparse(row.sparsity).radii(model.eta_)).tolist()
    return cell


def figure_two(step: int) -> dict[str, Any]:
    """Every row of S2, or every so many, by its classes and by SeqSAPCM, whose labels take the
    letters of the nearest class means."""
    x, classes = (whole[::step] for whole in data(2))
    row = TABLES[2][-1]
    model, ten = fitted(row, 2, x, None)
    line = line_of(row, 2, x, classes, None)
    means = np.array([ten[classes == j].mean(axis=0) for j in range(CLASSES[2])])
    labels = np.where(
        model.labels_ < 0, -1, cdist(means, model.cluster_centers_).argmin(axis=0)[model.labels_]
    )
    cell = drawn_rows(ten) | {
        "classes": spelt(classes),
        "labels": spelt(labels),
        "centres": model.cluster_centers_.tolist(),
    }
    return cell | {"radii": model.eta_.tolist(), "found": line.found, "success": line.success}


def drawn_rows(ten: np.ndarray) -> dict[str, Any]:
    return dict(zip("xy", (100 * ten.T).round().astype(int).tolist(), strict=True))


def spelt(labels: np.ndarray) -> str:
    return "".join("." if label < 0 else LETTERS[label] for label in labels)
