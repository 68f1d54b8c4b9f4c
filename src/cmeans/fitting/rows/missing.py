"""The parameter `missing`: values of X that are not known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from ...data.arrays import IntArray
from ...data.blocks import Blocks
from ...data.files.schema import shortened
from ...kernels import Linear
from ...runtime.user_warnings import warn
from ..arguments import MissingName
from ..landmark_choice import landmarks_from
from ..validation import one_of
from .observed import observed_sums

if TYPE_CHECKING:
    from ..fit import BaseCMeans

MOSTLY = 0.5  # share of a column's weight without a value from which on a warning is issued


def check_missing(parameters: BaseCMeans, estimator_name: str) -> None:
    """Refuse `missing` where the space knows no partial distances."""
    if one_of(parameters.missing, "missing", estimator_name, get_args(MissingName)) == "error":
        return
    kernel = parameters.kernel
    linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
    asked = f'{estimator_name}(missing="partial"'
    if not linear:
        raise ValueError(
            f'{asked}, kernel={kernel!r}): distances over the values that are there are those of kernel="linear"; take that, or impute X '
            "(scikit-learn's SimpleImputer, KNNImputer)."
        )
    landmarks = landmarks_from(parameters.landmarks, estimator_name)
    if landmarks.points is not None or landmarks.count is not None:
        given = "..." if landmarks.points is not None else repr(parameters.landmarks)
        raise ValueError(f"{asked}, landmarks={given}): rows with missing values have no landmarks; leave these out.")


def with_means(parameters: BaseCMeans, blocks: Blocks, estimator_name: str, *, holes: bool) -> tuple[Blocks, IntArray]:
    """Return rows with the means of their columns where values are missing, and the number of these in each column; `holes`: some may
    be."""
    if not holes:
        return blocks, np.zeros(int(blocks.x.shape[1]), np.intp)
    with parameters._engine(blocks) as engine:
        sums = observed_sums(blocks, engine)
    if not sums.missing.any():
        return blocks, sums.missing
    labels = vars(parameters).get("feature_names_in_", np.arange(len(sums.mass)))
    never, mostly = labels[sums.mass <= 0].tolist(), labels[sums.mass < (1.0 - MOSTLY) * sums.weight].tolist()
    if never:
        raise ValueError(
            f"{estimator_name}: X has no value in {shortened(never)}, in any row of positive weight; drop what is never observed."
        )
    if mostly:
        warn(
            f"{estimator_name}: X has no value in {shortened(mostly)} in more than half of the rows; the others alone say where centres "
            "are there. Find out why, or leave it out."
        )
    return replace(blocks, means=sums.means), sums.missing
