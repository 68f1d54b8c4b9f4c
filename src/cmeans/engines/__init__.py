"""Engines: who runs a fold."""

from .base import Engine, Job
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = ["Engine", "Job", "ThreadEngine", "count_threads", "usable_cpus"]
