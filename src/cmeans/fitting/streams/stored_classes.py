"""Classes of the objects that the state of a stream holds, by their names in files; a model of a stream holds them too."""

from __future__ import annotations

from typing import Any

from ...kernels import (
    RBF,
    Cosine,
    Gower,
    HistogramIntersection,
    LandmarkGraphKernel,
    Laplacian,
    Linear,
    NormalizedPolynomial,
    Polynomial,
    Precomputed,
    PrecomputedGraphKernel,
    Sigmoid,
)
from ...rules import RULES
from ...spaces import EuclideanSpace, FeatureSpace, LandmarkSpace, PartialSpace
from ...spaces.centres import Centres
from ...spaces.kernel_centring import Centring
from ...streaming import LandmarkCandidates, StreamSummary
from .stream_state import StreamState, WarmupBuffer

_BY_CLASS: tuple[type[Any], ...] = (
    *(Cosine, Gower, Laplacian, Linear, NormalizedPolynomial, Polynomial, Precomputed, RBF, Sigmoid),
    *(HistogramIntersection, LandmarkGraphKernel, PrecomputedGraphKernel),
    *RULES.values(),
    *(EuclideanSpace, FeatureSpace, LandmarkSpace, PartialSpace, Centring, Centres),
)
OF_STREAMS: dict[str, type[Any]] = {cls.__name__: cls for cls in _BY_CLASS} | {
    "Stream": StreamState,
    "Past": StreamSummary,
    "Reserve": LandmarkCandidates,
    "Held": WarmupBuffer,
}
