"""Scalers and encoders of scikit-learn in a model file: class, parameters and public fitted attributes, nothing that could run.

A transformer is read by fitting one of its class to a few made-up rows, so that scikit-learn checks the parameters and sets what is
private to it; the public fitted attributes are then those of the file, each of a declared shape.
"""

from __future__ import annotations

import json
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin

from ..inspection.tables import Table, plain_columns
from ..storage.codec import UNREADABLE, Arrays, Packer
from .plain_values import decoded, encoded

Part = dict[str, Any]  # a transformer as JSON
Fitted = Mapping[str, Any]
MOST_COLUMNS = 2**22  # a file that claims more is refused before rows are made up for it


@dataclass(frozen=True)
class TransformerSpec:
    """Form in which a class of transformers is written.

    Attributes
    ----------
    module : that it is imported from.
    fitted : its public fitted attributes by kind: letters for the axes of an array of floats (d columns; all k are equal), "?" where None
        may stand, or "number", "count", "values" and "categories" (of d columns), "drops", "none".
    rows : made-up rows for d columns and the fitted attributes, to fit it to.
    refused : parameters that must be as by default.
    """

    module: str
    fitted: Mapping[str, str]
    rows: Callable[[int, Fitted], npt.NDArray[Any]]
    refused: Sequence[str] = ()


def _ones(d: int, fitted: Fitted) -> npt.NDArray[Any]:
    return np.ones((1, d))


def _as_many_as_components(d: int, fitted: Fitted) -> npt.NDArray[Any]:
    return np.random.default_rng(0).normal(size=(min(len(fitted["components_"]), d) + 1, d))


def _first_categories(d: int, fitted: Fitted) -> npt.NDArray[Any]:
    row = np.empty((1, d), dtype=object)
    row[0] = [known[0] for known in fitted["categories_"]]
    return row


def _statistics(d: int, fitted: Fitted) -> npt.NDArray[Any]:
    return np.array(fitted["statistics_"][None, :])


_OF_MIN_MAX = dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), "d")
_OF_SVD = {"components_": "kd", "explained_variance_": "k", "explained_variance_ratio_": "k", "singular_values_": "k"}
_OF_PCA = {**_OF_SVD, "mean_": "d", "noise_variance_": "number", "n_components_": "number", "n_samples_": "number"}
SPECS: Mapping[str, TransformerSpec] = {
    "StandardScaler": TransformerSpec(
        "sklearn.preprocessing", {"mean_": "d?", "var_": "d?", "scale_": "d?", "n_samples_seen_": "count"}, _ones
    ),
    "MinMaxScaler": TransformerSpec("sklearn.preprocessing", {**_OF_MIN_MAX, "n_samples_seen_": "number"}, _ones),
    "MaxAbsScaler": TransformerSpec("sklearn.preprocessing", {"scale_": "d", "max_abs_": "d", "n_samples_seen_": "number"}, _ones),
    "RobustScaler": TransformerSpec("sklearn.preprocessing", {"center_": "d?", "scale_": "d?"}, _ones),
    "Normalizer": TransformerSpec("sklearn.preprocessing", {}, _ones),
    "QuantileTransformer": TransformerSpec(
        "sklearn.preprocessing", {"n_quantiles_": "number", "quantiles_": "kd", "references_": "k"}, _ones
    ),
    "PCA": TransformerSpec("sklearn.decomposition", _OF_PCA, _as_many_as_components),
    "TruncatedSVD": TransformerSpec("sklearn.decomposition", _OF_SVD, _as_many_as_components),
    "OneHotEncoder": TransformerSpec(
        "sklearn.preprocessing", {"categories_": "categories", "drop_idx_": "drops"}, _first_categories, ("min_frequency", "max_categories")
    ),
    "OrdinalEncoder": TransformerSpec(
        "sklearn.preprocessing", {"categories_": "categories"}, _first_categories, ("min_frequency", "max_categories")
    ),
    "SimpleImputer": TransformerSpec("sklearn.impute", {"statistics_": "values", "indicator_": "none"}, _statistics, ("add_indicator",)),
}
COMPOSITES = {"Pipeline": "sklearn.pipeline", "ColumnTransformer": "sklearn.compose"}  # of several transformers
CARRIED = sorted([*SPECS, *COMPOSITES])
BY_NAME = ("drop", "passthrough")
OF_A_FIT = ("memory", "n_jobs")  # parameters of a fit, not of its result
ITERATIONS = ("iterated_power", "n_iter", "n_oversamples")
MOST_ITERATIONS = 1_000  # of a file, as rows are made up and fitted to


def known_class(name: str) -> type[Any]:
    """Return the class of a name that a file may hold."""
    if name not in CARRIED:
        raise ValueError(f"unknown transformer {name!r}")
    cls: type[Any] = getattr(import_module(COMPOSITES[name] if name in COMPOSITES else SPECS[name].module), name)
    return cls


def packed_transformer(tool: Any, where: str, writer: Packer) -> Part:
    """Return a fitted transformer as JSON, its arrays in the writer; ValueError, which names the step, where it cannot be carried."""
    name = type(tool).__name__
    if name not in CARRIED or known_class(name) is not type(tool):
        raise ValueError(f"save: step {where!r} is {_article(name)}, which {_reason(name)}. {_advice()}")
    try:
        part: Part = {"class": name, "params": _params(tool, where, writer)}
        if name == "Pipeline":
            part["steps"] = [[step, _packed_or_named(one, f"{where}.{step}", writer)] for step, one in tool.steps]
            return part
        part |= {"features": int(tool.n_features_in_), "names": _names(tool, where), "output": _output(tool)}
        if name == "ColumnTransformer":
            part |= _packed_columns(tool, where, writer)
        else:
            public = {key: value for key, value in vars(tool).items() if key.endswith("_") and key[0] != "_"}
            own = {key: value for key, value in public.items() if key not in ("n_features_in_", "feature_names_in_")}
            if own.keys() != SPECS[name].fitted.keys():
                raise ValueError(f"has {sorted(own.keys() ^ SPECS[name].fitted.keys())}, unknown to this version of cmeans")
            part["fitted"] = {key: encoded(value, f"steps.{where}.{key}", writer) for key, value in own.items()}
        transformer_of(json.loads(json.dumps(part)), writer.arrays)
    except UNREADABLE as error:
        if str(error).startswith("save: step"):
            raise
        raise ValueError(f"save: step {where!r}, {_article(name)}, cannot be carried: {str(error).rstrip('.')}. {_advice()}") from None
    return part


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _reason(name: str) -> str:
    if name == "FunctionTransformer":
        return "calls a function, and nothing in a model file is executed"
    return f"a model file cannot carry; it carries {', '.join(CARRIED)} of scikit-learn"


def _advice() -> str:
    return "Transform the rows beforehand and save the last step alone, or pickle the pipeline (load pickles only from sources you trust)."


def _params(tool: Any, where: str, writer: Packer) -> dict[str, Any]:
    """Return the parameters that are not as by default, so that other versions of scikit-learn read them as long as they have them."""
    name = type(tool).__name__
    default = type(tool)([]) if name in COMPOSITES else type(tool)()
    inside = {"Pipeline": ("steps",), "ColumnTransformer": ("transformers", "remainder")}.get(name, ())
    standard, changed = default.get_params(deep=False), dict[str, Any]()
    for key, value in tool.get_params(deep=False).items():
        usual = standard[key]
        if key == "random_state" and not isinstance(value, numbers.Integral):
            continue  # a generator's state is no part of a model
        if key in (*inside, *OF_A_FIT) or value is usual or (type(value) is type(usual) and np.array_equal(value, usual)):
            continue
        if name in SPECS and key in SPECS[name].refused:
            raise ValueError(f"{key}={value!r} is kept in attributes private to scikit-learn; only {usual!r} can be written")
        changed[key] = encoded(value, f"steps.{where}.{key}", writer)
    return changed


def _names(tool: Any, where: str) -> list[str] | None:
    names = getattr(tool, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _output(tool: Any) -> str | None:
    """Return the kind of table that `set_output` asked for; scikit-learn has no public way to read it back."""
    return (vars(tool).get("_sklearn_output_config") or {}).get("transform")


def _packed_or_named(tool: Any, where: str, writer: Packer) -> Any:
    if tool is None or tool in BY_NAME:
        return "passthrough" if tool is None else tool
    return packed_transformer(tool, where, writer)


def _packed_columns(tool: Any, where: str, writer: Packer) -> Part:
    """Return the parts of a column transformer with the columns that each was fitted to."""
    given = {name: one for name, one, _ in tool.transformers} | {"remainder": tool.remainder}
    parts, remainder = list[Any](), "drop"
    for name, one, columns in tool.transformers_:
        columns = plain_columns(columns)
        columns = columns if isinstance(columns, slice) else [columns] if np.isscalar(columns) else list(columns)
        kept = "drop" if not isinstance(columns, slice) and not columns else given[name] if given[name] in BY_NAME else one
        part = _packed_or_named(kept, f"{where}.{name}", writer)
        if name == "remainder" and "remainder" not in {name for name, _, _ in tool.transformers}:
            remainder = part
        else:
            parts.append([name, part, encoded(columns, where, writer)])
    return {"parts": parts, "remainder": remainder, "sparse": bool(tool.sparse_output_)}


def transformer_of(part: Any, arrays: Arrays) -> Any:
    """Return the transformer that a file holds; one of `UNREADABLE` where it holds none."""
    name = part["class"]
    cls = known_class(name)
    params = {key: decoded(value, arrays) for key, value in part["params"].items()}
    _check_params(name, params)
    with config_context(transform_output="default"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of made-up rows
        if name == "Pipeline":
            return cls(joined([(step, _transformer_or_name(one, arrays)) for step, one in part["steps"]]), **params)
        d = part["features"]
        if type(d) is not int or not 0 < d <= MOST_COLUMNS:
            raise ValueError(f"{name} of {d!r} columns")
        tool = _columns_of(cls, part, params, arrays) if name == "ColumnTransformer" else _single(cls, part, params, arrays)
    if part["names"] is not None:
        if not all(isinstance(label, str) for label in part["names"]) or len(part["names"]) != d:
            raise ValueError(f"the names of the {d} columns of {name} do not fit")
        tool.feature_names_in_ = np.array(part["names"], dtype=object)
    if part["output"] not in (None, "default", "pandas", "polars"):
        raise ValueError(f"{name} cannot give {part['output']!r}")
    return tool if part["output"] is None else tool.set_output(transform=part["output"])


def _check_params(name: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that no file of ours holds, and those that would keep a machine busy; scikit-learn checks the others."""
    refused = {*OF_A_FIT, *(SPECS[name].refused if name in SPECS else ("steps", "transformers", "remainder"))}
    if wrong := params.keys() & refused:
        raise ValueError(f"{name}({min(wrong)}=...) is no parameter of a file")
    if type(params.get("random_state", 0)) is not int:
        raise ValueError(f"{name}(random_state={params['random_state']!r}) is no number")
    for key in ITERATIONS:
        if isinstance(params.get(key), int) and params[key] > MOST_ITERATIONS:
            raise ValueError(f"{name}({key}={params[key]}) is more than {MOST_ITERATIONS:,}")


def _single(cls: type[Any], part: Part, params: dict[str, Any], arrays: Arrays) -> Any:
    """Return a transformer with the attributes of a file."""
    spec, d = SPECS[cls.__name__], part["features"]
    fitted = {key: decoded(value, arrays) for key, value in part["fitted"].items()}
    if fitted.keys() != spec.fitted.keys():
        raise ValueError(f"{cls.__name__} has {sorted(fitted.keys() ^ spec.fitted.keys())} too many or too few")
    sizes = {"d": d}
    for key, kind in spec.fitted.items():
        if not _fits(fitted[key], kind, sizes):
            raise ValueError(f"{cls.__name__}.{key} is of another shape or type than of {d} columns")
    rows = spec.rows(d, fitted)
    standard = cls().get_params()
    meanwhile = {"categories": fitted["categories_"]} if "categories_" in fitted else {}
    if "random_state" in standard:
        meanwhile["random_state"] = 0  # None would draw from the process's generator
    tool = cls(**{**params, **meanwhile}).fit(rows)
    tool.set_params(**{key: params.get(key, standard[key]) for key in meanwhile})
    if "statistics_" in fitted and not _same(tool.statistics_, fitted["statistics_"]):
        raise ValueError(f"{cls.__name__} cannot fill in {fitted['statistics_']}")
    if "drop_idx_" in fitted and not _same(tool.drop_idx_, fitted["drop_idx_"]):
        raise ValueError(f"{cls.__name__} drops other categories")
    for key, value in fitted.items():
        setattr(tool, key, value)
    tool.transform(rows)
    return tool


def _same(one: Any, other: Any) -> bool:
    """True for equal values, NaN being equal to itself."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(a == b or (a != a and b != b) for a, b in zip(one.tolist(), other.tolist(), strict=True))


def _fits(value: Any, kind: str, sizes: dict[str, int]) -> bool:
    """True for a fitted attribute of a kind; the first array that has an axis decides how long it is."""
    if kind == "none":
        return value is None
    if kind == "number" or (kind == "count" and not isinstance(value, np.ndarray)):
        return type(value) in (int, float) and bool(np.isfinite(value))
    if kind == "categories":
        known = isinstance(value, list) and len(value) == sizes["d"]
        return known and all(isinstance(one, np.ndarray) and one.ndim == 1 and len(one) > 0 for one in value)
    if kind == "drops" and value is None:
        return True
    if kind in ("values", "drops", "count"):
        return isinstance(value, np.ndarray) and value.shape == (sizes["d"],)
    if kind.endswith("?") and value is None:
        return True
    axes = kind.rstrip("?")
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.ndim != len(axes) or not np.isfinite(value).all():
        return False
    return all(sizes.setdefault(axis, length) == length for axis, length in zip(axes, value.shape, strict=True))


def _transformer_or_name(part: Any, arrays: Arrays) -> Any:
    return part if part in BY_NAME else transformer_of(part, arrays)


def joined(steps: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline, each of which takes as many columns as the one before gives."""
    names, columns = [name for name, _ in steps], None
    if not all(isinstance(name, str) and name and "__" not in name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"the steps of a pipeline cannot be called {names}")
    for name, tool in steps:
        if tool == "passthrough":
            continue
        if columns is not None and tool.n_features_in_ != columns:
            raise ValueError(f"step {name!r} takes {tool.n_features_in_} columns, and the one before gives {columns}")
        columns = width(tool) if hasattr(tool, "transform") else None
    return steps


def width(tool: Any) -> int:
    """Return the number of columns that a fitted transformer gives."""
    if hasattr(tool, "output_indices_"):  # whose names may be refused, as they need not differ
        return max((int(span.stop) for span in tool.output_indices_.values()), default=0)
    if hasattr(tool, "steps"):
        return next((width(one) for _, one in reversed(tool.steps) if one != "passthrough"), tool.n_features_in_)
    return len(tool.get_feature_names_out())


class _StandIn(TransformerMixin, BaseEstimator):
    """Transformer that is already fitted, while a column transformer is made around it: only numbers of columns count."""

    def __init__(self, n_in: int = 1, n_out: int = 1) -> None:
        self.n_in, self.n_out = n_in, n_out

    def fit(self, X: Any, y: Any = None) -> _StandIn:
        if np.ndim(X) != 2 or X.shape[1] != self.n_in:
            raise ValueError(f"a transformer of {self.n_in} columns is given others")
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        return np.zeros((len(X), self.n_out))


def _columns_of(cls: type[Any], part: Part, params: dict[str, Any], arrays: Arrays) -> Any:
    """Return a column transformer of restored parts."""
    tools = [(name, _transformer_or_name(one, arrays), decoded(columns, arrays)) for name, one, columns in part["parts"]]
    remainder = _transformer_or_name(part["remainder"], arrays)

    def stand_in(tool: Any) -> Any:
        return tool if tool in BY_NAME else _StandIn(tool.n_features_in_, width(tool))

    if any(callable(columns) or not isinstance(columns, list | slice) for _, _, columns in tools) or type(part["sparse"]) is not bool:
        raise ValueError("columns of a ColumnTransformer are lists of names or numbers")
    tool = cls([(name, stand_in(one), columns) for name, one, columns in tools], remainder=stand_in(remainder), **params)
    labels = part["names"]
    row = np.zeros((1, part["features"])) if labels is None else Table({str(label): [0.0] for label in labels}).to_frame()
    tool.fit(row)
    if tool.n_features_in_ != part["features"]:
        raise ValueError("columns of a ColumnTransformer have names that are alike")
    own = {name: one for name, one, _ in tools} | {"remainder": remainder}
    tool.transformers_ = [(name, one if own[name] in BY_NAME else own[name], columns) for name, one, columns in tool.transformers_]
    tool.sparse_output_ = part["sparse"]
    return tool.set_params(transformers=tools, remainder=remainder)
