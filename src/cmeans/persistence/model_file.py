"""Models in one safetensors file: arrays and JSON, nothing that could run.

The header holds the estimator's parameters and fitted attributes as JSON, in which arrays are named
and the library's own frozen objects (kernels, rules, spaces) are written by class and fields.
Reading builds only classes that are known here, and sets only names that a fit sets, so a hostile
file can be wrong but cannot act.
"""

from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import estimators, papers
from ..data.addresses import place
from ..engines import brought
from ..estimators.landmark_graph import LandmarkGraph
from ..fitting.attribute_names import PER_ROW, PRIVATE, is_fitted_name
from ..landmarks.certificate import Approximation
from ..runtime.stored_classes import UnknownClassError
from ..runtime.user_warnings import one_line
from ..runtime.version import __version__
from ..storage.codec import (
    UNREADABLE,
    Arrays,
    Packer,
    declared,
    fits,
    read_packed,
    unpacked,
    write_packed,
)
from .model_checks import check_model, check_parameters
from .pipelines import described_steps, packed_steps, pipeline_of, steps_of

KEY = "cmeans"  # of the metadata that holds the header
FORMAT = 1
# the format of a pipeline, which readers of the former would take for its last step alone
WITH_STEPS = 2
WING: dict[str, type[Any]] = {name: getattr(papers, name) for name in papers.__all__}
ESTIMATORS: dict[str, type[Any]] = {
    **{name: getattr(estimators, name) for name in estimators.__all__},
    **{name: cls for name, cls in WING.items() if issubclass(cls, BaseEstimator)},
    "LandmarkGraph": LandmarkGraph,
}
MODEL = "$model"  # by which a file knows a model that another one holds
OF_A_FIT = ("engine",)  # parameters of a fit, not of its result


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    rows: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to one safetensors file.

    Parameters
    ----------
    model : a fitted estimator of this library, or a scikit-learn `Pipeline` of StandardScaler,
        MinMaxScaler, MaxAbsScaler, RobustScaler, `LogTransformer` and FunctionTransformer of
        logarithms with one of this library as last step. Read again, it predicts the same to the
        last bit. skops saves other pipelines whole.
    path : the file; written under a temporary name and renamed, so that it is whole or absent.
    rows : whether to keep the fitted attributes of each training row (`labels_`, `memberships_`);
        predicting does not need it.
    metadata : anything JSON can hold, kept beside the model (`read_metadata`).

    Raises
    ------
    ValueError
        If the model holds a callable kernel, which no file can. If a step of a pipeline cannot be
        carried: the message names it. If parameters have been set since the fit that no fit would
        accept.
    OSError
        If the file cannot be written; it names the file, and is a ValueError too.

    Examples
    --------
    >>> import cmeans, os, tempfile
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cmeans.save(model, os.path.join(folder, "model.safetensors"))
    ...     again = cmeans.load(os.path.join(folder, "model.safetensors"))
    >>> bool((again.predict([[2.0], [8.0]]) == model.predict([[2.0], [8.0]])).all())
    True

    A model with its scaler:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaled = make_pipeline(StandardScaler(), model).fit([[0.0], [100.0], [900.0], [1000.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cmeans.save(scaled, os.path.join(folder, "model.safetensors"))
    ...     again = cmeans.load(os.path.join(folder, "model.safetensors"))
    >>> bool((again.predict([[200.0], [800.0]]) == scaled.predict([[200.0], [800.0]])).all())
    True
    """
    header, arrays = packed(model, rows=rows, metadata=metadata)
    try:
        write_packed(place(path), KEY, header, arrays)
    except TypeError as error:
        raise ValueError(f"save: metadata must be what JSON can hold: {error}.") from None


def packed(
    model: BaseEstimator, *, rows: bool = True, metadata: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays that `save` writes."""
    check_is_fitted(model)
    noted: dict[str, Any] = getattr(model, "_noted", {})
    steps, model = steps_of(getattr(model, "_saved", model))
    check_is_fitted(model)
    if metadata is not None and not (
        isinstance(metadata, Mapping) and all(isinstance(key, str) for key in metadata)
    ):
        raise ValueError(
            f"save(metadata={metadata!r}): give a mapping of names to what JSON can hold."
        )
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        last = "" if steps is None else f"the last step, {steps.last!r}, "
        raise ValueError(
            f"save: {last}{type(model)!r} is not one of the library's estimators "
            f"({sorted(ESTIMATORS)})."
        )
    # they may have been changed since the fit, and loading would refuse them
    check_parameters(model)
    writer = _ModelPacker(rows)
    recipe = vars(model).get("recipe_")  # which is JSON, for readers of the header alone
    beside, told = {} if recipe is None else recipe.to_json(), noted | dict(metadata or {})
    header = {
        "format": FORMAT,
        "version": __version__,
        **writer.parts(model),
        # in one order, whether a recipe was read with the model or comes with its metadata
        "metadata": told | {name: beside[name] for name in beside if name not in told},
    }
    if steps is not None:
        header |= {"format": WITH_STEPS, "steps": packed_steps(steps, writer)}
    return header, writer.arrays


class _ModelPacker(Packer):
    """An encoder of models, and of those that they hold."""

    def __init__(self, rows: bool) -> None:
        super().__init__()
        self._rows = rows

    def encode(self, value: Any, where: str) -> Any:
        if not isinstance(value, BaseEstimator):
            return super().encode(value, where)
        if ESTIMATORS.get(type(value).__name__) is not type(value):
            raise ValueError(
                f"save: {where}={value!r} is none of the library's estimators, which alone a file "
                "can hold; pickle the model instead (load pickles only from sources you trust)."
            )
        return {MODEL: self.parts(value, f"{where}.")}

    def parts(self, model: Any, where: str = "") -> dict[str, Any]:
        """Return what a model is made of: its class, parameters and fitted attributes."""
        fitted = {
            k: v
            for k, v in vars(model).items()
            if is_fitted_name(k) and k != "recipe_" and (self._rows or k not in PER_ROW)
        }
        params = model.get_params(deep=False)
        return {
            "estimator": type(model).__name__,
            "params": {k: self.encode(_storable(k, v), f"{where}{k}") for k, v in params.items()},
            "fitted": {k: self.encode(brought(v), f"{where}{k}") for k, v in fitted.items()},
        }


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote: an estimator, or a pipeline, as it was after `fit`. Nothing
    in the file is executed.

    Parameters
    ----------
    path : of the file.

    Returns
    -------
    The estimator, or the pipeline.

    Raises
    ------
    ValueError
        If the file is truncated, changed or no model, or holds parameters that no fit would accept;
        or if a rule or kernel in it is of your own, and its module has not been imported: nothing
        is imported for a file.
    FileNotFoundError
        If there is none.

    Examples
    --------
    See `save`.
    """
    header, arrays = _read(place(path))
    try:
        model = _build(header, arrays)
        check_model(model)
        _add_recipe(model, header["metadata"])
        return (
            pipeline_of(header["steps"], arrays, model) if header["format"] == WITH_STEPS else model
        )
    except UnknownClassError as error:
        raise ValueError(f"{place(path)}: {_why(error)}.") from None
    except UNREADABLE as error:
        raise ValueError(
            f"{place(path)} is damaged, or no model of this version: {_why(error)}."
        ) from None


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a model file says of itself, without making a model of it.

    Parameters
    ----------
    path : a file that `save` has written.

    Returns
    -------
    Mapping of "estimator", "format" (the number of the file format), "version", "params", "fitted"
    (plain values, and `approximation_` as a mapping), "arrays" (name -> dtype and shape) and
    "metadata", what `save` was given; of a pipeline, whose last step is the estimator, also
    "steps", the others by name.

    Raises
    ------
    ValueError
        For a file that is no model, or damaged.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import cmeans, os, tempfile
    >>> model = cmeans.KernelKMeans(2, kernel="linear").fit([[0.0], [1.0], [9.0], [10.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     cmeans.save(model, path, metadata={"customers": "May"})
    ...     said = cmeans.read_metadata(path)
    >>> said["estimator"], said["params"]["n_clusters"], said["metadata"]
    ('KernelKMeans', 2, {'customers': 'May'})
    """
    header, arrays = _read(place(path))
    fitted: dict[str, Any] = {
        k: v
        for k, v in header["fitted"].items()
        if v is None or isinstance(v, (bool, int, float, str))
    }
    certificate = header["fitted"].get("approximation_")
    if certificate is not None:
        try:
            fitted["approximation_"] = _numbers_of(certificate)
        except UNREADABLE as error:
            raise ValueError(
                f"{place(path)} is damaged, or no model of this version: {_why(error)}."
            ) from None
    return {
        "estimator": header["estimator"],
        "format": header["format"],
        **({"steps": described_steps(header["steps"])} if header["format"] == WITH_STEPS else {}),
        "version": header["version"],
        "params": header["params"],
        "fitted": fitted,
        "arrays": {k: {"dtype": str(a.dtype), "shape": list(a.shape)} for k, a in arrays.items()},
        "metadata": header["metadata"],
    }


def _why(error: BaseException) -> str:
    """Return what an error says, in a line that whole arrays in it do not make long."""
    return one_line(error, most=500).rstrip(".")


def _numbers_of(certificate: Any) -> dict[str, Any]:
    decoded = unpacked(certificate, {})
    if not isinstance(decoded, Approximation):
        raise ValueError("the certificate is none")
    return dataclasses.asdict(decoded)


def _storable(name: str, value: Any) -> Any:
    # A generator's state and the engine of the fit are no part of a model; a model given as start
    # is another model.
    if isinstance(value, BaseEstimator):
        return "k-means++"
    if name in OF_A_FIT:
        return None
    return None if name == "random_state" and not isinstance(value, numbers.Integral) else value


def _read(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    try:
        header, arrays = read_packed(path, KEY)
    except UNREADABLE as error:
        raise ValueError(
            f"{path} is not a readable model file: {_why(error)}. Files that cmeans.save wrote are."
        ) from None
    keys = {
        "format": int,
        "estimator": str,
        "version": str,
        "params": dict,
        "fitted": dict,
        "metadata": dict,
    }
    if not isinstance(header, dict) or not all(
        isinstance(header.get(k), kind) for k, kind in keys.items()
    ):
        raise ValueError(f"{path} is a safetensors file, but not one that cmeans.save wrote.")
    if header["format"] not in (FORMAT, WITH_STEPS):
        raise ValueError(
            f"{path} has model format {header['format']}; this version of cmeans reads formats "
            f"{FORMAT} and {WITH_STEPS}."
        )
    if (header["format"] == WITH_STEPS) != ("steps" in header):
        raise ValueError(
            f"{path} is damaged: its format is {header['format']}, "
            f"with{'' if 'steps' in header else 'out'} steps."
        )
    return header, arrays


def _add_recipe(model: BaseEstimator, metadata: Mapping[str, Any]) -> None:
    """Give a model the recipe of its table, where the file holds one and tables can be read."""
    if {"columns", "scaling", "dtype"} <= metadata.keys():
        try:
            from ..data.recipe.table_recipe import recipe_from_json
        except ModuleNotFoundError:  # pyarrow, which reads tables
            return
        model.recipe_ = recipe_from_json(metadata)


def _build(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Any:
    if header["estimator"] not in ESTIMATORS:
        raise ValueError(f"unknown estimator {header['estimator']!r}")
    cls: Any = ESTIMATORS[header["estimator"]]
    model, kinds = cls(), declared(cls)
    params = {k: unpacked(v, arrays, MODELS) for k, v in header["params"].items()}
    model.set_params(**params)
    for name in OF_A_FIT:  # files hold no engine of a fit
        if vars(model).get(name) is not None:
            raise ValueError(f"{name}={vars(model)[name]!r} was never saved")
    check_parameters(model)
    for name, value in header["fitted"].items():
        # a cached property may be held by the model itself
        of_class = getattr(cls, name, None)
        if not is_fitted_name(name) or not (
            name in PRIVATE or of_class is None or isinstance(of_class, cached_property)
        ):
            raise ValueError(f"{name!r} is no fitted attribute")
        found = unpacked(value, arrays, MODELS)
        if name in kinds and not fits(found, kinds[name], finite=False):
            raise ValueError(f"{name} is {type(found).__name__} where {kinds[name]} belongs")
        setattr(model, name, found)
    return model


def _held(parts: Any, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """Return a model that another one holds, fitted or not."""
    model = _build(parts, arrays)
    if parts["fitted"]:
        check_model(model)
    return model


MODELS = {MODEL: _held}
