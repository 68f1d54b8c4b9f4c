"""Explicit LLVM vectors, for code that compilers do not vectorise.

Numba's intrinsics use it: blocks of sums that stay in registers, and rows of any width without a slow remainder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from .door import cgutils, intrinsic, ir, many_registers, types, vector_bytes

Value: TypeAlias = Any  # of LLVM's
INDEX = ir.IntType(64)

VECTOR = vector_bytes()
MANY_REGISTERS = many_registers()


class Vectors:
    """Builder of instructions for vectors of one float type, of the length of the machine's registers."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        self._context, self.builder = context, builder
        self.bits = real.bitwidth
        self.lanes = 8 * VECTOR // real.bitwidth
        self.real = context.get_value_type(real)
        self.kind = ir.VectorType(self.real, self.lanes)
        self.whole = ir.IntType(real.bitwidth)  # integers of the floats' size
        self.number = ir.IntType(32)  # integers in arrays

    # --------------------------------------------------------------------------------------------------------------- memory

    def array(self, kind: Any, value: Value) -> Value:
        """Return an argument as a NumPy array, which is C-contiguous."""
        assert kind.layout == "C", kind
        return self._context.make_array(kind)(self._context, self.builder, value)

    def address(self, array: Value, *index: Value) -> Value:
        """Return the address of an element of an array."""
        byte = ir.IntType(8).as_pointer()
        strides = cgutils.unpack_tuple(self.builder, array.strides, len(index))
        offset = INDEX(0)
        for i, stride in zip(index, strides, strict=True):
            offset = self.builder.add(offset, self.builder.mul(i, stride))
        pointer = self.builder.gep(self.builder.bitcast(array.data, byte), [offset])
        return self.builder.bitcast(pointer, array.data.type)

    def short_vector(self, lanes: int) -> Any:
        """Return the type of a shorter vector."""
        return ir.VectorType(self.real, lanes)

    def after(self, address: Value, count: Value) -> Value:
        """Return the address `count` elements further."""
        return self.builder.gep(address, [count])

    def load(self, address: Value, kind: Any = None) -> Value:
        """Load the vector at an address, of the machine's length or of another type."""
        kind = self.kind if kind is None else kind
        return self.builder.load(self.builder.bitcast(address, kind.as_pointer()), align=self._alignment(kind))

    def load_partial(self, address: Value, count: Value) -> Value:
        """Load `count` numbers, with zeros after them; no other memory is accessed."""
        pointer, size = self.builder.bitcast(address, self.kind.as_pointer()), ir.IntType(32)(self.bits // 8)
        return self._masked("load", self.kind, pointer, size, self._first_lanes_mask(count), self.zero())

    def store_partial(self, value: Value, address: Value, count: Value) -> None:
        """Store the first `count` numbers of a vector."""
        pointer, size = self.builder.bitcast(address, self.kind.as_pointer()), ir.IntType(32)(self.bits // 8)
        self._masked("store", ir.VoidType(), value, pointer, size, self._first_lanes_mask(count))

    def _first_lanes_mask(self, count: Value) -> Value:
        """Return a mask of the first `count` lanes."""
        lane = ir.IntType(32)
        numbers = ir.Constant(ir.VectorType(lane, self.lanes), [lane(i) for i in range(self.lanes)])
        return self.builder.icmp_signed("<", numbers, self.broadcast(self.builder.trunc(count, lane)))

    def _masked(self, operation: str, result: Any, *arguments: Value) -> Value:
        name = f"llvm.masked.{operation}.v{self.lanes}f{self.bits}.p0v{self.lanes}f{self.bits}"
        return self.builder.call(self._function(name, result, [a.type for a in arguments]), arguments)

    def prefetch(self, address: Value) -> None:
        """Prefetch a cache line into the second-level cache."""
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = self._function("llvm.prefetch.p0i8", ir.VoidType(), [byte, number, number, number])
        read, second_level, data = number(0), number(2), number(1)
        self.builder.call(function, [self.builder.bitcast(address, byte), read, second_level, data])

    def store(self, value: Value, address: Value) -> None:
        """Store a vector at an address."""
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self._alignment(value.type))

    def _alignment(self, kind: Any) -> int:
        whole = isinstance(kind.element, ir.IntType)
        width: int = kind.element.width if whole else self.bits
        return width // 8

    def load_broadcast(self, address: Value, lanes: int | None = None) -> Value:
        """Load the number at an address into all lanes."""
        return self.broadcast(self.builder.load(address), lanes)

    # ----------------------------------------------------------------------------------------------------------- arithmetic

    def zero(self) -> Value:
        """Return a vector of zeros."""
        return ir.Constant(self.kind, None)

    def fused(self, a: Value, b: Value, c: Value) -> Value:
        """a b + c, with one rounding where the machine supports it."""
        function = self._function(f"llvm.fmuladd.v{self.lanes}f{self.bits}", self.kind, [self.kind] * 3)
        return self.builder.call(function, [a, b, c])

    def smaller(self, a: Value, b: Value) -> Value:
        """a where it is below b, b elsewhere."""
        return self.builder.select(self.below(a, b), a, b)

    def below(self, a: Value, b: Value) -> Value:
        """a < b, false for NaN."""
        return self.builder.fcmp_ordered("<", a, b)

    def constant(self, number: float) -> Value:
        """Return a vector with a constant in all lanes."""
        return ir.Constant(self.kind, [self.real(number)] * self.lanes)

    def exponential(self, x: Value) -> Value:
        """e^x up to one or two units of the last digit; 0 below the smallest normal number, NaN stays, x must not be large.

        x = k log 2 + r with |r| <= log(2) / 2: a Taylor sum for e^r, to whose exponent k is added. Adding a number whose last digit
        is one leaves k in the last bits of the sum; log 2 is split in two parts, the first short, so that r is exact. Both
        require that the arithmetic is not reordered.
        """
        b, single = self.builder, self.bits == 32
        mantissa, degree, lowest = (23, 7, -87.3) if single else (52, 13, -708.3)
        high = 0.693145751953125 if single else 0.6931471803691238
        rounder = self.constant(1.5 * 2.0**mantissa)
        inside = self.builder.select(self.below(x, self.constant(lowest)), self.constant(lowest), x)
        shifted = self.fused(inside, self.constant(1.0 / math.log(2.0)), rounder)
        k = b.fsub(shifted, rounder)
        rest = self.fused(k, self.constant(-high), inside)
        rest = self.fused(k, self.constant(high - math.log(2.0) if single else -1.9082149292705877e-10), rest)
        sum_ = self.constant(1.0 / math.factorial(degree))
        for power in range(degree - 1, -1, -1):
            sum_ = self.fused(sum_, rest, self.constant(1.0 / math.factorial(power)))
        whole = ir.VectorType(self.whole, self.lanes)
        scaled = b.add(b.bitcast(sum_, whole), b.shl(b.bitcast(shifted, whole), ir.Constant(whole, [self.whole(mantissa)] * self.lanes)))
        value = b.select(self.below(x, self.constant(lowest)), self.zero(), b.bitcast(scaled, self.kind))
        return b.select(b.fcmp_unordered("uno", x, x), x, value)

    def totals(self, sums: Sequence[Value]) -> list[Value]:
        """Return vectors of which each lane is the sum over the lanes of one of `sums`, whose number is a multiple of the lanes.

        Pairs x, y are halved: their even numbers plus their odd ones, first within 128 bits, then by 128 bits at a time, so that
        each selection is one instruction.
        """
        inner = 128 // self.bits
        current = list(sums)
        stages = [1] * (inner.bit_length() - 1) + [inner] * ((self.lanes // inner).bit_length() - 1)
        for unit in stages:
            current = [self._halved(x, y, unit) for x, y in zip(current[::2], current[1::2], strict=True)]
        return current

    def _halved(self, x: Value, y: Value, unit: int) -> Value:
        reach = 128 // self.bits if unit == 1 else self.lanes  # numbers within which a selection stays
        even: list[int] = []
        for start in range(0, self.lanes, reach):
            for origin in (0, self.lanes):
                even += [origin + start + i + k for i in range(0, reach, 2 * unit) for k in range(unit)]
        return self.builder.fadd(self.select(x, y, even), self.select(x, y, [i + unit for i in even]))

    def select(self, x: Value, y: Value, lanes: Sequence[int]) -> Value:
        """Return a vector of some lanes of x and of y; the lanes of y are numbered after those of x."""
        number = ir.IntType(32)
        mask = ir.Constant(ir.VectorType(number, len(lanes)), [number(i) for i in lanes])
        return self.builder.shuffle_vector(x, y, mask)

    def consecutive(self, vectors: Sequence[Value], first: int, count: int) -> Value:
        """Return `count` numbers of consecutive vectors from number `first` on, all of them from one vector."""
        vector = vectors[first // self.lanes]
        return self.select(vector, vector, range(first % self.lanes, first % self.lanes + count))

    def resized(self, integers: Value, kind: Any) -> Value:
        """Return an integer, or a vector of integers, truncated to a type of fewer bits."""
        vector = isinstance(integers.type, ir.VectorType)
        wanted = ir.VectorType(kind, integers.type.count) if vector else kind
        return integers if wanted == integers.type else self.builder.trunc(integers, wanted)

    def broadcast(self, number: Value, lanes: int | None = None) -> Value:
        """Return a vector with a number in all lanes."""
        lane, lanes = ir.IntType(32), self.lanes if lanes is None else lanes
        first = self.builder.insert_element(ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined), number, lane(0))
        return self.builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(lane, lanes), None))

    def _function(self, name: str, result: Any, arguments: list[Any]) -> Value:
        return cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(result, arguments), name)

    # ---------------------------------------------------------------------------------------------------------------- loops

    def registers(self, number: int) -> list[Register]:
        """Return variables for loops, initially zero."""
        return [self.register(self.zero()) for _ in range(number)]

    def register(self, start: Value) -> Register:
        """Return a variable for loops."""
        return Register(self, start)

    @contextmanager
    def steps(self, start: Value, stop: Value, step: int) -> Iterator[Value]:
        """Open a loop; yields its index."""
        with cgutils.for_range_slice(self.builder, start, stop, INDEX(step), inc=True) as (index, _):
            yield index


class Register:
    """A variable that holds a vector; LLVM assigns it a register."""

    def __init__(self, vectors: Vectors, start: Value) -> None:
        self._vectors = vectors
        self._pointer = cgutils.alloca_once(vectors.builder, start.type)
        self.value = start

    @property
    def value(self) -> Value:
        """The current vector."""
        return self._vectors.builder.load(self._pointer)

    @value.setter
    def value(self, value: Value) -> None:
        self._vectors.builder.store(value, self._pointer)

    def add_product(self, a: Value, b: Value) -> None:
        """Add a b."""
        self.value = self._vectors.fused(a, b, self.value)


@intrinsic
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """prefetch(array, (i, j, ...)): prefetch the element's cache line into the second-level cache."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, numbers = signature.args
        v = Vectors(context, builder, kind.dtype)
        index = cgutils.unpack_tuple(builder, arguments[1], len(numbers))
        v.prefetch(v.address(v.array(kind, arguments[0]), *index))
        return context.get_dummy_value()

    return types.void(array, index), generate
