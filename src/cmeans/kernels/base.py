"""Interface of kernels: frozen objects that give the inner products of rows in a feature space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar, Literal, Protocol, Self, get_args

import numpy as np

from ..data.arrays import (
    Array,
    Float64,
    as_like,
    central_point,
    equal,
    in_float64,
    is_sparse,
    squared_norms,
    to_numpy,
)
from ..data.precision import numpy_dtype
from ..runtime.checks import ParameterError, integer, real
from ..runtime.parameter_object import ParameterObject
from ..runtime.stored_classes import enter
from .nearest_points import squared_distances

GammaName = Literal["scale", "median"]
KERNELS: dict[str, type[Kernel]] = {}  # by their names; a class with a name enters itself

TIE = 1e-8  # difference of eigenvalues, of 1 at most, that is rounding
NEARLY = 0.9  # share of the largest gap from which on another is as large


class Columns(Protocol):
    """Kernel values (b, s) of rows (b, d) against fixed points, dense, in the rows' dtype.

    The first s columns of `room` (b, s or more) may be written to and returned, which avoids new
    memory for every block.
    """

    def __call__(self, x: Array, room: Array | None = None) -> Array: ...


class KernelEvidence(Protocol):
    """Sizes of the rows of a fit that a kernel may ask for; they are computed when it does."""

    @property
    def n_features(self) -> int:
        """d, the number of columns."""

    @property
    def variance(self) -> float:
        """The sum of the columns' variances."""

    @property
    def sample(self) -> tuple[Array, Float64]:
        """Some rows (b, d), the same for every random_state, and their weights (b,)."""

    def median(self, distances: Callable[[Array], Float64]) -> float:
        """The median over pairs of different rows of the sample of their distances (b, b); 0 where
        all rows are equal."""

    def inverse(self, size: float) -> float:
        """Return 1 / size, and 1 for a size of 0; refuse one beyond the range of numbers."""


def check_parameters(kernel: object, **least: float) -> None:
    """Raise ValueError for a parameter that is not a finite number above its bound (`degree`: a
    whole number, at least its bound)."""
    owner = type(kernel).__name__
    for name, bound in least.items():
        value = getattr(kernel, name)
        if name == "degree":
            integer(value, name, owner, int(bound))
        else:
            real(value, name, owner, least=bound, above=bound > -math.inf)


def check_gamma(kernel: object) -> None:
    """Raise ValueError for a `gamma` that is neither a positive number nor the name of a way to
    find one."""
    gamma = getattr(kernel, "gamma")  # noqa: B009 - of kernels that have one
    if not isinstance(gamma, str):
        check_parameters(kernel, gamma=0)
    elif gamma not in get_args(GammaName):
        raise ParameterError(
            type(kernel).__name__,
            "gamma",
            gamma,
            '{name} is "scale", "median" or a positive number.',
        )


class Kernel(ParameterObject, ABC):
    """k(x, y) = <phi(x), phi(y)>. A frozen object of its own parameters.

    A parameter may be left to the rows: the kernel is legal, and `settled` gives it the number that
    the rows of a fit determine.

    Calling a kernel computes a whole block of values. Loops over blocks of rows call `prepare`
    first, which computes once what depends on the points y alone.

    Notes
    -----
    What the methods take:

    - `x` (b, d): a block of rows.
    - `y` (s, d): the points that they are compared with.
    - `s` (b, s): inner products x.y, where the kernel is a function of these.
    - `evidence`: what the rows of the fit say, `KernelEvidence`.
    """

    # by which estimators, the command and `KERNELS` know it, made with the defaults of its
    # parameters
    name: ClassVar[str] = ""

    # True: values may share a large constant, so spaces centre the features first
    constant_part: ClassVar[bool] = False

    # True: moving all rows alike leaves every distance as it is
    distances_ignore_shifts: ClassVar[bool] = False

    # True: many prepared points take hardly more memory than the points themselves
    prepares_lightly: ClassVar[bool] = False

    # what k(x, y) is the inner product of, where these are coordinates
    coordinates: ClassVar[Literal["", "rows", "unit rows"]] = ""

    takes_kernel_values: ClassVar[bool] = False  # True: rows are kernel values already

    takes_affinities: ClassVar[bool] = False  # True: rows are affinities to all rows of a graph

    @property
    def takes_features(self) -> bool:
        """True where rows are features, not their values with other rows."""
        return not (self.takes_kernel_values or self.takes_affinities)

    over_landmarks: ClassVar[bool] = False  # True: a graph of rows that share near landmarks

    @property
    def is_made(self) -> bool:
        """True where it has values for any rows: not of a graph that a fit is to make."""
        return True

    @property
    def refines_cut(self) -> bool:
        """True of a graph whose cut a hard fit goes on to lower on the graph itself."""
        return False

    # False: for images, or values of another kernel; not offered by the command, which reads tables
    is_for_tables: ClassVar[bool] = True

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        enter(KERNELS, cls)

    def settled(self, evidence: KernelEvidence) -> Self:
        """Return the kernel with numbers in place of what the rows determine: of a `gamma`, "scale"
        and "median"."""
        gamma = getattr(self, "gamma", None)
        if not isinstance(gamma, str):
            return self
        size = self.spread(evidence) if gamma == "scale" else evidence.median(self.distances)
        return replace(self, gamma=evidence.inverse(size))  # type: ignore[type-var]

    def distances(self, x: Array) -> Float64:
        """Distances (b, b) of rows to each other, in the measure that `gamma` multiplies: squared
        ones."""
        x = in_float64(x)
        x = x if is_sparse(x) else x - central_point(x)
        return squared_distances(x, x)

    def spread(self, evidence: KernelEvidence) -> float:
        """The size of the rows' distances in that measure, which gamma="scale" is the inverse
        of."""
        return evidence.variance

    @property
    def positive_definite(self) -> bool:
        """False where k may have negative eigenvalues on some data."""
        return True

    @property
    def zero_at_zero_alone(self) -> bool:
        """True: k(x, x) is 0 for no row but one of zeros, so that 0 for another is an underflow."""
        return False

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes that describe the kernel itself, by name."""
        return {}

    def row_weights(self, x: Array, weight: Float64) -> Float64:
        """Return the weights (b,) that rows have in sums, from their sample weights `weight`."""
        return weight

    @abstractmethod
    def prepare(self, y: Array) -> Columns:
        """k(., y) for fixed y."""

    @abstractmethod
    def diag(self, x: Array) -> Array:
        """k(x_i, x_i) for every row (b,), in x's dtype."""

    def __call__(self, x: Array, y: Array) -> Array:
        """k(x_i, y_l) as a dense array (b, s)."""
        return self.prepare(y)(x)


class FeatureKernel(Kernel):
    """k(x, y) = e(x).e(y) of a few features e, the leading eigenvectors of a graph. A dataclass."""

    is_for_tables = False
    axes: Float64 | None  # None: of no rows yet, a fit makes the graph
    eigenvalues: Float64 | None  # of the graph, the largest first; more than features
    n_components: Literal["auto"] | int  # features; of a graph that is made, their number
    normalized: bool

    @property
    def is_made(self) -> bool:
        return self.axes is not None

    @property
    @abstractmethod
    def n_features_in(self) -> int:
        """Number of columns of the rows."""

    @property
    def landmarks(self) -> Array | None:
        """The landmarks (s, d) over which the graph is made, where they are known."""
        return None

    @property
    def n_landmarks(self) -> int | None:
        """s, the number of landmarks; None where the graph is not made over any."""
        return None

    @property
    def attributes(self) -> dict[str, Any]:
        assert self.eigenvalues is not None, "only of a graph that is made"
        suggested = suggested_clusters(self.eigenvalues)
        return {"eigenvalues_": self.eigenvalues, "n_clusters_suggested_": suggested}

    @property
    def shows_all_parts(self) -> bool:
        """True where there are no fewer features than parts of the graph that nothing joins: then
        only a row without edges has none."""
        assert self.eigenvalues is not None
        return int(self.n_components) >= int(np.count_nonzero(self.eigenvalues > 1.0 - TIE))

    @abstractmethod
    def features(self, x: Array) -> Array:
        """e(x) (b, k) of rows of any form, dense, in their dtype and library."""

    def prepare(self, y: Array) -> Columns:
        right = to_numpy(self.features(y)).T

        def columns(x: Array, room: Array | None = None) -> Array:
            return as_like(to_numpy(self.features(x)) @ right.astype(numpy_dtype(x)), x)

        return columns

    def diag(self, x: Array) -> Array:
        return squared_norms(self.features(x))

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__: Any = None


def equal_fields(kernel: Any, other: Any) -> bool:
    """Return whether two kernels are equal, of those that hold arrays."""
    return type(other) is type(kernel) and all(
        same(getattr(kernel, f.name), getattr(other, f.name)) for f in fields(kernel)
    )


def same(value: Any, other: Any) -> bool:
    """Return whether two fields are the same, arrays and CSR among them."""
    if is_sparse(value):
        return is_sparse(other) and equal(value, other)
    return bool(np.array_equal(value, other))


def of_length_one(e: Float64) -> Float64:
    """Return rows (b, k) divided by their lengths, in place; those of zeros as they are."""
    norms = np.sqrt(squared_norms(e))
    e /= np.where(norms > 0, norms, 1.0)[:, None]
    return e


def suggested_clusters(eigenvalues: Float64) -> int:
    """Return the number of clusters that a graph shows: before the largest gap of its frequencies,
    sqrt(1 - eigenvalue).

    Of one long, thin cluster these are evenly spaced (of broader ones they come closer), while gaps
    of the eigenvalues themselves grow; so of gaps that are large within a tenth the first is taken.
    """
    gaps = np.diff(np.sqrt(np.maximum(1.0 - eigenvalues, 0.0)))
    return int(np.argmax(gaps >= NEARLY * gaps.max())) + 1 if len(gaps) else 1
