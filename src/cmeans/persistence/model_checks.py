"""Consistency checks of a model that was read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..data.arrays import is_sparse
from ..fitting.stream_fit import StreamingBase
from ..fitting.stream_state import StreamState, WarmupBuffer
from ..kernels import Precomputed
from ..landmarks.certificate import Approximation
from ..spaces import EuclideanSpace, LandmarkSpace
from ..streaming import LandmarkCandidates, StreamSummary
from ..sweeps.state import State

NEEDED = {"_space", "_state", "_rule", "_training_diag", "_n_features_out", "kernel_", "n_features_in_"}


def check_words(model: Any) -> None:
    """Refuse constructor parameters that a fit would refuse for any rows, with the same errors."""
    model._checked()


def check_model(model: Any, known: Collection[type[Any]]) -> None:
    """Check that the parts fit together, so that a changed file fails here and not in `predict`."""
    missing = NEEDED - set(vars(model))
    if missing:
        raise ValueError(f"{sorted(missing)} missing")
    space, state = model._space, model._state
    if not isinstance(space, (EuclideanSpace, LandmarkSpace)) or not isinstance(state, State) or type(model._rule) not in known:
        raise ValueError("space, state or rule is missing")
    _check_attributes(model)
    certificate = vars(model).get("approximation_")
    if certificate is not None and not isinstance(certificate, Approximation):
        raise ValueError("the certificate is none")
    coordinates, duals = state.centres.coordinates, state.centres.duals
    if coordinates.ndim != 2 or coordinates.shape != duals.shape or coordinates.shape[1] != space.size or len(coordinates) == 0:
        raise ValueError(f"centres of shape {coordinates.shape} do not fit a space of size {space.size}")
    if model._n_features_out != len(coordinates):
        raise ValueError("the number of centres is wrong")
    if model._rule.needs_pilot and (state.scales is None or state.scales.shape != (len(coordinates),) or not (state.scales > 0).all()):
        raise ValueError("the clusters' scales are missing or not positive")
    factors = model._factors
    if factors is not None and not (
        isinstance(factors, np.ndarray)
        and factors.dtype == np.float64
        and factors.shape == (model.n_features_in_,)
        and bool((np.isfinite(factors) & (factors > 0)).all())
    ):
        raise ValueError("the factors of the features do not fit their number")
    if isinstance(model, StreamingBase):
        _check_stream(model, vars(model).get("_stream"))
    if isinstance(space, LandmarkSpace):
        if space.whitener is not None:
            raise ValueError("the space of a model has no factor")
        _check_landmarks(model, space)
    elif space.shift.shape != (model.n_features_in_,):
        raise ValueError(f"a space of {space.shift.shape} does not fit {model.n_features_in_} features")


def _check_attributes(model: Any) -> None:
    if model._rule.rows_sum_to_one != model._sums_to_one:
        raise ValueError(f"{type(model._rule).__name__} is no rule of {type(model).__name__}")
    if model.kernel_ != model._space.kernel:
        raise ValueError("the kernel is not that of the space")
    if type(model.n_features_in_) is not int or type(model._n_features_out) is not int:
        raise ValueError("the numbers of features are no integers")
    names = vars(model).get("feature_names_in_")
    if names is not None and (not isinstance(names, np.ndarray) or names.dtype != object or names.shape != (model.n_features_in_,)):
        raise ValueError("the names of the features do not fit their number")
    for name, kind in {"labels_": np.integer, "memberships_": np.floating, "_nearest": np.floating}.items():
        array = vars(model).get(name)
        if array is not None and not (isinstance(array, np.ndarray) and np.issubdtype(array.dtype, kind)):
            raise ValueError(f"{name} is no array of {kind.__name__}")


def _check_stream(model: Any, stream: Any) -> None:
    """Check that the next chunk can continue from this state."""
    if not isinstance(stream, StreamState) or not isinstance(stream.past, StreamSummary):
        raise ValueError("the state of the stream is missing")
    past, c = stream.past, len(model._state.centres)
    space, coordinates, duals = past.space, past.centres.coordinates, past.centres.duals
    if not isinstance(space, (EuclideanSpace, LandmarkSpace)) or space.kernel != model.kernel_ or stream.rule != model._rule:
        raise ValueError("the stream has another space, kernel or rule than the model")
    width, s = space.size, space.size
    if isinstance(space, EuclideanSpace) and space.shift.shape != (model.n_features_in_,):
        raise ValueError(f"a stream in a space of {space.shift.shape} does not fit {model.n_features_in_} features")
    if isinstance(space, LandmarkSpace):
        _check_landmarks(model, space)
        s = int(space.points.shape[0])
        if space.whitener is not None:
            if space.gram is None or space.whitener.ndim != 2 or len(space.whitener) != space.size:
                raise ValueError("the factor of the stream's landmarks does not fit them")
            width = space.whitener.shape[1]
    if coordinates.shape != (c, width) or duals.shape != (c, width):
        raise ValueError(f"the stream's centres of shape {coordinates.shape} do not fit {c} clusters in a space of {width}")
    if isinstance(space, LandmarkSpace) and space.gram is not None and space.gram.shape != (s, s):
        raise ValueError("the kernel of the stream's landmarks does not fit them")
    if past.mass.shape != (c,) or past.spread.shape != (c,) or (past.mass < 0).any() or (past.spread < 0).any():
        raise ValueError("the masses of the stream do not fit its clusters")
    if stream.dtype not in ("float32", "float64") or not stream.unit > 0 or not 0 <= stream.seed < 2**32:
        raise ValueError("the stream's own numbers are damaged")
    held = stream.held
    if held is not None and (
        not isinstance(held, WarmupBuffer)
        or held.x.shape != (len(held.weight), model.n_features_in_)
        or str(held.x.dtype) != stream.dtype
        or not (np.isfinite(held.weight) & (held.weight >= 0)).all()
    ):
        raise ValueError("the rows that the stream holds are damaged")
    counts = (stream.n_chunks, stream.n_samples, stream.row_visits)
    if any(not 0 <= count < 2**53 for count in counts) or not (stream.reserve is None or isinstance(stream.reserve, LandmarkCandidates)):
        raise ValueError("the stream's counters are damaged")


def _check_landmarks(model: Any, space: LandmarkSpace) -> None:
    points, diag = space.points, model._training_diag
    centring = space.centring
    if centring is not None and (centring.row_means.shape != (points.shape[0],) or not 0 <= centring.scale < 1e150):
        raise ValueError("the landmarks do not fit together")
    if not isinstance(space.kernel, Precomputed):
        if diag is not None or points.ndim != 2 or points.shape[1] != model.n_features_in_ or not np.issubdtype(points.dtype, np.floating):
            raise ValueError(f"landmarks of shape {points.shape} and {points.dtype} do not fit {model.n_features_in_} features")
        return
    if not isinstance(diag, np.ndarray) or diag.ndim != 1 or diag.dtype != np.float64 or len(diag) == 0 or not np.isfinite(diag).all():
        raise ValueError("the diagonal of the training rows is missing or damaged")
    if is_sparse(points) or points.ndim != 1 or not np.issubdtype(points.dtype, np.integer):
        raise ValueError("the landmarks of a precomputed kernel are no column numbers")
    if len(points) and (points.min() < 0 or points.max() >= model.n_features_in_):
        raise ValueError(f"column numbers beyond the {model.n_features_in_} columns")
