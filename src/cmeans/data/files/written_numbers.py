"""Numbers of text in one notation, a column at once."""

from __future__ import annotations

from collections.abc import Collection

from ..arrow_library import pa
from .notation import AS_MINUS, BELOW_ZERO, BLANKS, Notation


def numbers_written(column: pa.Array, notation: Notation, missing: Collection[str]) -> pa.Array:
    """Return the numbers of a column of text, null for cells that stand for nothing;
    pa.ArrowInvalid where a cell holds no number."""
    compute = pa.compute
    nothing = compute.is_in(
        compute.utf8_trim(column, BLANKS), pa.array(sorted(missing), pa.string())
    )
    cells = compute.if_else(nothing, pa.scalar(None, pa.string()), column)
    cells = compute.replace_substring_regex(cells, BELOW_ZERO, AS_MINUS)
    if compute.any(compute.invert(compute.match_substring_regex(cells, notation.pattern))).as_py():
        raise pa.ArrowInvalid("a cell holds no number")
    digits = compute.replace_substring_regex(cells, notation.pattern, r"\1\2")
    if notation.thousands:
        digits = compute.replace_substring_regex(digits, notation.removed, "")
    digits = compute.replace_substring(digits, "\u2212", "-")
    return compute.replace_substring(digits, notation.decimal, ".").cast(pa.float64())
