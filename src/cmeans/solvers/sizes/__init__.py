"""Clusters whose sizes lie between bounds: prices by a concave dual, an exact assignment, centres,
and so on; of many clusters, rows placed at least cost among those that each knows."""

from __future__ import annotations

from .prices import SizeBounds, SizeLimits
from .solve import Sized, bytes_of_placing

__all__ = ["SizeBounds", "SizeLimits", "Sized", "bytes_of_placing"]
