"""What a refactoring must not change by a single bit: `python -m benchmarks.panel --help`."""

from . import command, files, fits, inputs, interrupted, measures, models, streams  # noqa: F401  each adds its cases
from .cases import CASES

__all__ = ["CASES"]
