"""A page to explore rows with, of which the clusters need not be known."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..evidence.record import Evidence
from ..inspection.exploration import Exploration
from ..inspection.explore import explore as explore_model
from .auto_clustering import cluster


def explore(
    model: Any,
    X: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    **words: Any,
) -> Exploration:
    """Make a page to explore clusters with: of rows alone, which are clustered as they speak for,
    of a model and rows, or of evidence and rows.

    It is one file for any browser, without a network; a notebook shows it in its cell.

    Parameters
    ----------
    model : rows alone, as `cmeans.cluster` takes them; or, with X, a fitted model or several, as
        `cmeans.inspection.explore` takes them, or the evidence of a choice: `Evidence`, of which
        the winner is fitted to X.
    X : rows, default=None: those in the place of the model.
    path : str or path, default=None
        The file to write, .html. None: none.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    **words : the other arguments of `cmeans.inspection.explore`: names, texts, coordinates, others
        to stand beside.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError
        For a model without rows, and whatever `cmeans.cluster` and `cmeans.inspection.explore`
        refuse.
    ImportError
        Without jinja2, which `pip install "cmeans[report]"` brings.

    Examples
    --------
    >>> import cmeans
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> cmeans.explore(X, n_clusters=())
    Exploration(300 rows, 4 partitions, not saved; .save(path) writes it)
    """
    if isinstance(model, Evidence) and X is not None:
        model = _winner(model, X, sample_weight)
    elif X is None and not _is_known(model):
        model, X = cluster(model, sample_weight=sample_weight), model
    return explore_model(model, X, path, sample_weight=sample_weight, **words)


def _winner(evidence: Evidence, X: Any, sample_weight: Any) -> Any:
    """Return the clustering that evidence is for, with all that it says."""
    model = cluster(
        X,
        evidence.n_clusters,
        candidates=[evidence.space],
        scaling=evidence.scaling_name,
        sample_weight=sample_weight,
    )
    model.evidence_ = evidence
    return model


def _is_known(model: Any) -> bool:
    """True of a model, of models, and of what a choice ended in; rows are none of these."""
    if isinstance(model, Mapping | list | tuple):
        some = model.values() if isinstance(model, Mapping) else model
        return any(map(_is_known, list(some)[:1]))
    return isinstance(model, Evidence) or hasattr(model, "predict") or hasattr(model, "estimator")
