"""`cmeans info`: the contents of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .predicting import open_model


def describe_model(file: Path) -> dict[str, Any]:
    """Return the header of a model file as flat facts; arrays by type and shape."""
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


def briefly(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts for display: without the arrays and entries for the library alone."""
    brief = {name: value for name, value in facts.items() if name != "arrays"}
    brief["fitted"] = {name: value for name, value in facts["fitted"].items() if not name.startswith("_")}
    return brief
