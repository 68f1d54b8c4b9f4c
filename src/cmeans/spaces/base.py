"""What a space is: how far rows are from centres, and what centres the sums of one pass make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from ..arrays import Array, Float64, IntArray, as_like, in_form_of, is_foreign, is_sparse, namespace, rounding
from ..blocks import LARGEST_SUM, Block, piece, spans
from ..centres import Centres
from ..kernels import Columns, Kernel

Quick: TypeAlias = Callable[[Columns], Columns]
AnySpace = TypeVar("AnySpace", bound="Space")


@dataclass(frozen=True)
class View:
    """Centres as a sweep needs them: in the rows' library and dtype."""

    coefficients: Array  # (c, r) a_j over the basis
    norms: Array  # (c,) |v_j|^2
    duals: Array | None = None  # (c, n) t_j = K a_j, where the space knows the rows' products with the centres beforehand


class Rows(ABC):
    """A block of rows as a space sees them."""

    kxx: Array  # (b,) k(x, x)

    @abstractmethod
    def inner(self, view: View) -> Array:
        """<phi(x_i), v_j> (b, c)."""

    @abstractmethod
    def add_moment(
        self,
        w: Array,  # (b, c)
        total: Array,  # (c, moment_width) float64, added to in place
    ) -> None:
        """total_j += sum_i w_ij g(x_i)."""

    @abstractmethod
    def plain(self) -> ProductRows:
        """The same rows as anybody's rows, without what only training rows know."""

    def squared_distances(self, view: View) -> Array:
        """d2 (b, c) = k(x, x) - 2 <phi(x), v> + |v|^2; what rounding cannot tell from zero is zero."""
        xp = namespace(self.kxx)
        d2 = self.inner(view)
        d2 *= -2.0
        size = self.kxx[:, None] + view.norms[None, :]
        d2 += size
        size *= rounding(d2.dtype)
        return xp.where(d2 < size, xp.zeros_like(d2), d2)  # so that NaN and infinity stay and are found


@dataclass(frozen=True)
class ProductRows(Rows):
    """Rows by their inner products with a basis."""

    g: Array  # (b, r), dense or CSR
    kxx: Array

    def inner(self, view: View) -> Array:
        return self.g @ view.coefficients.T

    def add_moment(self, w: Array, total: Array) -> None:
        xp = namespace(total)
        for start, stop in spans(w.shape[0], LARGEST_SUM):
            g, part = piece(self.g, start, stop), w[start:stop, ...]
            moment = (g.T @ part).T if is_sparse(g) else part.T @ g
            total += xp.astype(moment, total.dtype)

    def plain(self) -> ProductRows:
        return self


class Space(ABC):
    """A geometry. It has a basis b_1..b_r; a row is known by its products with it, g(x), and by k(x, x).

    With t_j = moment_j / mass_j, the sums of one pass, the centres are the projections of the weighted means on the
    span of the basis, and d2(x, j) = k(x, x) - 2 g(x).a_j + |v_j|^2 for coefficients a_j of the centre over the basis.
    """

    kernel: Kernel

    @property
    @abstractmethod
    def size(self) -> int:
        """r, the number of basis elements: what a row costs to represent."""

    @property
    def moment_width(self) -> int:
        """How many columns the moments have."""
        return self.size

    @property
    def factored_size(self) -> int:
        """Side of the square float64 matrices the space holds or held to be built, for whoever plans memory."""
        return 0

    @property
    def jitter(self) -> float:
        """How many times more than the rows' own rounding shows in the sums of a sweep."""
        return 1.0

    @property
    def keeps_rows_cheaply(self) -> bool:
        """False where represented rows are no cheaper to read than the rows themselves, so that keeping them gains nothing."""
        return True

    @property
    def sweeps_products(self) -> bool:
        """Whether a sweep over training rows needs nothing but g(x) and k(x, x): False where they know more."""
        return True

    def room(self, n_rows: int, like: Array) -> Array | None:
        """Memory that that many rows of the library and dtype of `like` can be represented in; None where it would not be used."""
        return None

    def quickened(self, quick: Quick) -> Space:
        """The same space, its rows represented by faster kernel values where it has any."""
        return self

    @abstractmethod
    def rows(self, block: Block, room: Array | None = None) -> Rows:
        """Any rows, represented over the basis; in `room`, where that serves."""

    def training_rows(self, block: Block, room: Array | None = None) -> Rows:
        """Rows of the very data the space was built on, cut at `block.start`."""
        return self.rows(block, room)

    @abstractmethod
    def centres(self, mass: Float64, moment: Float64) -> Centres:
        """The centres that the sums make (any value where mass is 0)."""

    @abstractmethod
    def coefficients(self, centres: Centres) -> Float64:
        """a (c, r) over the basis."""

    @abstractmethod
    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        """Rows as centres: their projections on the span. `numbers` are their numbers if they are training rows."""

    @abstractmethod
    def inner_products(self, centres: Centres, block: Block) -> Float64:
        """<phi(x_i), v_j> (c, b) for any rows, about the origin of feature space whatever the space's own origin is."""

    @abstractmethod
    def norms(self, centres: Centres) -> Float64:
        """|v_j|^2 (c,) about the origin of feature space whatever the space's own origin is."""

    @abstractmethod
    def as_rows(self, centres: Centres) -> Rows:
        """Centres as rows among others, in float64 on the host: they stand for many rows of a weight in one place."""

    @abstractmethod
    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        """Centres of another space projected onto this one; `basis` are the rows of this space's basis."""

    @abstractmethod
    def portable(self, centres: Centres) -> tuple[Space, Centres]:
        """The same centres in a space that needs no factorisation and no training rows but its basis: what a model keeps."""

    def view(self, centres: Centres, like: Array) -> View:
        """The centres in the library and dtype of `like`."""
        return View(as_like(self.coefficients(centres), like), as_like(centres.squared_norms(), like))


def with_columns(space: AnySpace, columns: Columns, points: Array) -> AnySpace:
    """A copy of a space that keeps its kernel's columns against `points` as `_columns`, with others in their place."""
    twin = replace(space)  # type: ignore[type-var]
    twin.__dict__["_columns"] = columns_of(columns, points)
    return twin


def columns_of(columns: Columns, points: Array) -> Columns:
    """The same for rows of any form."""
    return lambda x, room=None: columns(in_form_of(x, points), room)


def kernel_room(n_rows: int, columns: int, like: Array) -> Array | None:
    """Memory for kernel values of NumPy or CSR rows; other libraries look after theirs."""
    return None if is_foreign(like) else np.empty((n_rows, columns), dtype=like.dtype)


def mean_products(mass: Float64, moment: Float64) -> Float64:
    """t_j = moment_j / mass_j, zero where a cluster has no mass."""
    return moment / np.where(mass > 0, mass, 1.0)[:, None]
