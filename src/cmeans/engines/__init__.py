"""Engines: who runs a fold."""

from .base import Engine
from .threads import ThreadEngine, count_threads, usable_cpus

__all__ = ["Engine", "ThreadEngine", "count_threads", "usable_cpus"]
