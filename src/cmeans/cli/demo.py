"""`cmeans demo`: a fit and a prediction on real data, by the same code as for a user's own file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from .fit_request import LABELS_AS, MODEL, FitRequest
from .fitting import fit
from .models import PredictRequest, predict
from .output.results import read_labels, results_folder, staged_file, write_columns
from .output.terminal import Screen
from .reporting import HAS_PAGES
from .rows import ReadOptions

_DATA, _PREDICTED, _SEED, _STARTS = "wine.parquet", "predicted.parquet", 0, 5
_OPTIONS = ["-c", 3, "--scale", "standard", "--n-init", _STARTS]  # the seed is the command's own


def demo(out: Path, screen: Screen) -> dict[str, Any]:
    """Write the data, fit, predict, compare with the known classes, and suggest the next
    commands."""
    from sklearn.datasets import load_wine  # which takes a tenth of all that a command loads

    wine = load_wine()
    truth, file = wine.target, out / _DATA
    screen.say(
        "178 Italian wines of 3 cultivars, 13 chemical measurements each; the cultivars are not "
        "shown to the method"
    )
    with results_folder(out), staged_file(file) as place:
        write_columns(place, dict(zip(wine.feature_names, wine.data.T, strict=True)))
    summary = fit(_request(file, out), screen)
    predict(PredictRequest(out / MODEL, ReadOptions(file), out / _PREDICTED), screen)
    labels = read_labels(out / LABELS_AS["parquet"])
    index, pure = float(adjusted_rand_score(truth, labels)), purity(truth, labels)
    screen.say(
        f"against the cultivars: adjusted Rand index {index:.2f} (1 is perfect), purity {pure:.2f}"
    )
    same = bool(np.array_equal(labels, read_labels(out / _PREDICTED)))
    agreement = {
        "adjusted_rand_index": round(index, 4),
        "purity": round(pure, 4),
        "predict_equals_fit": same,
    }
    following = next_commands(file, out)
    if not screen.for_people:
        screen.say("the same by hand, and next with your own file:")
        for step in following:
            screen.say(f"  {step['command']}")
    outputs = {"data": str(file), **summary["outputs"], "predicted": str(out / _PREDICTED)}
    return {
        **summary,
        "command": "demo",
        "agreement": agreement,
        "outputs": outputs,
        "next": following,
    }


def _request(file: Path, out: Path) -> FitRequest:
    words, files = {"n_clusters": 3, "n_init": _STARTS}, {"file": str(file), "out": str(out)}
    return FitRequest(
        ReadOptions(file),
        out,
        "fuzzy",
        {**words, "random_state": _SEED},
        scale="standard",
        report=HAS_PAGES,
        config={**files, **words, "scale": "standard", "report": HAS_PAGES},
    )


def next_commands(file: Path, out: Path) -> list[dict[str, str]]:
    """Return command lines that do what the demo did; `fit` uses the same seed by default."""
    commands = {
        "the same fit by hand, and next with your own file": ["fit", file, *_OPTIONS, "--out", out],
        "the same labels by its model": ["predict", out / MODEL, file, "--out", out / _PREDICTED],
        "what the model holds": ["info", out / MODEL],
    }
    return [
        {"why": why, "command": shlex.join(["cmeans", *map(str, words)])}
        for why, words in commands.items()
    ]


def purity(truth: NDArray[Any], labels: NDArray[Any]) -> float:
    """Fraction of the rows whose class is the largest class of their cluster."""
    return float(contingency_matrix(truth, labels).max(axis=0).sum() / len(truth))
