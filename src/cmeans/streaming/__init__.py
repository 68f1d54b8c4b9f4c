"""Streams: rows that come chunk by chunk and are not kept."""

from .dictionary import LandmarkCandidates, first_landmarks, further_landmarks, unknown_share
from .merging import together
from .projection import PROJECTIONS, Projection, chunk_space, projected
from .summary import MetaVectors, SettledSums, StreamSummary

__all__ = [
    "PROJECTIONS",
    "LandmarkCandidates",
    "MetaVectors",
    "Projection",
    "SettledSums",
    "StreamSummary",
    "chunk_space",
    "first_landmarks",
    "further_landmarks",
    "projected",
    "together",
    "unknown_share",
]
