"""Communities, their number unknown: ModularityClustering on labelled sets and graphs, beside
estimators that find the number themselves, and beside leidenalg at resolution 1.

    python -m benchmarks.communities                    some ten minutes: docs/communities.md
    python -m benchmarks.communities --only iris karate these anew
    python -m benchmarks.communities --pages            the page again, from what is stored

Peers take part where they are installed: pip install evoc scanpy leidenalg igraph networkx

The score of a set is the adjusted Rand index over the rows that a labelling has in a cluster, the
best of its labellings; rows without a cluster, -1, count as one more. Features are in [0, 1], but
those of the public suite, which are as they are there.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from cmeans import ModularityClustering
from cmeans.graphs import community_levels

from .community_graphs import compared, graphs
from .community_held_out import agreements
from .connected_pieces import score, sets
from .defaults import DOCS, MADE, REAL, labelled
from .harness import header, quiet
from .markdown import short

Rows = tuple[np.ndarray, list[np.ndarray]]
Find = Callable[[np.ndarray], np.ndarray]

OURS = "ModularityClustering"
LARGE = ("digits", "mnist", "covtype")  # of the real sets, that are no small tables
ROUND = ("a1", "a2", "a3", "s1", "s2", "s3", "s4")  # of the suite: they are among the made sets
MOST = 8_000  # rows of a set
DRAWS = 2  # other draws of the runs, with which labels are compared
HELD_OUT = ("digits", "mnist", "s2", "wdbc", "vehicle")  # of which rows are predicted
PLACE = DOCS / "communities.json"


def groups() -> dict[str, dict[str, Callable[[], Rows]]]:
    """The sets by group: each group counts the same."""

    def own(name: str) -> Rows:
        x, y = labelled(name, MOST)
        return x, [y + 1]

    suite = {
        name: (lambda X=X, ys=ys: (X, ys))
        for name, X, ys in sets(MOST)
        if name not in ROUND and name not in REAL
    }
    tables = [name for name in REAL if name not in LARGE]
    return {
        "digits": {"digits": lambda: own("digits")},
        "MNIST 8,000": {"mnist": lambda: own("mnist")},
        "tables": {name: lambda name=name: own(name) for name in tables},
        "round sets": {name: lambda name=name: own(name) for name in MADE},
        "shapes": suite,
    }


def leiden(X: np.ndarray) -> np.ndarray:
    """Leiden as scanpy runs it: 15 neighbours along 50 principal axes, resolution 1."""
    import anndata
    import scanpy

    cells = anndata.AnnData(X.astype(np.float32))
    wide = X.shape[1] > 50
    if wide:
        scanpy.pp.pca(cells, n_comps=min(50, len(X) - 1))
    scanpy.pp.neighbors(cells, n_neighbors=15, use_rep="X_pca" if wide else "X")
    scanpy.tl.leiden(cells, flavor="leidenalg")
    return np.asarray(cells.obs["leiden"].cat.codes)


def evoc(X: np.ndarray) -> np.ndarray:
    return np.asarray(importlib.import_module("evoc").EVoC().fit_predict(X.astype(np.float32)))


WAYS: dict[str, tuple[str, Find]] = {  # the package that is needed
    "EVoC": ("evoc", evoc),
    "Leiden": ("scanpy", leiden),
    "HDBSCAN": ("sklearn", lambda X: HDBSCAN(copy=True).fit(X).labels_),
}


def with_another_draw(X: np.ndarray, draw: int) -> np.ndarray:
    """Labels of a fit whose runs take the nodes in other orders than they always do."""
    usual = community_levels.communities

    def drawn(*args: Any, **words: Any) -> Any:
        if "draw" in words:
            words["draw"] = (*words["draw"], draw)
        return usual(*args, **words)

    community_levels.communities = drawn
    try:
        return ModularityClustering().fit(X).labels_
    finally:
        community_levels.communities = usual


def measure(X: np.ndarray, labellings: list[np.ndarray]) -> dict[str, Any]:
    """Score and number of clusters by way, stability, and how labels of other draws agree."""
    model = ModularityClustering().fit(X)
    best = int(np.argmax(model.resolutions_ == model.resolution_))
    others = [with_another_draw(X, draw + 1) for draw in range(DRAWS)]
    pairs = itertools.combinations([model.labels_, *others], 2)
    found: dict[str, np.ndarray] = {OURS: model.labels_}
    for way, (package, find) in WAYS.items():
        try:
            importlib.import_module(package)
            found[way] = find(X)
        except ImportError:
            continue
        except Exception:  # a peer that cannot: all rows are in no cluster
            found[way] = np.full(len(X), -1)
    return {
        "rows": len(X),
        "clusters": sorted({int(y.max()) for y in labellings}),
        "stability": float(model.stability_[best]),
        "agreement": statistics.fmean(adjusted_rand_score(*pair) for pair in pairs),
        "found": {
            way: [max(score(labels, y) for y in labellings), int(labels.max()) + 1]
            for way, labels in found.items()
        },
    }


def page(found: dict[str, Any]) -> str:
    """The page, from what was measured."""
    ways = [OURS, *WAYS]
    lines = [
        "# Communities on many sets",
        "",
        "What [communities](algorithms/communities.md) find where nobody tells the number of "
        "clusters, all with their defaults:",
        "`ModularityClustering()`, `EVoC()`, Leiden as scanpy runs it (resolution 1) and "
        "`HDBSCAN()`. Adjusted Rand index and, in",
        "brackets, the number found; the best of the labellings that a set has, and rows in no "
        "cluster count as one more. A dash: not measured.",
        f"Features are in [0, 1], but for the suite's; sets have at most {MOST:,} rows. Written by "
        "`python -m benchmarks.communities`.",
        "",
        "    " + found["machine"].replace("\n", "\n    "),
        "",
        "S is the stability that a fit tells (`stability_` at the resolution that it took), and "
        "the agreement the mean adjusted",
        f"Rand index between its labels and those of {DRAWS} fits whose runs take the nodes in "
        "other orders, which users cannot choose.",
        "",
        f"| group | {' | '.join(ways)} |",
        "|---" * (len(ways) + 1) + "|",
    ]
    of_group = {
        group: {way: _mean(found["sets"], names, way) for way in ways}
        for group, names in ((group, list(members)) for group, members in groups().items())
    }
    for group, means in of_group.items():
        lines.append(f"| {group} | {' | '.join(_told(means[way]) for way in ways)} |")
    whole = [[means[way] for means in of_group.values()] for way in ways]
    told = [_told(None if None in one else statistics.fmean(one)) for one in whole]
    lines.append(f"| **mean of groups** | {' | '.join(told)} |")
    for group, members in groups().items():
        lines += ["", f"## {group[0].upper()}{group[1:]}", ""]
        lines += [f"| set (rows; clusters) | {' | '.join(ways)} | S | agreement |"]
        lines += ["|---" * (len(ways) + 3) + "|"]
        for name in members:
            one = found["sets"].get(name)
            if one is None:
                continue
            cells = [
                f"{short(one['found'][way][0], 2)} ({one['found'][way][1]})"
                if way in one["found"]
                else "-"
                for way in ways
            ]
            counts = ", ".join(map(str, one["clusters"]))
            lines.append(
                f"| {name} ({one['rows']:,}; {counts}) | {' | '.join(cells)} | "
                f"{short(one['stability'], 2)} | {short(one['agreement'], 2)} |"
            )
    lines += [*_held_out_lines(found["held out"]), *_graph_lines(found["graphs"])]
    return "\n".join(lines) + "\n"


def _held_out_lines(found: dict[str, list[float]]) -> list[str]:
    lines = [
        "",
        "## Rows held out",
        "",
        "A fit of four fifths of the rows, and the labels that it predicts for the others. How "
        "many of these rows, and in brackets of the old",
        "ones, have the same labels, named by the best match: in a refit of all rows; in one at "
        "its resolution that starts from the labels,",
        "each new row alone; and where single rows move from there until none gains, and "
        "communities do not join. Where old rows move as",
        "new ones do, the communities of more rows are others, and no answer for a row alone "
        "could be theirs. Means of two draws.",
        "",
        "| set | refit | from the labels | single rows from the labels |",
        "|---|---|---|---|",
    ]
    for name, shares in found.items():
        pairs = zip(shares[::2], shares[1::2], strict=True)
        cells = [f"{short(new, 3)} ({short(old, 3)})" for new, old in pairs]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _graph_lines(found: dict[str, dict[str, float]]) -> list[str]:
    lines = [
        "",
        "## Beside leidenalg, at resolution 1",
        "",
        'The modularity of `ModularityClustering(resolution=1, metric="precomputed")`, and that of '
        "ten seeds of leidenalg, each until",
        "nothing gains; computed from the labels by one formula.",
        "",
        "| graph | ours | best of ten seeds | mean of ten | ours / best |",
        "|---|---|---|---|---|",
    ]
    for name, one in found.items():
        values = " | ".join(f"{one[key]:.5f}" for key in ("ours", "best", "mean"))
        lines.append(f"| {name} | {values} | {one['ours'] / one['best']:.4f} |")
    return lines


def _mean(found: dict[str, Any], names: list[str], way: str) -> float | None:
    """The mean score of a group's sets; None where one was not measured."""
    if not all(name in found and way in found[name]["found"] for name in names):
        return None
    return statistics.fmean(found[name]["found"][way][0] for name in names)


def _told(value: float | None) -> str:
    return "-" if value is None else short(value, 3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of sets and graphs")
    parser.add_argument("--pages", action="store_true", help="write the page alone")
    arguments = parser.parse_args()
    quiet()
    found: dict[str, Any] = {"sets": {}, "graphs": {}, "held out": {}}
    if PLACE.exists():
        found |= json.loads(PLACE.read_text())
    if not arguments.pages:
        found["machine"] = header()
        whole = {name: make for members in groups().values() for name, make in members.items()}
        for kind, makers, ask in (
            ("graphs", graphs(), compared),
            ("sets", whole, lambda made: measure(*made)),
            (
                "held out",
                {name: whole[name] for name in HELD_OUT},
                lambda made: agreements(made[0]),
            ),
        ):
            for name, make in makers.items():
                wanted = name in arguments.only if arguments.only else name not in found[kind]
                if wanted:
                    found[kind][name] = ask(make())
                    print(name, found[kind][name], flush=True)
                    PLACE.write_text(json.dumps(found, indent=1) + "\n")
    (DOCS / "communities.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
