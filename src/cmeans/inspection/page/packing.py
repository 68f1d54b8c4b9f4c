"""Numbers and texts as they travel inside a page: in 8 or 16 bits, deflated, base64."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray

NONE = {8: 255, 16: 65535}  # codes that say "no number"


def deflated(data: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def packed_numbers(values: Float64, bits: int = 16) -> dict[str, Any]:
    """Return numbers (n,) as steps from the least of them: whole numbers that fit exactly, others
    to a step of their range; infinite ones count as none."""
    finite = np.isfinite(values)
    low, high = (float(f(values[finite])) if finite.any() else 0.0 for f in (np.min, np.max))
    whole = bool((values[finite] == np.rint(values[finite])).all()) if high - low < 1e9 else False
    bits = 8 if whole and high - low < NONE[8] else bits
    most = NONE[bits] - 1
    step = 1.0 if whole and high - low <= most else (high - low) / most or 1.0
    codes = np.full(len(values), NONE[bits])
    codes[finite] = np.rint((values[finite] - low) / step)
    return {"low": low, "step": step, **packed_codes(codes, bits)}


def packed_codes(codes: IntArray, bits: int = 8) -> dict[str, Any]:
    """Return whole numbers from 0 on (n,)."""
    data = codes.astype("<u2" if bits == 16 else "u1").tobytes()
    return {"bits": bits, "data": deflated(data)}


def packed_labels(labels: IntArray) -> dict[str, Any]:
    """Return clusters (n,); -1, no cluster, as the code for none."""
    bits = 8 if labels.max(initial=0) < NONE[8] else 16
    return packed_codes(np.where(labels < 0, NONE[bits], labels), bits)


def packed_texts(texts: Sequence[str]) -> str:
    """Return texts."""
    return deflated(json.dumps(list(texts), ensure_ascii=True).encode())
