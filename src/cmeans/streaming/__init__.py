"""Streams: rows that come chunk by chunk and are not kept."""

from .dictionary import LandmarkCandidates, first_landmarks, further_landmarks, unknown_share
from .merging import together
from .summary import SettledSums, StreamSummary

__all__ = [
    "LandmarkCandidates",
    "SettledSums",
    "StreamSummary",
    "first_landmarks",
    "further_landmarks",
    "together",
    "unknown_share",
]
