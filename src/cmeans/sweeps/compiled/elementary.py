"""Logarithm, exponential and power of whole rows, by integer operations and polynomials that compile to vector instructions.

Numba has no vector library of its own. A float is f 2^k: k is taken from its bits, the rest is a polynomial. NaN stays NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...data.arrays import Array, rounding
from .door import inlined, inlined_in_order


class Format(NamedTuple):
    """Bit layout of a float type, and the numbers that depend on it."""

    mantissa: int  # bits of the fraction
    bias: int  # of the exponent
    root_half: int  # the bits of sqrt(1/2)
    lowest: float  # exp of smaller numbers is 0
    tiny: float  # the smallest normal number
    rounding: float  # share of |x|^2 + |v|^2 below which a squared distance is zero


def format_of(dtype: Any) -> Format:
    """Return the format of float32 or float64."""
    tiny = float(np.finfo(dtype).tiny)
    if np.dtype(dtype).itemsize == 4:
        return Format(23, 127, int(np.sqrt(np.float32(0.5)).view(np.int32)), -87.0, tiny, rounding(dtype))
    return Format(52, 1023, int(np.sqrt(np.float64(0.5)).view(np.int64)), -708.0, tiny, rounding(dtype))


def integers_of(dtype: Any) -> Any:
    """Return the integer type of the same size."""
    return np.int32 if np.dtype(dtype).itemsize == 4 else np.int64


class TileScratch(NamedTuple):
    """Scratch memory for one row of numbers."""

    bits: Array  # integers of the floats' size
    exponent: Array


@inlined
def log_row(x: Array, work: TileScratch, form: Format) -> None:
    """x = log(x), -inf below the smallest normal number: log(f 2^k) = k log 2 + 2 atanh((f - 1) / (f + 1)), coefficients of fdlibm."""
    real, integer = x.dtype.type, work.bits.dtype.type
    mantissa, root_half = integer(form.mantissa), integer(form.root_half)
    one, two, ln2 = real(1), real(2), real(0.6931471805599453)
    tiny, minus_infinity = real(form.tiny), real(-np.inf)
    c1, c2, c3 = real(0.6666666666666735130), real(0.3999999999940941908), real(0.2857142874366239149)
    c4, c5, c6 = real(0.2222219843214978396), real(0.1818357216161805012), real(0.1531383769920937332)
    c7 = real(0.1479819860511658591)
    raw, fraction = x.view(work.bits.dtype), work.bits.view(x.dtype)
    for t in range(x.shape[0]):
        k = (raw[t] - root_half) >> mantissa
        work.bits[t] = raw[t] - (k << mantissa)
        work.exponent[t] = k
    for t in range(x.shape[0]):
        v, f = x[t], fraction[t]
        s = (f - one) / (f + one)
        z = s * s
        p = c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * c7)))))
        y = work.exponent[t] * ln2 + s * (two + z * p)
        x[t] = minus_infinity if v < tiny else (y if v == v else v)


@inlined_in_order
def exp_row(x: Array, work: TileScratch, form: Format) -> None:
    """x = exp(x) for x <= 0: exp(k log 2 + r) = 2^k exp(r) with |r| <= log(2) / 2; log 2 is split in two parts to keep r exact."""
    real, integer = x.dtype.type, work.bits.dtype.type
    mantissa, bias, lowest = integer(form.mantissa), integer(form.bias), real(form.lowest)
    zero, half, one = real(0), real(0.5), real(1)
    per_octave, ln2_high, ln2_low = real(1.4426950408889634), real(0.693145751953125), real(1.42860682030941723212e-6)
    c3, c4, c5, c6, c7 = real(1 / 6), real(1 / 24), real(1 / 120), real(1 / 720), real(1 / 5040)
    c8, c9, c10, c11, c12 = real(1 / 40320), real(1 / 362880), real(1 / 3628800), real(1 / 39916800), real(1 / 479001600)
    power = work.bits.view(x.dtype)
    for t in range(x.shape[0]):
        v = lowest if x[t] < lowest else x[t]
        k = np.floor(v * per_octave + half)
        work.exponent[t] = k
        work.bits[t] = (integer(k) + bias) << mantissa
    for t in range(x.shape[0]):
        v = lowest if x[t] < lowest else x[t]
        k = work.exponent[t]
        r = (v - k * ln2_high) - k * ln2_low
        p = c7 + r * (c8 + r * (c9 + r * (c10 + r * (c11 + r * c12))))
        p = one + r * (one + r * (half + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * p))))))
        x[t] = zero if x[t] < lowest else p * power[t]


@inlined
def power_row(x: Array, exponent: float, work: TileScratch, form: Format) -> None:
    """x = x ** exponent for 0 <= x <= 1 and a positive exponent."""
    power = x.dtype.type(exponent)
    log_row(x, work, form)
    for t in range(x.shape[0]):
        x[t] *= power
    exp_row(x, work, form)
