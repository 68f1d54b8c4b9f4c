"""`cmeans info`: what a model file holds."""

from __future__ import annotations

from collections.abc import Mapping
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


def briefly(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a person: without the arrays and what only the library itself reads."""
    brief = {name: value for name, value in facts.items() if name != "arrays"}
    brief["fitted"] = {name: value for name, value in facts["fitted"].items() if not name.startswith("_")}
    return brief
