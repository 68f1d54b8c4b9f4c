"""Interface of spaces: distances of rows to centres, and the centres that the sums of one pass
give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    in_form_of,
    is_foreign,
    to_numpy,
)
from ..data.blocks import Block, Blocks
from ..kernels import Columns, Kernel
from ..runtime.stored_classes import enter, stored
from .centres import Centres
from .member_scatter import MemberScatter
from .metrics import Metrics
from .rows import ProductRows, Rows, View

# by the names that `kernel=` gives; a class with one enters itself
SPACES: dict[str, type[Space]] = {}


@dataclass(frozen=True)
class Pairing:
    """Rows of a space that are compared with each other, each as a row and as a centre:

    |phi(x_i) - phi(x_j)|^2 = kxx_i + kxx_j - 2 (g_i . a_j + lack_j).
    """

    g: Float64  # (b, r) the rows
    kxx: Float64 | None = None  # (b,) k(x, x); None: the sum of squares of g
    a: Float64 | None = None  # (b, r) their coefficients as centres; None: g
    lack: Float64 | None = None  # (b,); None: zeros


class Space(ABC):
    """A geometry with a basis b_1..b_r; a row is its products with the basis, g(x), and k(x, x).

    With t_j = moment_j / mass_j, the sums of one pass, the centres are the projections of the
    weighted means on the span of the basis, and d2(x, j) = k(x, x) - 2 g(x).a_j + |v_j|^2 for
    coefficients a_j of the centre over the basis.

    A space of one's own needs `kernel`, `size` and `rows`: what is written here serves spaces whose
    rows are coordinates over orthonormal axes about the origin. Other spaces replace more of it.
    """

    name: ClassVar[str] = ""  # by which a fit makes it `over` its rows; "": by other words
    kernel: Kernel  # of the class, where it has a name
    spherical: bool = False  # whether centres have length one
    # of training rows that stand for several, which clusters with metrics see and native sweeps do
    # not; None: rows stand for themselves
    scatter: MemberScatter | None = None
    empty_row_has = "only zeros, and so no direction"  # for messages
    # whether clusters with metrics say what stands in place of missing values
    completes_rows: bool = False
    # whether a squared distance is k(x, x) - 2 g(x).a_j + |v_j|^2, of orthonormal coordinates where
    # the space has them
    norms_are_offsets: bool = True
    # whether rows are as far from each other as the kernel says, though the span may leave some of
    # that out; else `pairing` says it
    pairs_by_kernel: bool = False

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if cls.__dict__.get("name"):
            enter(SPACES, stored(cls))

    @classmethod
    def over(cls, blocks: Blocks, rng: np.random.RandomState) -> Space:  # noqa: ARG003
        """Return the space over the rows of a fit whose `kernel` is its name."""
        raise ValueError(f"{cls.__name__} is no space that a name alone can build.")

    # What a sweep asks: rows as numbers, and what they cost.

    @property
    @abstractmethod
    def size(self) -> int:
        """r, the number of basis elements, which is the cost of representing a row."""

    @abstractmethod
    def rows(self, block: Block, room: Array | None = None) -> Rows:
        """Represent any rows over the basis, in `room` where it can be used."""

    def training_rows(self, block: Block, room: Array | None = None) -> Rows:
        """Represent rows that the space was built on, from row `block.start` on."""
        return self.rows(block, room)

    def room(self, n_rows: int, like: Array) -> Array | None:
        """Return memory for representing `n_rows` rows of the library and dtype of `like`; None
        where it would not be used."""
        return None

    @property
    def moment_width(self) -> int:
        """Number of columns of the moments."""
        return self.size

    @property
    def factored_size(self) -> int:
        """Side of the square float64 matrices that building the space takes, to estimate memory."""
        return 0

    @property
    def bytes_of_rows(self) -> int:
        """Bytes that the space itself keeps of the rows on which it was built."""
        return 0

    @property
    def jitter(self) -> float:
        """Factor by which the rounding in the sums of a sweep exceeds that of the rows."""
        return 1.0

    @property
    def keeps_rows_cheaply(self) -> bool:
        """False where represented rows are no cheaper to read than the rows themselves, so that
        keeping them gains nothing."""
        return True

    @property
    def in_coordinates(self) -> bool:
        """True where rows are represented by numbers of their own, not by kernel values."""
        return False

    @property
    def keeps_csr(self) -> bool:
        """True where CSR rows stay CSR."""
        return self.in_coordinates

    @property
    def represents_by_views(self) -> bool:
        """True where represented rows are no copies of NumPy rows."""
        return False

    @property
    def sweeps_products(self) -> bool:
        """True where a sweep over training rows needs only g(x) and k(x, x)."""
        return True

    @property
    def is_metric(self) -> bool:
        """True where a row's distance to a centre changes by no more than the centre moves."""
        return True

    @property
    def is_orthonormal(self) -> bool:
        """True where the coordinates of rows and centres are over orthonormal axes."""
        return True

    @property
    def takes_metrics(self) -> bool:
        """True where rows are numbers over orthonormal axes, few enough for every cluster to have a
        metric of its own (`Metrics`)."""
        return False

    def first_metric(self, *, diagonal: bool) -> Metrics:
        """Return the metric (one) in which rows are swept before any other is known."""
        scales = self.typical_scales
        return Metrics.same(scales if diagonal else np.diag(scales), 1)

    @property
    def typical_scales(self) -> Float64:
        """(r,) one over a typical deviation of each coordinate, where a unit counts; else 1."""
        return np.ones(self.n_coordinates)

    # What is asked of rows that say nothing, and of parts of the rows.

    @property
    def filling(self) -> Callable[[Array], Array] | None:
        """Function of rows that puts something in place of what is missing; None where nothing
        is."""
        return None

    @property
    def may_hold_empty_rows(self) -> bool:
        """True where rows may say nothing of the cluster that they belong to, as those without a
        direction do on a sphere."""
        return self.spherical

    def empty_rows(self, rows: Rows) -> IntArray:
        """Return the positions of represented rows that say nothing."""
        return np.flatnonzero(to_numpy(rows.kxx == 0))

    def empty_rows_of(self, block: Block) -> IntArray:
        """Return the same of rows as they are given."""
        kxx = self.kernel.diag(block.x) if block.kxx is None else block.kxx
        return np.flatnonzero(to_numpy(kxx == 0))

    def of_part(self, numbers: IntArray) -> Space:
        """Return the same space as if it had been built on some of its rows alone; for spaces of
        which a part can be taken."""
        return self

    def factored(self) -> Space:
        """Return the same space in a form in which rows need not be training rows, as their means
        are none."""
        return self

    def for_rows(self, x: Array, *, holes: bool, is_scale_free: bool, has_metrics: bool) -> Space:
        """Return the space for new rows: of another array library, or with missing values, whose
        distances are scaled unless the rule `is_scale_free`, or in the clusters' own metrics."""
        return self

    def in_scale(self) -> Space:
        """Return the space in which distances of rows with missing values compare with those of
        other rows."""
        return self

    # What is asked of centres.

    def means(self, mass: Float64, moment: Float64) -> Centres:
        """Return the projections of the weighted means of the sums (any value where mass is 0)."""
        return Centres.orthonormal(mean_products(mass, moment))

    def centres(self, mass: Float64, moment: Float64) -> Centres:
        """Return the centres that minimise the weighted squared distances of these sums (any value
        where they are `undetermined`).

        Those are the means t_j. Among centres of length one, where
        sum_i w_ij |phi(x_i) - v|^2 = const - 2 mass_j <t_j, v>, it is t_j / |t_j|, by Cauchy and
        Schwarz: of hard memberships Dhillon & Modha 2001, of fuzzy ones Hornik, Feinerer, Kober &
        Buchta 2012.
        """
        return self.feasible(self.means(mass, moment))

    def feasible(self, centres: Centres) -> Centres:
        """Return the nearest centres that the space allows: of length one where it is spherical."""
        return centres.of_length_one() if self.spherical else centres

    def undetermined(self, mass: Float64, centres: Centres) -> IntArray:
        """Return the clusters whose sums make no centre: those without mass and, on the sphere,
        those whose mean is zero."""
        found = mass <= 0
        return (found | (centres.squared_norms() < 0.5) if self.spherical else found).nonzero()[0]

    def next_centres(self, mass: Float64, moment: Float64, former: Centres) -> Centres:
        """Return the centres that the sums give; `undetermined` ones stay where they were."""
        new = self.centres(mass, moment)
        kept = self.undetermined(mass, new)
        return new.replaced(kept, former[kept]) if len(kept) else new

    @property
    def n_coordinates(self) -> int:
        """Number of columns of the centres' coordinates."""
        return self.size

    def coefficients(self, centres: Centres) -> Float64:
        """Coefficients a (c, r) of the centres over the basis."""
        return centres.coordinates

    def offsets(self, centres: Centres) -> Float64:
        """(c,) what a row's squared distance to each centre has beside k(x, x) - 2 g(x).a_j:
        |v_j|^2."""
        return centres.squared_norms()

    def view(self, centres: Centres, like: Array) -> View:
        """Return the centres in the library and dtype of `like`."""
        return View(as_like(self.coefficients(centres), like), as_like(self.offsets(centres), like))

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        """Return rows as centres: their projections on the span. `numbers`: their row numbers if
        they are training rows."""
        return Centres.orthonormal(host_float64(self.rows(block).plain().g))

    def compared(self, block: Block, numbers: IntArray | None = None) -> Centres:
        """Return few rows as centres of which the products with each other alone are asked, over
        whatever basis takes least."""
        return self.embed(block, numbers)

    def as_rows(self, centres: Centres) -> Rows:
        """Return centres as rows, in float64 on the host: each represents many rows by their weight
        in one point."""
        return ProductRows(centres.coordinates, centres.squared_norms())

    def inner_products(self, centres: Centres, block: Block) -> Float64:
        """<phi(x_i), v_j> (c, b) for any rows, about the origin of feature space, not the space's
        own origin."""
        return centres.coordinates @ self.embed(block).coordinates.T

    def norms(self, centres: Centres) -> Float64:
        """|v_j|^2 (c,) about the origin of feature space, not the space's own origin."""
        return centres.squared_norms()

    def project(self, centres: Centres, origin: Space, basis: Block | None = None) -> Centres:
        """Project centres of another space onto this one; `basis`: the rows of this space's basis.
        ValueError where that space differs, and this one cannot tell how."""
        if not self.is_same(origin):
            raise ValueError(
                f"the centres of another space have no place in {type(self).__name__}."
            )
        return centres

    def is_same(self, other: Space) -> bool:
        """Return True for a space of the same class whose fields are equal."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # all are dataclasses
        same_class = type(other) is type(self)
        return same_class and all(
            _equal(getattr(self, name), getattr(other, name)) for name in names
        )

    # What drawing rows asks.

    def pairing(self, block: Block, numbers: IntArray | None = None) -> Pairing:
        """Return rows as they are compared with each other. `numbers`: as for `embed`."""
        return Pairing(self.embed(block, numbers).coordinates)

    @property
    def basis_points(self) -> Array | None:
        """The rows (s, d) whose span a space is that can be made again, over more of them."""
        return None

    # What a model asks that is kept.

    def portable(self, centres: Centres, columns: IntArray | None = None) -> tuple[Space, Centres]:
        """Return the same centres in the space that a model keeps, which needs no factorisation and
        no training rows but its basis; `columns` are the numbers of that basis, where rows are
        kernel values."""
        return self, centres

    @property
    def is_portable(self) -> bool:
        """True for a space as a model keeps it."""
        return True

    @property
    def n_landmarks(self) -> int | None:
        """Number of landmarks that the space is made over; None where it is made over none."""
        return None

    def as_points(self, centres: Centres) -> Float64 | None:
        """Return the centres as rows (c, d) of the data; None where they are none."""
        return None

    def attributes(self, centres: Centres, landmark_rows: IntArray | None) -> dict[str, Any]:
        """Return the fitted attributes that describe the space and its centres, by name, in the
        units in which rows were read; `landmark_rows` are the landmarks' row numbers, if any."""
        points = self.as_points(centres)
        return self.kernel.attributes | ({} if points is None else {"cluster_centers_": points})

    def check(self, n_features: int, diag: Any) -> None:
        """Refuse, by ValueError, to represent rows of so many features; `diag`: k(x, x) of the
        training rows as a model keeps it. What was read from a file is checked by this."""
        if diag is not None:
            raise ValueError("only a precomputed kernel has a diagonal of its own")


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(one, other))


def columns_of(kernel: Kernel, points: Array) -> Columns:
    """Return the kernel's columns against points, for rows of any form (dense or CSR)."""
    columns = kernel.prepare(points)
    return lambda x, room=None: columns(in_form_of(x, points), room)


def kernel_room(n_rows: int, columns: int, like: Array) -> Array | None:
    """Return memory for kernel values of NumPy or CSR rows; None for other libraries, which
    allocate their own."""
    return None if is_foreign(like) else np.empty((n_rows, columns), dtype=like.dtype)


def mean_products(mass: Float64, moment: Float64) -> Float64:
    """t_j = moment_j / mass_j, zero where a cluster has no mass."""
    return moment / np.where(mass > 0, mass, 1.0)[:, None]
