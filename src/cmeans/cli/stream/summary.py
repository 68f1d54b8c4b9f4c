"""The summary of a stream, as a dictionary that goes to a file or to a terminal."""

from __future__ import annotations

from typing import Any

from ... import __version__
from ..option_names import name_of
from .request import StreamRequest
from .sources import STDIN
from .state import SavedStream

_OF_MODEL = (
    "rule",
    "n_clusters_",
    "cluster_numbers_",
    "awake_",
    "m_",
    "decay",
    "kernel",
    "gamma_",
    "n_landmarks_",
    "projection_loss_",
    "converged_",
)


def _of_model(model: Any) -> dict[str, Any]:
    """Return what a summary says of the model."""
    found = {name.rstrip("_"): getattr(model, name) for name in _OF_MODEL if hasattr(model, name)}
    for name in ("rule", "kernel"):
        if name in found:
            found[name] = name_of(found[name])
    if hasattr(model, "covariance"):
        found["covariance"] = getattr(model.covariance, "shape", model.covariance)
    for name, attribute in (("seed", "random_state"), ("chunks", "n_chunks_")):
        if hasattr(model, attribute):
            found[name] = getattr(model, attribute)
    return found


def summary_of(request: StreamRequest, state: SavedStream) -> dict[str, Any]:
    """Return the summary of a stream from its first row on, over all runs."""
    recipe, place, source = state.recipe, state.place, str(request.reading.file)
    return {
        "command": "stream",
        "version": __version__,
        "source": "standard input" if source == str(STDIN) else source,
        "resumed": request.resume,
        "rows": place.rows,
        "rows_clustered": place.clustered,
        "rows_malformed": place.rows - place.clustered,
        "files": place.files,
        "columns": len(recipe.columns),
        "dtype": recipe.dtype,
        "scale": recipe.scaling.kind,
        "weight": state.weight,
        **_of_model(state.model),
        "sizes": place.sizes,
        "noise": place.noise,
    }
