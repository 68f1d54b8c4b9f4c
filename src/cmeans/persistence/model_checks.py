"""Consistency checks of a model that was read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.outputs import TopMemberships
from ..data.powers import PowerUnits
from ..estimators.landmark_graph import LandmarkGraph
from ..fitting.streams.stream_fit import StreamingBase
from ..fitting.streams.stream_state import StreamState
from ..kernels import LandmarkGraphKernel
from ..spaces import Space

NEEDED = {
    "_space",
    "_state",
    "_rule",
    "_training_diag",
    "_n_features_out",
    "kernel_",
    "n_features_in_",
}
OF_EMBEDDING = {
    "kernel_",
    "eigenvalues_",
    "n_clusters_suggested_",
    "landmarks_",
    "landmark_indices_",
    "n_features_in_",
}


def check_parameters(model: Any) -> None:
    """Refuse constructor parameters that a fit would refuse for any rows, with the same errors."""
    model._checked()


def check_model(model: Any) -> None:
    """Check that the parts fit together, so that a changed file fails here and not in `predict`:
    each is of its type, and has checked itself."""
    if (own := getattr(model, "_check_stored", None)) is not None:
        own()
        return
    embedding = isinstance(model, LandmarkGraph)
    missing = (OF_EMBEDDING if embedding else NEEDED) - set(vars(model))
    if missing:
        raise ValueError(f"{sorted(missing)} missing")
    if embedding:
        _check_embedding(model)
        return
    space, state, rule = model._space, model._state, model._rule
    c = len(state.centres)
    if (
        state.centres.coordinates.shape[1] != space.n_coordinates
        or c == 0
        or model._n_features_out != c
    ):
        raise ValueError(f"centres of shape {state.centres.coordinates.shape} do not fit the model")
    if rule.rows_sum_to_one != model._sums_to_one:
        raise ValueError(f"{type(rule).__name__} is no rule of {type(model).__name__}")
    if rule.needs_pilot and (state.scales is None or not (state.scales > 0).all()):
        raise ValueError("the clusters' scales are missing or not positive")
    if rule.has_prices and (state.scales is None or not np.isfinite(state.scales).all()):
        raise ValueError("the clusters' prices are missing or no numbers")
    if model.kernel_ != space.kernel:
        raise ValueError("the kernel is not that of the space")
    if not space.is_portable:
        raise ValueError(
            "the space is none that a model keeps, as it has a factor or training rows"
        )
    _check_features(model, space)
    u = vars(model).get("memberships_")
    if u is not None and not (isinstance(u, np.ndarray) and np.issubdtype(u.dtype, np.floating)):
        raise ValueError("memberships_ is no array of numbers")
    top = vars(model).get("memberships_top_k_")
    if top is not None and not _fit_together(top, c):
        raise ValueError("memberships_top_k_ are no memberships in clusters of the model")
    if isinstance(model, StreamingBase):
        _check_stream(model, vars(model).get("_stream"))


def _fit_together(top: TopMemberships, n_clusters: int) -> bool:
    """Return True where memberships have the numbers of clusters that there are."""
    values, clusters = top.values, top.clusters
    dense = isinstance(values, np.ndarray) and np.issubdtype(values.dtype, np.floating)
    if not dense or values.shape != clusters.shape or clusters.ndim != 2:
        return False
    return bool(((clusters >= 0) & (clusters < n_clusters)).all())


def _check_embedding(model: Any) -> None:
    """Check that rows of the model's features can be embedded."""
    _check_names(model)
    if (
        not isinstance(model.kernel_, LandmarkGraphKernel)
        or model.kernel_.n_features_in != model.n_features_in_
    ):
        raise ValueError(
            f"{type(model.kernel_).__name__} is no graph of {model.n_features_in_} features"
        )


def _check_names(model: Any) -> None:
    """Check the number of features and their names."""
    d, names = model.n_features_in_, vars(model).get("feature_names_in_")
    if type(d) is not int:
        raise ValueError("the number of features is no integer")
    if names is not None and (
        not isinstance(names, np.ndarray) or names.dtype != object or names.shape != (d,)
    ):
        raise ValueError("the names of the features do not fit their number")


def _check_features(model: Any, space: Space) -> None:
    """Check that all parts have the same number of features."""
    _check_names(model)
    if type(model._n_features_out) is not int:
        raise ValueError("the number of clusters is no integer")
    d, factors = model.n_features_in_, model._factors
    if factors is not None:
        known = (
            isinstance(factors, np.ndarray)
            and factors.dtype == np.float64
            and factors.shape == (d,)
        )
        if not known or not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError("the factors of the features do not fit their number")
    powers = model._powers
    if powers is not None and not (isinstance(powers, PowerUnits) and len(powers.powers) == d):
        raise ValueError("the powers of the features do not fit their number")
    space.check(d, model._training_diag)


def _check_stream(model: Any, stream: Any) -> None:
    """Check that the next chunk can continue from this state."""
    if not isinstance(stream, StreamState):
        raise ValueError("the state of the stream is missing")
    past = stream.past
    if (
        past.space.kernel != model.kernel_
        or stream.rule != model._rule
        or len(past.centres) != len(model._state.centres)
        or (past.scatter is None) != (model._state.metrics is None)
    ):
        raise ValueError(
            "the stream has another kernel, rule or number of clusters than the model, or other "
            "metrics"
        )
    past.space.check(model.n_features_in_, model._training_diag)
    if stream.reserve is not None and (past.space.basis_points is None or past.space.is_portable):
        raise ValueError(
            "the stream goes on choosing landmarks, and its space cannot say how well it "
            "represents rows"
        )
    if stream.held is not None and stream.held.x.shape[1] != model.n_features_in_:
        raise ValueError("the rows that the stream holds do not fit the model's features")
