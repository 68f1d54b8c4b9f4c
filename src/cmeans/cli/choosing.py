"""The method and the number of clusters of `cmeans fit` where neither is given: by evidence."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from ..estimators.auto_clustering import AutoClustering
from ..fitting.rows.finite import without_partial
from .errors import InputError
from .fitting import FitRequest, prepared_rows, with_front
from .option_values import METHODS, option_of
from .output.terminal import Screen

CHOSEN = "auto"  # where no method is given
# spaces that win, as methods and parameters of the command
AS_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("hard", {"kernel": "linear"}),
    "graph": ("hard", {"kernel": "landmark_graph"}),
    "covariances": ("gaussian", {}),
    "pieces": ("connected", {}),
    "communities": ("communities", {}),
}
TAKEN = ("n_clusters", "random_state", "n_jobs", "memory_budget")


def with_choice(request: FitRequest, screen: Screen) -> FitRequest:
    """Return the request with the method and the number of clusters that the rows speak for."""
    for word in request.words:
        if word not in TAKEN:
            raise InputError(
                f"{option_of(word)}: belongs to a method; give one by --method, and the number of "
                "clusters by -c."
            )
    if request.plan or request.scheduler is not None:
        raise InputError("--plan, --engine dask: give the number of clusters, e.g. -c 3.")
    # rows as any method takes them
    reading, front = with_front(replace(request, method="hard", words={}), METHODS)
    with without_partial(False):
        rows, _ = prepared_rows(reading, front, screen, stays=False)
    if rows.x.dtype.kind == "f" and not rows.stay and (rows.x != rows.x).any():
        raise InputError("--clusters: cells are empty; give the number of clusters, e.g. -c 3.")
    model = AutoClustering(
        request.words.get("n_clusters", "auto"),
        candidates=list(AS_METHODS),
        scaling="auto" if request.scale in (None, "none") else "none",
        random_state=request.words.get("random_state", 0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evidence says it
        model.fit(rows.x, sample_weight=None if rows.stay else rows.weight)
    for line in str(model.evidence_).splitlines():
        screen.say(line)
    number = model.n_clusters_
    space = "plain" if number == 1 else model.evidence_.space
    method, own = AS_METHODS[space]
    kept = {word: value for word, value in request.words.items() if word != "n_clusters"}
    scale = model.evidence_.scaling_name if request.scale in (None, "none") else request.scale
    return replace(
        request, method=method, scale=scale, words=kept | own | {"n_clusters": int(number)}
    )
