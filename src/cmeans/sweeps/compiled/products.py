"""Blocks of products in registers, in which the passes spend most of their time.

Each function works on a few rows and a few clusters at once, as many as fit the registers, so that every loaded number is used
in several products.
"""

from __future__ import annotations

from typing import Any

from .door import intrinsic, types
from .tiles import GROUP, TILE
from .vectors import INDEX, MANY_REGISTERS, Register, Value, Vectors

ROWS = 4 if MANY_REGISTERS else 2  # rows for which distances are computed at a time
ABREAST = 4 if MANY_REGISTERS else 2  # vectors side by side that are multiplied by the same numbers


class Call:
    """The arguments of an intrinsic as LLVM values."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self._context, self.builder = context, builder
        self._types, self._values = signature.args, arguments
        first = next(kind for kind in self._types if isinstance(kind, types.Array) and isinstance(kind.dtype, types.Float))
        self.vectors = Vectors(context, builder, first.dtype)

    def array(self, number: int) -> Value:
        return self.vectors.array(self._types[number], self._values[number])

    def index(self, number: int) -> Value:
        return self._context.cast(self.builder, self._values[number], self._types[number], types.int64)

    def length(self, array: Value, axis: int) -> Value:
        return self.builder.extract_value(array.shape, axis)

    def plus(self, number: Value, more: int) -> Value:
        return self.builder.add(number, INDEX(more))

    def at_most(self, number: Value, last: Value) -> Value:
        return self.builder.select(self.builder.icmp_signed("<", number, last), number, last)

    def ordered_rows(self, g: Value, order: Value, i: Value, count: int, column: Value) -> list[Value]:
        """Return the addresses of rows g[order[i]], g[order[i + 1]], ... from a column on; the last of the order pads."""
        last = self.plus(self.length(order, 0), -1)
        places = (self.vectors.address(order, self.at_most(self.plus(i, p), last)) for p in range(count))
        return [self.vectors.address(g, self.builder.load(place), column) for place in places]

    def done(self) -> Value:
        return self._context.get_dummy_value()


# ------------------------------------------------------------------------------------------------------- vectors along columns


@intrinsic
def row_distances(
    _typing: Any, g: Any, order: Any, start: Any, centres: Any, norms: Any, j: Any, kxx: Any, t: Any, d2: Any, low: Any
) -> Any:
    """d2[j + q, t + p] = k(x, x) + |v|^2 - 2 g.a of the ROWS rows g[order[start + t + p]] and a whole group of centres; `low` is updated.

    Half as many rows of the first half of the next tile are prefetched meanwhile.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        call = Call(context, builder, signature, arguments)
        v, g, order, start, centres = call.vectors, call.array(0), call.array(1), call.index(2), call.array(3)
        j, t, zero = call.index(5), call.index(7), INDEX(0)
        rows = call.ordered_rows(g, order, builder.add(start, t), ROWS, zero)
        next_tile = builder.add(call.plus(start, TILE), builder.udiv(t, INDEX(2)))
        next_rows = call.ordered_rows(g, order, next_tile, ROWS // 2, zero)
        points = [v.address(centres, call.plus(j, q), zero) for q in range(GROUP)]
        sums = v.registers(GROUP * ROWS)
        columns = call.length(g, 1)
        rest = builder.urem(columns, INDEX(v.lanes))
        whole = builder.sub(columns, rest)
        with v.steps(zero, whole, v.lanes) as f:
            _prefetch(v, next_rows, f)
            _multiply(v, sums, [v.load(v.after(row, f)) for row in rows], [v.after(point, f) for point in points])
        with builder.if_then(builder.icmp_signed(">", rest, zero)):
            _prefetch(v, next_rows, whole)
            parts = [v.load_partial(v.after(row, whole), rest) for row in rows]
            _multiply(v, sums, parts, [v.after(point, whole) for point in points])
        _finish(call, v.totals([s.value for s in sums]))
        return call.done()

    def _prefetch(v: Vectors, rows: list[Value], f: Value) -> None:
        for row in rows:
            v.prefetch(v.after(row, f))

    def _multiply(v: Vectors, sums: list[Register], rows: list[Value], points: list[Value]) -> None:
        for q, point in enumerate(points):
            a = v.load(point)
            for p, row in enumerate(rows):
                sums[q * len(rows) + p].add_product(row, a)

    def _finish(call: Call, products: list[Value]) -> None:
        v, norms, kxx, d2, low = call.vectors, call.array(4), call.array(6), call.array(8), call.array(9)
        j, t = call.index(5), call.index(7)
        smallest_at = v.address(low, t)
        kernel, smallest = v.load(v.address(kxx, t), v.short_vector(ROWS)), v.load(smallest_at, v.short_vector(ROWS))
        for q in range(GROUP):
            norm = v.load_broadcast(v.address(norms, call.plus(j, q)), ROWS)
            distance = call.builder.fadd(call.builder.fadd(kernel, norm), v.consecutive(products, q * ROWS, ROWS))
            v.store(distance, v.address(d2, call.plus(j, q), t))
            smallest = v.smaller(distance, smallest)
        v.store(smallest, smallest_at)

    return types.void(g, order, start, centres, norms, j, kxx, t, d2, low), generate


def _weighted(abreast: int, *, part: bool) -> Any:
    """total[j + q, f ...] += sum_t w[j + q, t] g[order[start + t], f ...] of `abreast` vectors of columns; `part`: the last ones.

    With the first group of clusters, the same columns of rows of the second half of the next tile are prefetched.
    """

    @intrinsic
    def add(_typing: Any, g: Any, order: Any, start: Any, w: Any, j: Any, f: Any, total: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            call = Call(context, builder, signature, arguments)
            v, g, order, w, total = call.vectors, call.array(0), call.array(1), call.array(3), call.array(6)
            start, j, f = call.index(2), call.index(4), call.index(5)
            sums = v.registers(GROUP * abreast)  # of this tile alone, so that total is a sum of few parts
            left = builder.sub(call.length(g, 1), f)
            first_group = builder.icmp_signed("==", j, INDEX(0))

            with v.steps(INDEX(0), INDEX(TILE), 2) as even:
                with builder.if_then(first_group):
                    next_half = builder.add(call.plus(start, TILE + TILE // 2), builder.udiv(even, INDEX(2)))
                    (next_rows,) = call.ordered_rows(g, order, next_half, 1, f)
                    for a in range(abreast):
                        v.prefetch(v.after(next_rows, INDEX(a * v.lanes)))
                for t in (even, call.plus(even, 1)):
                    (here,) = call.ordered_rows(g, order, builder.add(start, t), 1, f)
                    columns = [v.load_partial(here, left)] if part else [v.load(v.after(here, INDEX(a * v.lanes))) for a in range(abreast)]
                    for q in range(GROUP):
                        weight = v.load_broadcast(v.address(w, call.plus(j, q), t))
                        for a, column in enumerate(columns):
                            sums[q * abreast + a].add_product(weight, column)
            for number, tile_sum in enumerate(sums):
                q, a = divmod(number, abreast)
                place = v.address(total, call.plus(j, q), call.plus(f, a * v.lanes))
                v.store(builder.fadd(v.load(place), tile_sum.value), place)
            return call.done()

        return types.void(g, order, start, w, j, f, total), generate

    return add


add_weighted_rows = _weighted(ABREAST, part=False)
add_weighted_part = _weighted(1, part=True)  # an incomplete vector of columns


# ---------------------------------------------------------------------------------------------------------- vectors along rows


def _by_columns(call: Call, x: Value, next_rows: Value, centres: Value, j: Value, t: Value) -> list[Register]:
    """-2 a.x of a group of centres and ABREAST vectors of consecutive rows from t on.

    With the first group, the same part of the tile `next_rows` is prefetched.
    """
    v = call.vectors
    sums = v.registers(GROUP * ABREAST)
    first_group = call.builder.icmp_signed("==", j, INDEX(0))
    with v.steps(INDEX(0), call.length(x, 0), 1) as f:
        places = [(f, call.plus(t, a * v.lanes)) for a in range(ABREAST)]
        with call.builder.if_then(first_group):
            for place in places:
                v.prefetch(v.address(next_rows, *place))
        rows = [v.load(v.address(x, *place)) for place in places]
        for q in range(GROUP):
            number = v.load_broadcast(v.address(centres, call.plus(j, q), f))
            for a, row in enumerate(rows):
                sums[q * ABREAST + a].add_product(number, row)
    return sums


@intrinsic
def column_distances(_typing: Any, x: Any, next_rows: Any, centres: Any, norms: Any, j: Any, kxx: Any, d2: Any, low: Any) -> Any:
    """d2[j + q] = k(x, x) + |v|^2 - 2 x.a of a tile x (columns, TILE) and a whole group of centres; `low` is updated."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        call = Call(context, builder, signature, arguments)
        v, x, next_rows, centres, norms = call.vectors, call.array(0), call.array(1), call.array(2), call.array(3)
        j, kxx, d2, low = call.index(4), call.array(5), call.array(6), call.array(7)
        with v.steps(INDEX(0), INDEX(TILE), ABREAST * v.lanes) as t:
            sums = _by_columns(call, x, next_rows, centres, j, t)
            norm = [v.load_broadcast(v.address(norms, call.plus(j, q))) for q in range(GROUP)]
            for a in range(ABREAST):
                here = call.plus(t, a * v.lanes)
                smallest_at = v.address(low, here)
                kernel, smallest = v.load(v.address(kxx, here)), v.load(smallest_at)
                for q in range(GROUP):
                    distance = builder.fadd(builder.fadd(kernel, norm[q]), sums[q * ABREAST + a].value)
                    v.store(distance, v.address(d2, call.plus(j, q), here))
                    smallest = v.smaller(distance, smallest)
                v.store(smallest, smallest_at)
        return call.done()

    return types.void(x, next_rows, centres, norms, j, kxx, d2, low), generate


@intrinsic
def column_nearest(_typing: Any, x: Any, next_rows: Any, centres: Any, norms: Any, kxx: Any, low: Any, label: Any) -> Any:
    """The smallest k(x, x) + |v|^2 - 2 x.a of each row of a tile x (columns, TILE) and the number of its centre, ties to the lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        call = Call(context, builder, signature, arguments)
        v, x, next_rows, centres, norms = call.vectors, call.array(0), call.array(1), call.array(2), call.array(3)
        kxx, low, label = call.array(4), call.array(5), call.array(6)
        with v.steps(INDEX(0), INDEX(TILE), ABREAST * v.lanes) as t:
            smallest = [v.register(v.broadcast(v.real(float("inf")))) for _ in range(ABREAST)]
            nearest = [v.register(v.broadcast(v.whole(0))) for _ in range(ABREAST)]
            with v.steps(INDEX(0), call.length(norms, 0), GROUP) as j:
                sums = _by_columns(call, x, next_rows, centres, j, t)
                for q in range(GROUP):
                    norm = v.load_broadcast(v.address(norms, call.plus(j, q)))
                    centre = v.broadcast(v.resized(call.plus(j, q), v.whole))
                    for a in range(ABREAST):
                        distance = builder.fadd(norm, sums[q * ABREAST + a].value)
                        closer = v.below(distance, smallest[a].value)
                        nearest[a].value = builder.select(closer, centre, nearest[a].value)
                        smallest[a].value = builder.select(closer, distance, smallest[a].value)
            for a in range(ABREAST):
                here = call.plus(t, a * v.lanes)
                v.store(builder.fadd(v.load(v.address(kxx, here)), smallest[a].value), v.address(low, here))
                v.store(v.resized(nearest[a].value, v.number), v.address(label, here))
        return call.done()

    return types.void(x, next_rows, centres, norms, kxx, low, label), generate


def _tile_products(abreast: int) -> Any:
    """total[j + q, f + p] += sum_t w[j + q, t] x[f + p, t] of a tile x (columns, TILE), a group of clusters and `abreast` columns."""

    @intrinsic
    def add(_typing: Any, w: Any, j: Any, x: Any, f: Any, total: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            call = Call(context, builder, signature, arguments)
            v, w, j, x, f, total = call.vectors, call.array(0), call.index(1), call.array(2), call.index(3), call.array(4)
            sums = v.registers(GROUP * abreast)
            with v.steps(INDEX(0), INDEX(TILE), v.lanes) as t:
                columns = [v.load(v.address(x, call.plus(f, p), t)) for p in range(abreast)]
                for q in range(GROUP):
                    weights = v.load(v.address(w, call.plus(j, q), t))
                    for p, column in enumerate(columns):
                        sums[q * abreast + p].add_product(weights, column)
            padding = [v.zero()] * (-len(sums) % v.lanes)
            products = v.totals([s.value for s in sums] + padding)
            for q in range(GROUP):
                place = v.address(total, call.plus(j, q), f)
                v.store(builder.fadd(v.load(place, v.short_vector(abreast)), v.consecutive(products, q * abreast, abreast)), place)
            return call.done()

        return types.void(w, j, x, f, total), generate

    return add


COLUMNS = 4 if MANY_REGISTERS else 2  # columns of a tile that are summed side by side
add_tile_products = _tile_products(COLUMNS)
add_tile_pairs = _tile_products(2)
