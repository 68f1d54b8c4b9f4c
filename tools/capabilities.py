"""What each estimator takes and gives, docs/capabilities.md, from attempts: python -m
tools.capabilities."""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import ClusterMixin

import cmeans
from cmeans import Sizes
from cmeans.engines import Engine, HoldingEngine
from cmeans.engines.dask.session import DaskSession
from cmeans.engines.parts.session import HeldSession
from cmeans.fitting.together import TABLE
from cmeans.rules import RULES

# what users hold elsewhere and an engine takes
HELD = {
    "DaskEngine": "arrays and data frames of Dask",
    "SparkEngine": "data frames of Spark",
    "RayEngine": "`ray.data.Dataset`",
    "HoldingEngine": "what its `held` reads",
}
PAGE = Path(__file__).parent.parent / "docs" / "capabilities.md"
HEAD = """# What each estimator takes and gives

Found by attempts on 120 rows, which a test repeats (`python -m tools.capabilities`). All of them take float32 and keep it.
What does not go together comes from the table by which fits refuse it.
"""
ROWS = np.random.default_rng(0).normal(size=(120, 3)) + 9 * (np.arange(120)[:, None] // 40)
QUICK = {"random_state": 0, "eta_scale": 0.1, "chunk_size": 60, "patch_size": 60, "n_clusters": 3}


def with_file(use: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", ROWS)
        return use(folder)


def affinities() -> Any:
    return scipy.sparse.csr_array(np.exp(-((ROWS[:, None] - ROWS[None]) ** 2).sum(axis=2)))


def linear(model: Any) -> Any:
    """Return the model with rows as they are, where it has a choice."""
    return model.set_params(kernel="linear") if "kernel" in model.get_params() else model


def with_holes() -> np.ndarray:
    X = ROWS.copy()
    X[::10, 1] = np.nan
    return X


KNOWN = np.where(np.arange(120) % 40 == 0, np.arange(120) // 40, -1)
ATTEMPTS: dict[str, Callable[[Any], Any]] = {
    "weights (`sample_weight=`)": lambda model: model.fit(ROWS, sample_weight=np.ones(120)),
    "sparse rows": lambda model: model.fit(scipy.sparse.csr_array(ROWS)),
    "new rows (`predict`)": lambda model: model.fit(ROWS).predict(ROWS[:3]),
    "files": lambda model: with_file(lambda folder: model.fit(f"{folder}/rows.npy")),
    "any kernel": lambda model: model.set_params(kernel="rbf").fit(ROWS),
    "the landmark graph": lambda model: model.set_params(kernel="landmark_graph").fit(ROWS),
    "Dask": lambda model: (
        model.set_params(engine=None) if "engine" in model.get_params() else 1 / 0
    ),
    "checkpoints (`ThreadEngine(checkpoint=)`)": lambda model: with_file(
        lambda folder: model.set_params(
            engine=cmeans.ThreadEngine(checkpoint=f"{folder}/fit.checkpoint")
        ).fit(ROWS)
    ),
    "a given kernel": lambda model: model.set_params(kernel="precomputed").fit(ROWS @ ROWS.T),
    "a given graph": lambda model: model.set_params(kernel="precomputed_graph").fit(affinities()),
    "soft memberships": lambda model: 1 / bool(np.unique(model.fit(ROWS).memberships_).size > 2),
    "known labels (`known_labels=`)": lambda model: model.fit(ROWS, known_labels=KNOWN),
    "rows that share a cluster (`must_link=`)": lambda model: model.fit(ROWS, must_link=[[0, 1]]),
    "missing values (`missing=`)": lambda model: linear(model.set_params(missing="partial")).fit(
        with_holes()
    ),
    "centres of length one (`metric=`)": lambda model: model.set_params(metric="cosine").fit(
        ROWS + 20
    ),
    "bounds of sizes (`sizes=`)": lambda model: model.set_params(sizes=Sizes(least=10)).fit(ROWS),
    "few memberships a row (`top_k=`)": lambda model: model.set_params(top_k=2).fit(ROWS),
    "covariances (`covariance=`)": lambda model: model.set_params(
        covariance="full", **({"kernel": "linear"} if "kernel" in model.get_params() else {})
    ).fit(ROWS),
    "a noise cluster (`noise=`)": lambda model: model.set_params(noise=0.1).fit(ROWS),
    "chunk after chunk (`partial_fit`)": lambda model: model.partial_fit(ROWS),
    "the number of clusters found": lambda model: (
        model.set_params(n_clusters=(1, 4)) if "n_clusters" in model.get_params() else model
    ).fit(ROWS),
}


def estimators() -> dict[str, type]:
    classes = {name: getattr(cmeans, name) for name in cmeans.__all__}
    return {
        name: value
        for name, value in classes.items()
        if inspect.isclass(value) and issubclass(value, ClusterMixin)
    }


def able(estimator: Callable[..., Any], attempt: Callable[[Any], Any]) -> bool:
    """Return True where the attempt gets through."""
    known = {
        word: value
        for word, value in QUICK.items()
        if word in inspect.signature(estimator).parameters
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            attempt(estimator(**known))
        except (ValueError, TypeError, AttributeError, ZeroDivisionError):
            return False
    return True


def page() -> str:
    classes = estimators()
    able_ones = {
        name: [other for other, one in classes.items() if able(one, attempt)]
        for name, attempt in ATTEMPTS.items()
    }
    lines = ["## By what it is", "", "| what | which |", "|---|---|"]
    for name, able_here in able_ones.items():
        lacking = [other for other in classes if other not in able_here]
        few = f"all but {linked(lacking)}" if lacking else "all"
        lines.append(f"| {name} | {few if len(lacking) < 4 else linked(able_here)} |")
    common = {name for name, able_here in able_ones.items() if len(able_here) == len(classes)}
    lines += ["", "## By estimator", "", "Beyond what all have:", ""]
    for other in classes:
        more = [
            name.partition(" (")[0]
            for name, able_here in able_ones.items()
            if other in able_here and name not in common
        ]
        lines.append(f"- {linked([other])}: {', '.join(more)}.")
    return HEAD + "\n" + "\n".join([*lines, *by_rule(), *by_engine(), *apart()]) + "\n"


def by_rule() -> list[str]:
    """Return the lines on what `CMeans` takes with each of its rules."""
    sizes, few = "bounds of sizes (`sizes=`)", "few memberships a row (`top_k=`)"
    attempts = {
        name.partition(" (")[0]: ATTEMPTS[name] for name in ATTEMPTS if name in (sizes, few)
    }
    attempts["annealing"] = lambda model: model.set_params(search="annealing").fit(ROWS)
    lines = [
        "",
        "## By rule",
        "",
        "Of {py:obj}`~cmeans.CMeans`, beyond what all of its rules have:",
        "",
    ]
    for rule in RULES:
        made = partial(cmeans.CMeans, rule=rule)
        if able(made, lambda model: model.fit(ROWS)):
            more = [name for name, attempt in attempts.items() if able(made, attempt)]
            lines.append(f'- `rule="{rule}"`: {", ".join(more) or "nothing"}.')
    return lines


def by_engine() -> list[str]:
    """Return the lines on what engines do, from which of an engine's methods each has of its
    own."""
    made = {
        "{py:obj}`~cmeans.ThreadEngine`": (cmeans.ThreadEngine, cmeans.ThreadEngine),
        "{py:obj}`~cmeans.DaskEngine`": (cmeans.DaskEngine, DaskSession),
        "{py:obj}`~cmeans.SparkEngine`": (cmeans.SparkEngine, HeldSession),
        "{py:obj}`~cmeans.RayEngine`": (cmeans.RayEngine, HeldSession),
        "your own, with a `Holder`": (HoldingEngine, HeldSession),
        "your own, with `map`": (Engine, Engine),
    }

    def said(engine: type, session: type) -> list[str]:
        there = session.fold is not Engine.fold  # sums are made where rows are
        return [
            "workers" if engine.reader_of is not Engine.reader_of else "this process",
            HELD.get(engine.__name__, "none"),
            "beside the rows" if there else "here",
            "here, chunk by chunk" if session is not DaskSession else "beside the rows",
            "of the partition, for any workers" if there else "of any number of threads",
        ]

    titles = "files are read by", "rows of its own", "sweeps, draws, labels", "streams", "bits are"
    lines = ["", "## By engine", "", f"| | {' | '.join(titles)} |", "|---" * 6 + "|"]
    return lines + [f"| {name} | {' | '.join(said(*kinds))} |" for name, kinds in made.items()]


def apart() -> list[str]:
    """Return the lines on features that do not go together."""
    lines = ["", "## What does not go together", "", "| | with | as |", "|---|---|---|"]
    return lines + [f"| {_spelled(row.one)} | {_spelled(row.other)} | {row.why} |" for row in TABLE]


def _spelled(feature: str) -> str:
    """Return a feature as code where it is one, as the sentence has it where it is not."""
    return feature if " " in feature else f"`{feature}`"


def linked(names: list[str]) -> str:
    return ", ".join(f"{{py:obj}}`~cmeans.{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
