"""Pipelines in a model file: the scalers before the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from ..storage.codec import UNREADABLE, Arrays, Packer
from .transformers import packed_transformer, transformer_of


@dataclass(frozen=True)
class Steps:
    """Steps of a pipeline before its last, with their names, and the name of the last."""

    before: tuple[tuple[str, Any], ...]
    last: str


def steps_of(model: Any) -> tuple[Steps | None, Any]:
    """Return the steps before the model and the model, of a pipeline; None and the model, of
    anything else."""
    if type(model) is not Pipeline:
        return None, model
    (*before, (last, estimator)) = model.steps
    return Steps(tuple(before), last), estimator


def packed_steps(steps: Steps, writer: Packer) -> dict[str, Any]:
    """Return the steps as JSON; ValueError, which names the step, where one cannot be carried."""
    kept = [
        (name, tool) for name, tool in steps.before if tool is not None and tool != "passthrough"
    ]
    return {
        "before": [[name, packed_transformer(tool, name, writer)] for name, tool in kept],
        "last": steps.last,
    }


def pipeline_of(steps: Any, arrays: Arrays, model: Any) -> Any:
    """Return the pipeline of the steps that a file holds and its model; one of `UNREADABLE` where
    they do not fit."""
    tools = [
        *((name, transformer_of(part, arrays)) for name, part in steps["before"]),
        (steps["last"], model),
    ]
    names = [name for name, _ in tools]
    if not all(isinstance(name, str) and name and "__" not in name for name in names) or len(
        set(names)
    ) < len(names):
        raise ValueError(f"the steps of a pipeline cannot be called {names}")
    if len({tool.n_features_in_ for _, tool in tools}) > 1:
        raise ValueError(f"the steps {names} take different numbers of columns")
    return Pipeline(tools)


def described_steps(steps: Any) -> list[str]:
    """Return a line for each step that a file holds before its model."""
    try:
        return [f"{name}: {part['class']}" for name, part in steps["before"]]
    except UNREADABLE as error:
        raise ValueError(f"the steps of the model cannot be read: {error}.") from None
