"""The summary of a fit, what stands beside its model, and on its page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..data.recipe.table_recipe import TableRecipe
from ..fitting.covariance import covariance_from
from ..inspection.page.findings import Again, Findings
from ..rules.base import rule_of
from .fit_request import FitRequest
from .methods import METHODS
from .option_names import name_of
from .output.messages import in_options
from .output.results import sizes
from .rows import InputRows


def metadata_of(request: FitRequest, recipe: TableRecipe) -> dict[str, Any]:
    """Return what `cmeans predict` needs beside the model."""
    return {
        "method": request.method,
        "weight": request.reading.weight,
        **recipe.to_json(),
        **({"names": list(request.names)} if request.names else {}),
    }


def summary_of_fit(
    request: FitRequest, rows: InputRows, model: Any, stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the summary of a fit; its numbers are those of the model file, so that `cmeans info`
    agrees."""
    fitted, covariance = stored["fitted"], vars(model).get("covariance")
    missing = vars(model).get("n_missing_")  # (d,)
    by_column = zip(map(str, rows.columns), () if missing is None else missing, strict=False)
    return {
        "command": "fit",
        "version": __version__,
        "file": str(request.reading.file),
        "rows": rows.x.shape[0],
        "columns": rows.x.shape[1],
        "dtype": rows.x.dtype.name,
        "scale": request.scale,
        "weight": request.reading.weight,
        "known_labels": request.known_labels,
        "must_link": request.must_link,
        "missing": None if missing is None else int(missing.sum()),
        "missing_by_column": {name: int(count) for name, count in by_column if count},
        "method": request.method,
        "n_clusters": request.words.get("n_clusters"),
        "n_clusters_found": model.n_clusters_,
        "m": fitted.get("m_"),
        "pilot_m": fitted.get("pilot_m_"),
        "eta": getattr(model, "eta_", None),
        "prices": getattr(model, "prices_", None),
        "size_gap": getattr(model, "size_gap_", None),
        "noise_distance": fitted.get("noise_distance_"),
        "method_options": _own_words(request, model),
        "covariance": getattr(covariance, "shape", covariance),
        "log_likelihood": fitted.get("lower_bound_"),
        "kernel": name_of(model.kernel) if hasattr(model, "kernel") else None,
        "metric": getattr(model, "metric", None),
        "gamma": fitted.get("gamma_"),
        "n_landmarks": getattr(model, "n_landmarks_", None),
        "approximation": fitted.get("approximation_"),
        "seed": getattr(model, "random_state", None),
        "objective": model.objective_,
        "n_iter": getattr(model, "n_iter_", None),
        "converged": getattr(model, "converged_", True),
        "reason": in_options(getattr(model, "stop_reason_", "no other centres cost less")),
        **sizes(model.labels_, len(model.get_feature_names_out())),
    }


def findings_of_fit(request: FitRequest, summary: Mapping[str, Any]) -> Findings:
    """Return what the page of a fit shows beside its clusters."""
    command = (shlex.join(["cmeans", *request.arguments]),) if request.arguments else ()
    code = f"import cmeans\n\nmodel = cmeans.load({summary['outputs']['model']!r})"
    return Findings(
        warnings=list(summary["warnings"]),
        facts={"method": summary["method"], "weight": summary["weight"]},
        again=Again(code, command),
        names=request.names,
    )


def column_summary(request: FitRequest, rows: InputRows, recipe: TableRecipe) -> dict[str, Any]:
    """Return what the summary says of columns that are no numbers."""
    return {
        "config": request.config,
        "column_names": list(rows.columns),
        "left_out": [field.label for field in rows.left_out],
        "id": request.reading.name,
        "categories": recipe.categories,
    }


def _own_words(request: FitRequest, model: Any) -> dict[str, Any]:
    """Return the parameters that the plain method does not have, with the estimator's values,
    defaults included."""
    method = METHODS[request.method]
    of_rule = rule_of(model.rule, type(model).__name__).get_params() if method.rule_fields else {}
    parameters = of_rule | model.get_params(deep=False)
    plain, own = ({*spec.parameters} - {*spec.kernel_fields} for spec in (METHODS["hard"], method))
    words = {word: value for word, value in parameters.items() if word in own - plain}
    if (asked := parameters.get("covariance")) is not None:
        covariance = covariance_from(asked, type(model).__name__)
        for field in ("prior", "volume"):
            if f"covariance__{field}" in own:
                words[f"covariance_{field}"] = getattr(covariance, field)
    return words
