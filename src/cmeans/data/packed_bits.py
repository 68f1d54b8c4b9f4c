"""Rows of bits, eight of which lie in a byte as `numpy.packbits` puts them there: columns of zeros
and ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .narrow_rows import NarrowRows
from .row_source import RowsError, StoredRows


def unpacked(packed: npt.NDArray[Any], n_bits: int) -> npt.NDArray[np.uint8]:
    """Return the first bits (b, n_bits) of rows of bytes. Signed ones are less by 128, as signed
    binary embeddings are."""
    codes = np.ascontiguousarray(packed).view(np.uint8)
    if packed.dtype == np.int8:
        codes = codes ^ np.uint8(128)
    return np.unpackbits(codes, axis=1, count=n_bits)


def check_packed(dtype: np.dtype[Any], n_bytes: int, n_bits: int, where: str, spelt: str) -> None:
    """Refuse rows of bytes that are not those of so many bits; `spelt`: the argument that says
    it."""
    if dtype not in (np.uint8, np.int8):
        raise RowsError(
            f"{spelt}: {where} holds {dtype.name}; packed bits are uint8, or int8 of signed binary "
            "embeddings (numpy.packbits(X > 0, axis=1) makes them)."
        )
    if n_bits < 1 or -(-n_bits // 8) != n_bytes:
        raise RowsError(
            f"{spelt}: {where} has {n_bytes:,} bytes a row, which are {8 * n_bytes:,} bits; give "
            "that, or less by up to 7 where the last byte is padded."
        )


def packed_bits(X: Any, n_bits: int | None = None) -> StoredRows:
    """Take rows of packed bits for rows of zeros and ones, an eighth of a byte each.

    Use it for binary embeddings (`ubinary` and `binary` of sentence-transformers and others), codes
    and fingerprints. Wherever rows are taken (fit, predict, partial_fit, select), a block of bits
    becomes float32 when a sweep reads it. The squared Euclidean distance of two such rows is their
    Hamming distance; a centre holds in each column the share of its rows that have the bit, and
    ``centre > 0.5`` are the bits of the majority. Results are those of
    ``np.unpackbits(X, axis=1, count=n_bits).astype(np.float32)``. Files are read so by
    ``open_blocks(path, bits=n_bits)``.

    Parameters
    ----------
    X : ndarray of shape (n, b), uint8 or int8
        Bytes, as ``np.packbits(bits, axis=1)`` makes them, also as a memory map; the first column
        is the highest bit of the first byte. int8: less by 128, as signed binary embeddings are.
    n_bits : int, default None
        Number of columns; what the last byte holds beyond them is padding. None: 8 b.

    Returns
    -------
    StoredRows
        Rows of shape (n, n_bits), float32 as they are read.

    Raises
    ------
    ValueError
        X is no array (n, b) of bytes, or `n_bits` is not the number of bits of b bytes, but for the
        last one's padding.

    Examples
    --------
    >>> import numpy as np
    >>> import cmeans
    >>> bits = np.repeat([[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 1]], 50, axis=0)
    >>> rows = cmeans.packed_bits(np.packbits(bits, axis=1), n_bits=6)
    >>> model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(rows)
    >>> print(rows.shape, np.bincount(model.labels_))
    (100, 6) [50 50]
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or not X.size:
        what = f"shape {np.shape(X)}" if isinstance(X, np.ndarray) else type(X).__name__
        raise RowsError(f"packed_bits(X): X is {what}; give an array of rows of bytes.")
    n_bits = 8 * X.shape[1] if n_bits is None else n_bits
    check_packed(X.dtype, X.shape[1], n_bits, "X", f"packed_bits(n_bits={n_bits})")
    return NarrowRows(X, decode=partial(unpacked, n_bits=n_bits), n_columns=n_bits)
