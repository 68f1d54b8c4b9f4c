"""`cmeans info`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .predicting import open_model


def describe_model(file: Path) -> dict[str, Any]:
    """The header of a model file as flat facts; arrays by type and shape."""
    stored = open_model(file)
    return {
        "model": str(file),
        "bytes": file.stat().st_size,
        "estimator": stored["estimator"],
        "version": stored["version"],
        "params": stored["params"],
        "fitted": stored["fitted"],
        "arrays": stored["arrays"],
        "metadata": stored.get("metadata") or {},
    }
