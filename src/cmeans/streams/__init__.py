"""Streams: rows that come chunk by chunk and are not kept."""

from .dictionary import Reserve, first_landmarks, further_landmarks, unknown_share
from .merging import together
from .past import MetaVectors, Past, SettledSums
from .patches import carried_points, points_of
from .projection import PROJECTIONS, chunk_space, projected

__all__ = [
    "PROJECTIONS",
    "MetaVectors",
    "Past",
    "Reserve",
    "SettledSums",
    "carried_points",
    "chunk_space",
    "first_landmarks",
    "further_landmarks",
    "points_of",
    "projected",
    "together",
    "unknown_share",
]
