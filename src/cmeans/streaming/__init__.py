"""Streams: rows that come chunk by chunk and are not kept."""

from .dictionary import LandmarkCandidates, first_landmarks, further_landmarks, unknown_share
from .merging import together
from .patches import carried_points, points_of
from .projection import PROJECTIONS, Projection, chunk_space, projected
from .summary import MetaVectors, SettledSums, StreamSummary

__all__ = [
    "PROJECTIONS",
    "LandmarkCandidates",
    "MetaVectors",
    "Projection",
    "SettledSums",
    "StreamSummary",
    "carried_points",
    "chunk_space",
    "first_landmarks",
    "further_landmarks",
    "points_of",
    "projected",
    "together",
    "unknown_share",
]
