"""Names of the attributes that a fit leaves, and their return where it fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..solvers.observer import FitRecord

# attributes of the rows of a fit
PER_ROW = (
    "labels_",
    "memberships_",
    "memberships_top_k_",
    "noise_membership_",
    "_nearest",
    "_like",
    "_away_of_row",
    "_point_of_row",
    "member_labels_",
    "outlier_scores_",
    "probabilities_",
)
OF_ROWS = (*PER_ROW, "objective_", "objective_history_", "outlier_threshold_", "separation_")
OPTIONAL = (
    "bics_",
    "cluster_centers_",
    "covariances_",
    "dual_coef_",
    "landmark_indices_",
    "landmarks_",
    "eigenvalues_",
    "eta_",
    "memberships_",
    "memberships_top_k_",
    "metrics_",
    "n_clusters_suggested_",
    "n_missing_",
    "noise_distance_",
    "noise_membership_",
    "noise_weight_",
    "outlier_threshold_",
    "pilot_m_",
    "prices_",
    "size_gap_",
    "weights_",
    "_early",
    "_factors",
    "_has_fallen",
    "_like",
    "_nearest",
    "_powers",
)  # attributes of some fits only
PRIVATE = {
    "_space",
    "_state",
    "_rule",
    "_training_diag",
    "_nearest",
    "_like",
    "_n_features_out",
    "_factors",
    "_stream",
    "_early",
    "_has_fallen",
    "_tree",
    "_points",
    "_communities",
    "_others",
    "_seams",
    "_point_of_row",
    "_away_of_row",
    "_power",
    "_noise",
    "_powers",
    "_co_association",
}
FITTED_NAME = re.compile(r"[a-z][a-z0-9_]*_")


def is_fitted_name(name: str) -> bool:
    """True for the name of an attribute that fits set."""
    return name in PRIVATE or FITTED_NAME.fullmatch(name) is not None


@contextmanager
def restored_on_failure(model: Any, record: FitRecord) -> Iterator[None]:
    """Restore the model, fitted before or not, where its fit fails at any point. Only an interrupt
    may leave centres."""
    before = {name: value for name, value in vars(model).items() if is_fitted_name(name)}
    try:
        yield
    except BaseException:
        if not record.kept:
            for name in [name for name in vars(model) if is_fitted_name(name)]:
                del vars(model)[name]
            vars(model).update(before)
        raise


# of which a list of all attributes would make numbers for each row
MADE_WHEN_ASKED = ("memberships_", "outlier_threshold_")
