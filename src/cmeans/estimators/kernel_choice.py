"""The choice of a kernel for a given number of clusters: by evidence, where kernel="auto"."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ..data.arrays import Float64
from ..evidence.near_rows import NearRows
from ..evidence.space_choice import best_partition, judged_partitions
from ..fitting.connected import AS_THEY_ARE
from ..fitting.space import SpaceRequest
from ..kernels import Linear
from ..sampling.population import population_of, sample

ROWS = 3000  # judged at most
CELLS = 3_000_000  # of these
CANDIDATES = ("linear", "rbf")  # of equal ones the first
# parameters that belong to all rows, or say nothing of the kernel
APART: dict[str, Any] = {
    "engine": None,
    "init": "k-means++",
    "noise": None,
    "sizes": None,
    "top_k": None,
    "verbose": 0,
}

if TYPE_CHECKING:
    from ..fitting.fit import BaseCMeans as Base
else:
    Base = object


class ChoosesKernel(Base):
    """Mixin of estimators that take kernel="auto": until it is chosen it stands for the RBF
    kernel."""

    _chooses_kernel = True

    def _space_request(self, context: Any, blocks: Any) -> SpaceRequest:
        request = super()._space_request(context, blocks)
        if isinstance(self.kernel, str) and self.kernel == "auto" and _is_linear(self, request):
            return replace(request, kernel=Linear())
        return request


def _is_linear(estimator: Any, request: SpaceRequest) -> bool:
    """Return whether the partition of rows as they are keeps near rows together as well as that in
    the space of the RBF kernel."""
    if request.n_clusters < 2:
        return True
    x, weights = _some_rows(request)
    if len(x) <= request.n_clusters:
        return True
    given = estimator.get_params(deep=False)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    apart = {name: value for name, value in APART.items() if name in given}
    trial = clone(estimator).set_params(**apart, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of trials; the fit to all rows warns for itself
        found = {
            kernel: np.asarray(
                trial.set_params(kernel=kernel).fit(x, sample_weight=weights).labels_
            )
            for kernel in CANDIDATES
        }
    return best_partition(judged_partitions(found, NearRows.of(x, weights)))[0] == "linear"


def _some_rows(request: SpaceRequest) -> tuple[Float64, Float64]:
    """Return some rows, the same for every random_state, and their weights."""
    population = population_of(request.blocks)
    size = min(ROWS, max(CELLS // int(request.blocks.x.shape[1]), 10 * request.n_clusters))
    positions, weights = sample(population, size, np.random.RandomState(0))
    order = np.argsort(population.at(positions), kind="stable")
    rows = population.at(positions)[order]
    part = request.blocks.part(rows, weights[order]).in_memory()
    return AS_THEY_ARE.rows(part.x), weights[order]
