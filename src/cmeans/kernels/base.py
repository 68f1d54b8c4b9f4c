"""Interface of kernels: frozen objects that give the inner products of rows in a feature space."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from ..data.arrays import Array, Float64, as_like, numpy_dtype, squared_norms, to_numpy

TIE = 1e-8  # difference of eigenvalues, of 1 at most, that is rounding
NEARLY = 0.9  # share of the largest gap from which on another is as large


class Columns(Protocol):
    """Kernel values (b, s) of rows (b, d) against fixed points, dense, in the rows' dtype.

    The first s columns of `room` (b, s or more) may be written to and returned, which avoids new memory for every block.
    """

    def __call__(self, x: Array, room: Array | None = None) -> Array: ...


def check_parameters(kernel: object, **least: float) -> None:
    """Raise ValueError for a parameter that is not a finite number above its bound (`degree`: a whole number, at least its bound)."""
    for name, bound in least.items():
        value = getattr(kernel, name)
        whole = name == "degree"
        good = isinstance(value, numbers.Integral if whole else numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
        if not good or value < bound or (value == bound and not whole):
            wanted = "a finite number" if bound == -math.inf else f"a number greater than {bound:g}"
            wanted = f"a whole number of at least {bound:g}" if whole else wanted
            raise ValueError(f"{type(kernel).__name__}({name}={value!r}): {name} must be {wanted}.")


class Kernel(ABC):
    """k(x, y) = <phi(x), phi(y)>.

    Calling a kernel computes a whole block of values. Loops over blocks of rows call `prepare` first, which computes once what
    depends on the points y alone.

    Notes
    -----
    What the methods take:

    - `x` (b, d): a block of rows.
    - `y` (s, d): the points that they are compared with.
    - `s` (b, s): inner products x.y, where the kernel is a function of these.
    """

    constant_part: ClassVar[bool] = False  # True: values may share a large constant, so spaces centre the features first

    distances_ignore_shifts: ClassVar[bool] = False  # True: moving all rows alike leaves every distance as it is

    prepares_lightly: ClassVar[bool] = False  # True: many prepared points take hardly more memory than the points themselves

    coordinates: ClassVar[Literal["", "rows", "unit rows"]] = ""  # what k(x, y) is the inner product of, where these are coordinates

    takes_kernel_values: ClassVar[bool] = False  # True: rows are kernel values already

    takes_affinities: ClassVar[bool] = False  # True: rows are affinities to all rows of a graph

    @property
    def takes_features(self) -> bool:
        """True where rows are features, not their values with other rows."""
        return not (self.takes_kernel_values or self.takes_affinities)

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
        """Return the weights (b,) that rows have in sums, from their sample weights."""
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

    eigenvalues: Float64  # of the graph, the largest first; more than features

    @property
    @abstractmethod
    def n_components(self) -> int:
        """k, the number of features."""

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
        suggested = suggested_clusters(self.eigenvalues)
        return {"eigenvalues_": self.eigenvalues, "n_clusters_suggested_": suggested}

    @property
    def shows_all_parts(self) -> bool:
        """True where there are no fewer features than parts of the graph that nothing joins: then only a row without edges has none."""
        return self.n_components >= int(np.count_nonzero(self.eigenvalues > 1.0 - TIE))

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
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(other) is type(self) and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__: Any = None


def of_length_one(e: Float64) -> Float64:
    """Return rows (b, k) divided by their lengths, in place; those of zeros as they are."""
    norms = np.sqrt(squared_norms(e))
    e /= np.where(norms > 0, norms, 1.0)[:, None]
    return e


def suggested_clusters(eigenvalues: Float64) -> int:
    """Return the number of clusters that a graph shows: before the largest gap of its frequencies, sqrt(1 - eigenvalue).

    Of one long, thin cluster these are evenly spaced (of broader ones they come closer), while gaps of the eigenvalues themselves grow;
    so of gaps that are large within a tenth the first is taken.
    """
    gaps = np.diff(np.sqrt(np.maximum(1.0 - eigenvalues, 0.0)))
    return int(np.argmax(gaps >= NEARLY * gaps.max())) + 1 if len(gaps) else 1
