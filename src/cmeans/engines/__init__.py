"""Engines: who runs a fold."""

from .base import Engine, Job
from .dask_engine import DaskEngine
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = ["DaskEngine", "Engine", "Job", "ThreadEngine", "count_threads", "usable_cpus"]
