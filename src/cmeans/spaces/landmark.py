"""Centres in the span of s landmarks: approximate kernel k-means, akFCM and akPCM without stored n
x s products."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    in_float64,
    is_foreign,
    is_sparse,
    to_numpy,
)
from ..data.blocks import Block, blocks_of, spans
from ..data.precision import ASYMMETRY, resolution
from ..kernels import Columns, Kernel
from ..runtime.numerals import in_digits
from ..runtime.stored_classes import stored
from ..runtime.user_warnings import OutOfRangeError
from .base import Pairing, Space, columns_of, kernel_room, mean_products
from .centres import Centres
from .conjugate_gradients import conjugate_gradients, solver_tolerance
from .kernel_centring import Centring
from .rows import ProductRows, Rows
from .spectrum import estimated_largest_eigenvalue
from .whiteners import cholesky_whitener, tries_cholesky, whitener

SQUARE = 256  # side of the parts of a Gram matrix that are compared with each other
# landmarks up to which the gradient form keeps K_ss; beyond, its products are computed block by
# block
LARGEST_KEPT_GRAM = 8192

JITTER = 30.0  # of centres from conjugate gradients, which stop at a residual
# of the basis' mean square, for every element: what goes on G's diagonal where it is not factored
RIDGE = 1e-12
# Of the raw values' own: where centring leaves less, they round by more than such a ridge, and G
# has eigenvalues as far below zero.
LEAST_SQUARE = 16.0 * np.finfo(float).eps / RIDGE


@stored
@dataclass(frozen=True)
class LandmarkSpace(Space):
    """Basis = the landmarks, G = K_ss (Havens 2011 eq. 12-20, Chitta 2011 eq. 4-7).

    With W from a factor of G the centres have orthonormal coordinates v = W^T t. Without W they are
    pairs (a, t): a solves G a = t by conjugate gradients, as both papers propose where s is too
    large to factor.
    """

    kernel: Kernel
    # (s, d) the landmarks; for a precomputed kernel the numbers (s,) of their columns
    points: Array
    gram: Float64 | None = None  # (s, s) raw K_ss, where it is kept
    centring: Centring | None = None
    whitener: Float64 | None = None  # (r, k)
    solver_tolerance: float = 1e-12
    # mean |b_l|^2 of the basis, the scale of the gradient form's ridge; no less than raw values can
    # tell
    mean_square: float = 1.0
    spherical: bool = False
    pairs_by_kernel = True

    def __post_init__(self) -> None:
        s, numbered = int(self.points.shape[0]), self.kernel.takes_kernel_values
        if self.points.ndim != (1 if numbered else 2):
            raise ValueError(
                f"LandmarkSpace: points of shape {tuple(self.points.shape)} are no landmarks of "
                f"{self.kernel!r}"
            )
        fitting = self.centring is None or self.centring.row_means.shape == (s,)
        fitting &= self.gram is None or self.gram.shape == (s, s)
        fitting &= self.whitener is None or (
            self.gram is not None and self.whitener.ndim == 2 and len(self.whitener) == self.size
        )
        if not fitting:
            raise ValueError(f"LandmarkSpace: its parts do not fit {s} landmarks")

    @property
    def size(self) -> int:
        return int(self.points.shape[0]) + (self.centring is not None)

    @property
    def factored_size(self) -> int:
        return 0 if self.gram is None else len(self.gram)

    @property
    def is_orthonormal(self) -> bool:
        return self.whitener is not None

    @property
    def jitter(self) -> float:
        return JITTER if self.whitener is None else 1.0

    @property
    def ridge(self) -> float:
        """The addition of the gradient form to G's diagonal: its centres minimise the objective and
        ridge sum_j mass_j |a_j|^2  together. Zero where G is factored."""
        return RIDGE * self.size * self.mean_square if self.whitener is None else 0.0

    def room(self, n_rows: int, like: Array) -> Array | None:
        return kernel_room(n_rows, self.size, like)

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        kxx = self.kernel.diag(block.x) if block.kxx is None else block.kxx
        g = self._columns(block.x, room)
        if self.centring is None:
            return ProductRows(g, kxx)
        return ProductRows(*self.centring.rows(g, kxx, room))

    def means(self, mass: Float64, moment: Float64) -> Centres:
        return self._from_products(mean_products(mass, moment))

    def coefficients(self, centres: Centres) -> Float64:
        if self.whitener is None:
            return centres.coordinates
        return centres.coordinates_times(self.whitener.T)

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        return self._from_raw_products(host_float64(self._columns(block.x)))

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        return self.raw_coefficients(centres) @ host_float64(self._columns(block.x)).T

    def norms(self, centres: Centres) -> Float64:
        norms = centres.squared_norms()
        if self.centring is None:
            return norms
        return self.centring.raw_squared_norms(self.coefficients(centres), norms)

    def as_rows(self, centres: Centres) -> Rows:
        if self.whitener is None:
            products = centres.duals
        else:
            products = self._gram_product(self.coefficients(centres))
        return ProductRows(products, centres.squared_norms())

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        rows = Block(self.points, np.ones(self.points.shape[0]), 0) if basis is None else basis
        return self._from_raw_products(origin.inner_products(centres, rows))

    def portable(self, centres: Centres, columns: IntArray | None = None) -> tuple[Space, Centres]:
        a, duals = self.coefficients(centres), host_float64(self.as_rows(centres).plain().g)
        # K_ss can be computed again from the landmarks, except where it was given.
        gram = self.gram if self.kernel.takes_kernel_values else None
        points = self.points if columns is None else columns
        return replace(self, points=points, whitener=None, gram=gram), Centres(a, duals)

    @property
    def is_portable(self) -> bool:
        return self.whitener is None

    @property
    def n_coordinates(self) -> int:
        return self.size if self.whitener is None else int(self.whitener.shape[1])

    @property
    def n_landmarks(self) -> int:
        return int(self.points.shape[0])

    @property
    def basis_points(self) -> Array:
        return self.points

    def pairing(self, block: Block, numbers: IntArray | None = None) -> Pairing:
        """The products of rows are those of their projections, k(x, x) is whole."""
        assert self.whitener is not None
        rows = self.rows(block).plain()
        return Pairing(host_float64(rows.g) @ self.whitener, host_float64(rows.kxx))

    def attributes(self, centres: Centres, landmark_rows: IntArray | None) -> dict[str, Any]:
        found = super().attributes(centres, landmark_rows)
        found |= {"dual_coef_": self.raw_coefficients(centres), "landmark_indices_": landmark_rows}
        return found if self.kernel.takes_kernel_values else {**found, "landmarks_": self.points}

    def check(self, n_features: int, diag: Any) -> None:
        points, d = self.points, n_features
        if not self.kernel.takes_kernel_values:
            if (
                diag is not None
                or points.shape[1] != d
                or not np.issubdtype(points.dtype, np.floating)
            ):
                raise ValueError(
                    f"landmarks of shape {points.shape} and {points.dtype} do not fit {d} features"
                )
            return
        known = (
            isinstance(diag, np.ndarray)
            and diag.ndim == 1
            and diag.dtype == np.float64
            and len(diag) > 0
        )
        if not known or not np.isfinite(diag).all():
            raise ValueError("the diagonal of the training rows is missing or damaged")
        if is_sparse(points) or not np.issubdtype(points.dtype, np.integer):
            raise ValueError("the landmarks of a precomputed kernel are no column numbers")
        if len(points) and (points.min() < 0 or points.max() >= d):
            raise ValueError(f"column numbers beyond the {d} columns")

    def coordinates(self, block: Block) -> Float64:
        """Orthonormal coordinates (b, k) of the projections of any rows, about the origin of
        feature space."""
        return self.embed(block).coordinates + self.origin

    @property
    def origin(self) -> Float64:
        """The space's own origin (k,): zero, or, where features are centred, the mean of the
        landmarks."""
        assert self.whitener is not None
        if self.centring is None:
            return np.zeros(self.whitener.shape[1])
        return self.centring.mean_products() @ self.whitener

    def residuals(self, block: Block) -> Float64:
        """|phi(x) - its projection|^2 (b,), the part of each row that the landmarks do not
        represent."""
        rows, projections = self.rows(block).plain(), self.embed(block)
        return np.maximum(host_float64(rows.kxx) - projections.squared_norms(), 0.0)

    def for_rows(
        self, x: Array, *, holes: bool, is_scale_free: bool, has_metrics: bool
    ) -> LandmarkSpace:
        if self.kernel.takes_kernel_values or is_foreign(self.points) == is_foreign(x):
            return self
        points = self.points.toarray() if is_sparse(self.points) else self.points
        return replace(self, points=as_like(points, x) if is_foreign(x) else to_numpy(points))

    def raw_coefficients(self, centres: Centres) -> Float64:
        """Coefficients (c, s) of the centres over the landmarks themselves."""
        a = self.coefficients(centres)
        return a if self.centring is None else self.centring.raw_coefficients(a)

    def _from_raw_products(self, raw: Float64) -> Centres:
        return self._from_products(raw if self.centring is None else self.centring.products(raw))

    def _from_products(self, t: Float64) -> Centres:
        if self.whitener is not None:
            return Centres.orthonormal(t @ self.whitener)
        a = conjugate_gradients(self._gram_product, t, self.solver_tolerance, self.ridge)
        return Centres(a, self._gram_product(a))

    def _gram_product(self, a: Float64) -> Float64:
        if self.gram is not None:
            return a @ self._basis_gram
        points = in_float64(self.points)
        columns = self.kernel.prepare(points)
        raw = a if self.centring is None else a[:, :-1]
        products = np.concatenate(
            [raw @ host_float64(columns(part)).T for part in blocks_of(points, 512)], axis=1
        )
        if self.centring is None:
            return products
        means, mean, scale = self.centring.row_means, self.centring.mean, self.centring.scale
        outer, total, tilt = scale * a[:, -1:], raw.sum(axis=1, keepdims=True), raw @ means[:, None]
        body = products - tilt + (outer - total) * (means - mean)
        return np.concatenate([body, scale * (tilt - total * mean + outer * mean)], axis=1)

    @cached_property
    def _basis_gram(self) -> Float64:
        assert self.gram is not None
        return self.gram if self.centring is None else self.centring.gram(self.gram)

    @cached_property
    def _columns(self) -> Columns:
        return columns_of(self.kernel, self.points)

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are computed again: prepared kernels may hold closures, which do not
        # pickle.
        return {k: v for k, v in self.__dict__.items() if k not in ("_columns", "_basis_gram")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def keeps_gram(kernel: Kernel, n_landmarks: int, *, spherical: bool) -> bool:
    """Return True where the gradient form has K_ss in memory: where it is small, is given, or is
    centred."""
    small, given = n_landmarks <= LARGEST_KEPT_GRAM, kernel.takes_kernel_values
    return small or given or bool(kernel.constant_part and not spherical)


def landmark_space(
    kernel: Kernel,
    points: Array,
    gram: Float64 | None,
    dtype: Any,
    *,
    factor: bool = True,
    spherical: bool = False,
) -> LandmarkSpace:
    """Return the space over given landmarks for rows of a dtype; `gram` is K_ss where the kernel
    cannot compute it (precomputed).

    A spherical space is about the origin of feature space, as its centres are.
    """
    coarse = resolution(dtype) > 1e-10
    s = int(points.shape[0])
    centred = kernel.constant_part and not spherical
    if not factor and gram is None and not keeps_gram(kernel, s, spherical=spherical):
        size = float(np.abs(host_float64(kernel.diag(points))).mean())
        return LandmarkSpace(
            kernel,
            points,
            solver_tolerance=solver_tolerance(dtype),
            mean_square=size,
            spherical=spherical,
        )
    gram = gram_matrix(kernel, points) if gram is None else checked_gram(gram, kernel)
    centring = Centring.of(gram) if centred else None
    basis_gram = gram if centring is None else centring.gram(gram)
    raw, size = (float(np.abs(np.diag(matrix)).mean()) for matrix in (gram, basis_gram))
    scale = max(size, LEAST_SQUARE * raw)
    space = LandmarkSpace(
        kernel, points, gram, centring, None, solver_tolerance(dtype), scale, spherical
    )
    if not factor:
        return space
    # Below 1e-11 rounding makes the objective rise by 1e-7 where landmarks are nearly redundant.
    cut = max(10.0 * s * np.finfo(float).eps, 1e-6 if coarse else 1e-11)
    # Values carry rounding of the size of the raw kernel; in a direction of eigenvalue e it adds
    # noise^2 / e to a squared distance.
    noise = 30 * resolution(dtype) * raw
    floor = noise * (noise / size) if size > 0 else 0.0
    if tries_cholesky(s):
        w = cholesky_whitener(gram, max(cut * estimated_largest_eigenvalue(basis_gram), floor))
    else:
        w = None
    if w is None:
        return replace(space, whitener=whitener(basis_gram, cut, floor))
    return replace(space, whitener=w if centring is None else centring.whitener(w))


def gram_matrix(kernel: Kernel, points: Array) -> Float64:
    """Return K_ss in float64, for rows of any dtype."""
    points = in_float64(points)
    return checked_gram(host_float64(kernel(points, points)), kernel)


def checked_gram(gram: Float64, kernel: Kernel) -> Float64:
    """Return a Gram matrix made exactly symmetric; ValueError where it is not finite, or asymmetric
    beyond rounding."""
    if not np.isfinite(gram).all():
        i, j = np.argwhere(~np.isfinite(gram))[0]
        finite = gram[np.isfinite(gram)]
        if len(finite):
            others = f", others from {in_digits(finite.min())} to {in_digits(finite.max())}"
        else:
            others = ""
        raise OutOfRangeError(
            f"kernel={kernel!r} gives {gram[i, j]} for a pair of rows (landmarks or sample, {i} "
            f"and {j}){others}: it must be finite. Polynomials overflow on large features: scale "
            'the data, or use kernel="normalized_polynomial".'
        )
    symmetric, asymmetry = np.empty(gram.shape), 0.0
    parts = list(spans(len(gram), SQUARE))
    # squares that stay in the cache
    for (first, last), (start, stop) in itertools.combinations_with_replacement(parts, 2):
        one, other = gram[first:last, start:stop], gram[start:stop, first:last].T
        difference = one - other
        asymmetry = max(asymmetry, float(difference.max()), -float(difference.min()))
        mean = (one + other) * 0.5
        symmetric[first:last, start:stop], symmetric[start:stop, first:last] = mean, mean.T
    if asymmetry > ASYMMETRY * max(float(gram.max()), -float(gram.min()), np.finfo(float).tiny):
        raise ValueError(
            f"kernel={kernel!r} is not symmetric: k(x, y) and k(y, x) differ by up to "
            f"{asymmetry:.3g}."
        )
    return symmetric
