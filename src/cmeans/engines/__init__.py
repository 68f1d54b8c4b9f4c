"""Engines that run passes over rows."""

from .base import Chain, ChunkedRows, Engine, NumberedPass, Pass, without_checkpoint
from .beside import engine_beside
from .dask.engine import DaskEngine
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = [
    "Chain",
    "ChunkedRows",
    "DaskEngine",
    "Engine",
    "NumberedPass",
    "Pass",
    "ThreadEngine",
    "count_threads",
    "engine_beside",
    "usable_cpus",
    "without_checkpoint",
]
