"""Engines that run passes over rows."""

from .base import Chain, Engine, NumberedPass, Pass
from .dask.engine import DaskEngine
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = ["Chain", "DaskEngine", "Engine", "NumberedPass", "Pass", "ThreadEngine", "count_threads", "usable_cpus"]
