"""Scalers, most of scikit-learn, in a model file: class, parameters and public fitted attributes,
nothing that could run.

A scaler is read by fitting one of its class to a made-up row, so that scikit-learn checks the
parameters; the public fitted attributes are then those of the file, each of a declared shape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import config_context, preprocessing

from ..data.arrays import Array, namespace
from ..data.log_transformer import LogTransformer
from ..storage.codec import UNREADABLE, Arrays, Packer

Part = dict[str, Any]  # a scaler as JSON
MOST_COLUMNS = 2**22  # a file that claims more is refused before a row is made up for it
_BY_COLUMN, _PERHAPS, _COUNT = "by column", "by column, or None", "a number, or one by column"
CARRIED: Mapping[str, Mapping[str, str]] = {  # the public fitted attributes of each class
    "StandardScaler": {
        "mean_": _PERHAPS,
        "var_": _PERHAPS,
        "scale_": _PERHAPS,
        "n_samples_seen_": _COUNT,
    },
    "MinMaxScaler": {
        **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), _BY_COLUMN),
        "n_samples_seen_": _COUNT,
    },
    "MaxAbsScaler": {"scale_": _BY_COLUMN, "max_abs_": _BY_COLUMN, "n_samples_seen_": _COUNT},
    "RobustScaler": {"center_": _PERHAPS, "scale_": _PERHAPS},
    "FunctionTransformer": {},
    "LogTransformer": dict.fromkeys(("offset_", "least_"), _BY_COLUMN),
}
CLASSES: Mapping[str, Any] = {
    name: getattr(preprocessing, name, LogTransformer) for name in CARRIED
}
# what a FunctionTransformer may do, by name: nothing else that could run is read
FUNCTIONS = {"log": np.log, "exp": np.exp, "log1p": np.log1p, "expm1": np.expm1}


def packed_transformer(tool: Any, where: str, writer: Packer) -> Part:
    """Return a fitted scaler as JSON, its arrays in the writer; ValueError, which names the step,
    where it cannot be carried."""
    name = type(tool).__name__
    if name not in CARRIED or type(tool) is not CLASSES[name]:
        raise ValueError(
            f"save: step {where!r} is {'an' if name[0] in 'AEIOU' else 'a'} {name}; a model file "
            f"carries {', '.join(CARRIED)} alone. "
            "Save the last step alone and the whole pipeline by skops (skops.io.dump)."
        )
    try:
        usual = type(tool)().get_params()
        params = {
            key: _named(value) if callable(value) else value
            for key, value in tool.get_params().items()
            if value != usual[key]
        }
        own = {
            key: value
            for key, value in vars(tool).items()
            if key.endswith("_") and key[0] != "_" and "feature" not in key
        }
        names = getattr(tool, "feature_names_in_", None)
        part: Part = {
            "class": name,
            "params": params,
            "features": int(tool.n_features_in_),
            "names": None if names is None else [str(label) for label in names],
            # scikit-learn has no public way to read back what set_output asked for
            "output": (vars(tool).get("_sklearn_output_config") or {}).get("transform"),
            "fitted": {
                key: _encoded(value, f"steps.{where}.{key}", writer) for key, value in own.items()
            },
        }
        transformer_of(json.loads(json.dumps(part)), writer.arrays)
    except UNREADABLE as error:
        raise ValueError(
            f"save: step {where!r}, a {name}, cannot be carried: {str(error).rstrip('.')}."
        ) from None
    return part


def _encoded(value: Any, where: str, writer: Packer) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        return writer.encode(value, where)
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def _named(function: Any) -> Part:
    """Return a function as JSON."""
    for name, known in FUNCTIONS.items():
        if function is known:
            return {"function": name}
    raise ValueError(
        f"of functions numpy's {', '.join(FUNCTIONS)} alone; skops (skops.io.dump) saves others"
    )


def scaled_by(tool: Any, x: Array) -> Array:
    """Return rows (b, d) of any array library as a scaler of `CARRIED` transforms them; TypeError
    for other tools."""
    name, xp, own = type(tool).__name__, namespace(x), vars(tool)
    if name not in CARRIED or type(tool) is not CLASSES[name]:
        raise TypeError(f"it is {name}, none of {', '.join(CARRIED)}")
    if name == "FunctionTransformer":
        named = None if tool.func is None else _named(tool.func)["function"]
        return x if named is None else getattr(xp, named)(x)
    if name == "LogTransformer":
        return tool.of_arrays(x)
    if name == "MinMaxScaler":
        x = x * tool.scale_ + tool.min_
    else:
        shift, scale = own.get("mean_", own.get("center_")), own["scale_"]
        x = x if shift is None or not getattr(tool, "with_mean", True) else x - shift
        x = x if scale is None else x / scale
    if getattr(tool, "clip", False):
        x = xp.clip(x, *getattr(tool, "feature_range", (-1.0, 1.0)))
    return x


def _parameter(value: Any) -> Any:
    if isinstance(value, dict):
        return FUNCTIONS[value["function"]]
    return tuple(value) if isinstance(value, list) else value


def transformer_of(part: Any, arrays: Arrays) -> Any:
    """Return the scaler that a file holds; one of `UNREADABLE` where it holds none."""
    name, d, names, output = part["class"], part["features"], part["names"], part["output"]
    kinds = CARRIED[name]
    if type(d) is not int or not 0 < d <= MOST_COLUMNS:
        raise ValueError(f"{name} of {d!r} columns")
    params = {key: _parameter(value) for key, value in part["params"].items()}
    fitted = {
        key: arrays[value["$array"]] if isinstance(value, dict) else value
        for key, value in part["fitted"].items()
    }
    if fitted.keys() != kinds.keys():
        raise ValueError(f"{name} has {sorted(fitted.keys() ^ kinds.keys())} too many or too few")
    for key, value in fitted.items():
        if not _fits(value, kinds[key], d):
            raise ValueError(f"{name}.{key} is of another shape or type than of {d} columns")
    row = np.ones((1, d))
    with config_context(transform_output="default"):
        tool = CLASSES[name](**params).fit(row)
        for key, value in fitted.items():
            setattr(tool, key, value)
        tool.transform(row)
    if names is not None:
        if len(names) != d or not all(isinstance(label, str) for label in names):
            raise ValueError(f"the names of the {d} columns of {name} do not fit")
        tool.feature_names_in_ = np.array(names, dtype=object)
    if output not in (None, "default", "pandas", "polars"):
        raise ValueError(f"{name} cannot give {output!r}")
    return tool if output is None else tool.set_output(transform=output)


def _fits(value: Any, kind: str, d: int) -> bool:
    """True for a fitted attribute of a kind."""
    if value is None or (kind == _COUNT and not isinstance(value, np.ndarray)):
        if value is None:
            return kind == _PERHAPS
        return type(value) in (int, float) and bool(np.isfinite(value))
    whole = isinstance(value, np.ndarray) and value.shape == (d,) and bool(np.isfinite(value).all())
    return whole and value.dtype.kind in ("fiu" if kind == _COUNT else "f")
