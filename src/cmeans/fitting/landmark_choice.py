"""The parameter `landmarks`: how many rows span the centres, which, and how well they must do."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..data.arrays import Array, Float64, IntArray
from ..data.blocks import Blocks
from ..data.scaling import Units
from ..kernels import Kernel
from ..runtime.checks import integer, one_of, real
from ..runtime.parameter_object import ParameterObject
from ..spaces import LandmarkSpace, landmark_space, over_few
from .arguments import (
    Auto,
    SpaceParameters,
    are_points,
    check_landmarks,
    matching_points,
    row_numbers,
)

LandmarkMethod = Literal["auto", "rpcholesky", "k-means++", "uniform", "k-means"]
METHODS: tuple[LandmarkMethod, ...] = ("auto", "rpcholesky", "k-means++", "uniform", "k-means")
# of values of the parameter, beside numbers
KINDS = '"auto", None, points, row numbers, Landmarks(...) or '


@dataclass(frozen=True, repr=False)
class Landmarks(ParameterObject):
    """The choice of landmarks, the rows whose span holds the centres.

    `landmarks=300` is short for `landmarks=Landmarks(300)`, and an array of points or row numbers
    for `landmarks=Landmarks(points=array)`.

    Parameters
    ----------
    number : "auto", int or None, default="auto"
        Number of landmarks; None: all rows, exactly. (Where a quarter of them or fewer span all to
        1e-9 of the variance, an exact fit works with those.) "auto": exact up to 2,000 rows, else
        as many as `tol` asks for, at most 2,048; of "landmark_graph" 30 for each cluster, from
        1,000 to 4,000, and at most half as many as there are rows. "rpcholesky" takes fewer than
        asked for where these span all rows.
    method : "auto", "rpcholesky", "k-means++", "uniform" or "k-means", default="auto"
        How they are chosen. "rpcholesky": rows are drawn in proportion to what those before leave
        out of them (randomly pivoted Cholesky), "k-means++": to the squared distance from the
        nearest of them, "uniform": to weight; the first two among at most 20,000 rows. "k-means":
        centres of k-means over a sample, for "landmark_graph" alone. "auto" is what suits the fit:
        "k-means" for a graph, "uniform" for the sample of `TwoStepKernelKMeans`, "rpcholesky" else.
    tol : float, default=0.02
        Share by which costs of two partitions may compare wrongly with number="auto". Landmarks are
        added, 64 at a time, until the error of comparing two partitions is at most this share of
        what one costs (`approximation_`), or they leave out less than 1% of the variance.
    points : (s, d) points or (s,) row numbers, default=None
        The landmarks themselves, which sets their number too. Of 64 or more a fit works with those
        that span the others but for rounding, where half of them or fewer do.

    Raises
    ------
    ValueError
        For a bad number, method or tolerance, and where points and their number or method are both
        given.

    Examples
    --------
    >>> from cmeans import KernelKMeans, Landmarks
    >>> KernelKMeans(3, landmarks=Landmarks(300, method="uniform"))
    KernelKMeans(landmarks=Landmarks(number=300, method='uniform'), n_clusters=3)
    """

    number: int | Auto | None = "auto"
    method: LandmarkMethod = "auto"
    tol: float = 0.02
    points: Any | None = None
    is_factored: ClassVar[bool] = True  # a fit factors the landmarks' kernel matrix once

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not (self.number is None or (isinstance(self.number, str) and self.number == "auto")):
            integer(self.number, "number", name, 1, others='"auto", None or ')
        one_of(self.method, "method", name, METHODS)
        real(self.tol, "tol", name)
        if self.points is not None and (self.number != "auto" or self.method != "auto"):
            raise ValueError(
                f"{name}(points=...): points are landmarks as they are; leave number and method "
                "out, or the points."
            )

    @property
    def count(self) -> int | None:
        """The number of landmarks where it is given."""
        return int(self.number) if isinstance(self.number, numbers.Integral) else None

    @property
    def is_exact(self) -> bool:
        """True where all rows are asked for."""
        return self.number is None

    def factored(self) -> Landmarks:
        """Return the same choice, of which the landmarks' kernel matrix is factored."""
        if self.is_factored:
            return self
        return Landmarks(self.number, self.method, self.tol, self.points)

    def space(
        self,
        kernel: Kernel,
        points: Array,
        gram: Float64 | None,
        dtype: Any,
        *,
        spherical: bool = False,
    ) -> tuple[LandmarkSpace, IntArray]:
        """Return the space over landmarks (s, d) for rows of a dtype, and which of them it is over:
        a few, where these span the others.

        `gram` is K_ss where the kernel cannot compute it, `spherical` whether centres have length
        1.
        """
        space = landmark_space(
            kernel, points, gram, dtype, factor=self.is_factored, spherical=spherical
        )
        return over_few(space, dtype)


AUTOMATIC = Landmarks()


def landmarks_from(value: Any, estimator_name: str) -> Landmarks:
    """Return the choice that a value of the parameter stands for."""
    if isinstance(value, Landmarks):
        return value
    if isinstance(value, str):
        if value == "auto":
            return AUTOMATIC
        given = f"{estimator_name}(landmarks={value!r})"
        advice = f"; Landmarks(method={value!r}) is one of its methods" if value in METHODS else ""
        raise ValueError(f"{given}: give {KINDS}a number{advice}.")
    if value is None:
        return Landmarks(None)
    if isinstance(value, numbers.Number):
        return Landmarks(integer(value, "landmarks", estimator_name, 1, others=KINDS))
    return Landmarks(points=value)


def method_or(landmarks: Landmarks, usual: str) -> str:
    """Return the method, `usual` where it is left to the fit."""
    return usual if landmarks.method == "auto" else landmarks.method


def number_among(landmarks: Landmarks, n_rows: int, estimator_name: str) -> int | Auto | None:
    """Return the number of landmarks, refused where there are not as many rows."""
    if landmarks.count is None:
        return landmarks.number
    if landmarks.count > n_rows:
        raise ValueError(
            f"{estimator_name}(landmarks={landmarks.count}): there are only n_samples={n_rows} "
            "rows to take landmarks from."
        )
    return landmarks.count


def given_landmarks(
    landmarks: Landmarks, estimator_name: str, blocks: Blocks, units: Units | None = None
) -> tuple[IntArray | None, Array] | None:
    """Return landmarks given as row numbers (rows, points) or as points (None, points); None where
    they are chosen. `units`: those of the rows, where they are not the user's."""
    if landmarks.points is None:
        return None
    if are_points(landmarks.points, estimator_name):
        points = matching_points(landmarks.points, "landmarks", estimator_name, blocks)
        return None, points if units is None else units(points)
    rows = row_numbers(landmarks.points, estimator_name, blocks.n_rows)
    return rows, blocks.take(rows).x


def refuse_others(landmarks: Landmarks, taken: tuple[str, ...], asked: str, why: str) -> None:
    """Refuse fields other than those that are `taken`, where they differ from their defaults."""
    if not landmarks.is_factored:
        raise ValueError(f"{asked}landmarks={landmarks!r}): {why}; give Landmarks(...).")
    others = [name for name in landmarks.non_defaults() if name not in taken]
    if others:
        raise ValueError(
            f"{asked}landmarks={landmarks!r}): {why}; leave {' and '.join(others)} out."
        )


def checked_landmarks(
    parameters: SpaceParameters, kernel: Kernel, estimator_name: str
) -> Landmarks:
    """Return the choice of landmarks, checked as far as is possible without rows."""
    landmarks = landmarks_from(parameters.landmarks, estimator_name)
    if landmarks is AUTOMATIC:
        return landmarks
    if landmarks.points is not None:
        check_landmarks(landmarks.points, estimator_name, rows_only=kernel.takes_kernel_values)
    if kernel.takes_affinities:
        refuse_others(
            landmarks,
            (),
            f'{estimator_name}(kernel="precomputed_graph", ',
            "a graph that is given has none",
        )
    elif kernel.over_landmarks:
        check_graph_landmarks(landmarks, f'{estimator_name}(kernel="landmark_graph", ')
    elif landmarks.method == "k-means":
        raise ValueError(
            f"{estimator_name}(landmarks={landmarks!r}): centres of k-means are landmarks of "
            'kernel="landmark_graph" alone; take "rpcholesky", "k-means++" or "uniform".'
        )
    taken = getattr(parameters, "_taken_fields", {}).get("landmarks")
    if taken is not None:
        refuse_others(landmarks, taken, f"{estimator_name}(", "its fit makes no use of the rest")
    return landmarks


def check_graph_landmarks(landmarks: Landmarks, asked: str) -> None:
    """Refuse a choice of landmarks that no graph has."""
    if landmarks.is_exact:
        raise ValueError(
            f'{asked}landmarks=None): the graph is made over landmarks; give a number, or "auto".'
        )
    if landmarks.method == "rpcholesky":
        raise ValueError(
            f"{asked}landmarks={landmarks!r}): a graph has landmarks before it is a kernel; take "
            '"k-means", "k-means++" or "uniform".'
        )
    refuse_others(landmarks, ("number", "method", "points"), asked, "a graph has none of that")
