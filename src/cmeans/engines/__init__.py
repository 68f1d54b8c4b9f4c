"""Engines that run passes over rows."""

from .base import Chain, ChunkedRows, Engine, NumberedPass, Pass, without_checkpoint
from .dask.engine import DaskEngine
from .of_rows import brought, column_beside, engine_of_rows, rows_held
from .parts.engine import HoldingEngine, PartsOfFiles
from .parts.holder import Holder
from .parts.orders import Answer, Work
from .ray import RayEngine
from .spark import SparkEngine
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = [
    "Answer",
    "Chain",
    "ChunkedRows",
    "DaskEngine",
    "Engine",
    "Holder",
    "HoldingEngine",
    "NumberedPass",
    "PartsOfFiles",
    "Pass",
    "RayEngine",
    "SparkEngine",
    "ThreadEngine",
    "Work",
    "brought",
    "column_beside",
    "count_threads",
    "engine_of_rows",
    "rows_held",
    "usable_cpus",
    "without_checkpoint",
]
