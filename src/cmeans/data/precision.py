"""How exact the numbers of a float type are, and orders that do not depend on their rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

DIGITS = 9  # of numbers that are ordered, relative to the largest
# of k(x, y) and k(y, x) over the largest value, up to which it is rounding of single precision
# computed in other blocks
ASYMMETRY = 1e-5


def resolution(dtype: Any) -> float:
    """Relative spacing of a float dtype of any array library."""
    single = dtype.char == "f" if isinstance(dtype, np.dtype) else "float32" in str(dtype)
    return 2.0**-23 if single else 2.0**-52


def itemsize(x: Any) -> int:
    """Bytes of one number of x."""
    return 4 if resolution(x.dtype) > 1e-10 else 8


def numpy_dtype(x: Any) -> Any:
    """NumPy's dtype for the float dtype of x."""
    return np.float32 if itemsize(x) == 4 else np.float64


def rounding(dtype: Any) -> float:
    """Relative error of a squared distance computed from inner products; smaller values count as
    zero."""
    return 8 * 2.0**-23 if resolution(dtype) > 1e-10 else 64 * 2.0**-52


def rounding_of_sums(dtype: Any) -> float:
    """Relative error of sums of squared distances, and of what follows from them: smaller
    differences say nothing."""
    return 1e-6 if resolution(dtype) > 1e-10 else 1e-11


def first_largest(values: Any, noise: float) -> int:
    """Return the number of the first of the values that are the largest but for this noise: numbers
    that are equal in exact arithmetic are told apart by their order, not by rounding, which differs
    from machine to machine."""
    return int(np.argmax(values >= np.max(values) - noise))


def ascending(values: Any) -> npt.NDArray[np.intp]:
    """Return the order of values, the smallest first; those that differ by rounding alone keep
    theirs."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0) or 1.0
    order: npt.NDArray[np.intp] = np.argsort(np.round(values / largest, DIGITS), kind="stable")
    return order


def binary_exponent(values: Any) -> int:
    """e, where the largest absolute value lies in [2^(e-1), 2^e); 0 where all are zero, or one is
    not finite.

    Multiplication by 2^-e is exact, so squares of the products have the same digits and stay in
    range.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    return int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
