"""A kernel of images that tolerates small shifts: the similarity of complex wavelet coefficients,
window by window."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    device,
    is_foreign,
    is_sparse,
    namespace,
)
from ..data.blocks import blocks_of
from ..kernels import Columns, Kernel
from ..kernels.base import check_parameters

POINTS = 1024  # columns of one product
# pairs of images at a time: so few that they stay in a CPU's cache; accelerators need many
TILE, LARGE_TILE = 2**17, 2**22
COEFFICIENTS = 2**22  # real numbers of the rows transformed at a time: 32 MB
SMALLEST_PIECE = 16  # rows: below that the calls cost more than the arithmetic


@dataclass(frozen=True, repr=False)
class ComplexWaveletSSIM(Kernel):
    """k(x, y) = mean over subbands and windows of (2 |sum_i c_xi conj(c_yi)| + K) / (sum_i |c_xi|^2
    + sum_i |c_yi|^2 + K) (Sampat 2009).

    The complex wavelet structural similarity of two images: c_x and c_y are the coefficients of a
    complex wavelet transform within a small window of one subband. Use it for small aligned images
    (digits, faces, shapes) that differ by shifts of a pixel or two, slight turns, brightness and
    contrast: a shift turns the phases of all coefficients of a window alike, which the absolute
    value undoes, whereas distances of pixels are large. 0 < k <= 1 and k(x, x) = 1. Not positive
    definite: 2% of its spectrum (by absolute value) was negative on a thousand handwritten digits,
    less with small windows.

    Rows are images, one number per pixel, row by row from the top left, best scaled to [0, 1].

    The transform is the complex steerable pyramid of Portilla & Simoncelli (2000) without its
    lowest and highest frequencies, so that k does not depend on the mean brightness. Of the Fourier
    transform at a frequency with polar coordinates (r, t), r in radians a pixel and t from the
    horizontal, subband l = 0 ... levels - 1 and o = 0 ... O - 1, O = `orientations`, keeps the
    share

        2 a cos(pi/2 log2(r / r_l)) cos(t - pi o / O)^(O - 1),    r_l = pi / 2^(l + 1),    a = 2^(O
        - 1) (O - 1)! / sqrt(O (2 O - 2)!),

    where |log2(r / r_l)| < 1 and |t - pi o / O| < pi / 2, and 0 elsewhere: one octave about r_l to
    either side, and one half-plane, which makes the coefficients complex. Level l is sampled at
    ceil(height / 2^l) x ceil(width / 2^l) points, evenly spaced, where no frequency is lost. Images
    are taken to wrap around at their borders: pad those whose opposite borders differ much.

    Parameters
    ----------
    shape : (height, width) of the images in pixels; None for square ones.
    levels : octaves, from the finest. None: as many as leave the coarsest subband at least one
        window high and wide.
    orientations : directions of each level, at least 2.
    window : side of a window, in coefficients (7 in the papers); a smaller subband is one window.
        Smaller windows tolerate more (of a single coefficient only the size counts); on images of 8
        x 8 pixels 3 or 4 do better.
    step : windows of a subband are spread evenly from border to border, at most `step` coefficients
        apart. None is half a window; 1 is the papers' sliding window, at many times the cost for
        much the same values.
    constant : K, for windows that are nearly empty: small against sum_i |c_i|^2 of the windows that
        matter. Images in [0, 255] need 65,025 times that of images in [0, 1].
    width : None, or sigma > 0 for exp(-(1 - k) / sigma) in place of k.

    Raises
    ------
    ValueError
        For parameters out of range, rows whose length is not height x width (or not a square), and
        more levels than fit the images.

    Notes
    -----
    Time grows as rows x points x windows x window^2: a thousand images of 28 x 28 against
    themselves take seconds, so use landmarks early. The coefficients of the points are kept: about
    11 numbers per pixel and point with 4 orientations.

    Examples
    --------
    A bright bar, the same bar moved by one pixel, and a bar across:

    >>> import numpy as np
    >>> from cmeans.papers import ComplexWaveletSSIM
    >>> images = np.zeros((3, 12, 12))
    >>> images[0, 2:10, 5:7] = images[1, 2:10, 6:8] = images[2, 5:7, 2:10] = 1.0
    >>> ComplexWaveletSSIM()(images.reshape(3, 144)[:1], images.reshape(3, 144)).round(1)
    array([[1. , 0.9, 0.2]])

    References
    ----------
    M. P. Sampat, Z. Wang, S. Gupta, A. C. Bovik, M. K. Markey, Complex wavelet structural
    similarity: a new image similarity index, IEEE Transactions on Image Processing 18 (2009)
    2385-2401. Z. Wang, E. P. Simoncelli, Translation insensitive image similarity in complex
    wavelet domain, ICASSP 2005. J. Portilla, E. P. Simoncelli, A parametric texture model based on
    joint statistics of complex wavelet coefficients, International Journal of Computer Vision 40
    (2000) 49-70.
    """

    shape: tuple[int, int] | None = None
    levels: int | None = None
    orientations: int = 4
    window: int = 7
    step: int | None = None
    constant: float = 0.01
    width: float | None = None
    positive_definite = False

    def __post_init__(self) -> None:
        for name, least, optional in (
            ("levels", 1, True),
            ("orientations", 2, False),
            ("window", 1, False),
            ("step", 1, True),
        ):
            value = getattr(self, name)
            if not (_is_whole(value, least) or (optional and value is None)):
                wanted = f"a whole number of at least {least}" + (" or None" if optional else "")
                raise ValueError(f"ComplexWaveletSSIM({name}={value!r}): {name} must be {wanted}.")
        check_parameters(self, constant=0)
        if self.width is not None:
            check_parameters(self, width=0)
        if self.shape is not None:
            sides = tuple(self.shape) if isinstance(self.shape, (tuple, list)) else ()
            if len(sides) != 2 or not all(_is_whole(side, 1) for side in sides):
                raise ValueError(
                    f"ComplexWaveletSSIM(shape={self.shape!r}): shape must be (height, width), two "
                    "whole numbers of pixels, or None."
                )
            # read from a file it is a list
            object.__setattr__(self, "shape", (int(sides[0]), int(sides[1])))

    def prepare(self, y: Array) -> Columns:
        shape = self._checked_sides(y)
        pyramid = _Pyramid.for_images(self, *shape)
        max_rows = max(COEFFICIENTS // pyramid.size, SMALLEST_PIECE)
        max_points = min(int(y.shape[0]), POINTS, max_rows)
        points = [pyramid(part) for part in blocks_of(y, max_points)]

        def columns(x: Array, room: Array | None = None) -> Array:
            self._checked_sides(x, shape)
            tile = LARGE_TILE if is_foreign(x) else TILE
            step = max(min(tile // max_points, max_rows), SMALLEST_PIECE)
            blocks = [self._values(pyramid(part), points) for part in blocks_of(x, step)]
            return blocks[0] if len(blocks) == 1 else namespace(x).concat(blocks)

        return columns

    def diag(self, x: Array) -> Array:
        self._checked_sides(x)
        if is_sparse(x):
            return np.ones(x.shape[0], dtype=_float_dtype(x))
        xp = namespace(x)
        return xp.astype(xp.ones_like(x[:, 0]), _float_dtype(x), copy=False)

    def _values(self, rows: list[Array], points: list[list[Array]]) -> Array:
        """k of a few transformed rows and all points."""
        xp = namespace(rows[0])
        parts = [sum(map(self._level_values, rows, part)) / len(part) for part in points]
        values = parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)
        values[values > 1] = 1.0  # by rounding
        return values if self.width is None else xp.exp((values - 1.0) / self.width)

    def _level_values(self, rows: Array, points: Array) -> Array:
        """The index (b, s), averaged over the windows and orientations of one level, from
        coefficients (o, 2, h, w, b or s)."""
        xp = namespace(rows)
        points = xp.astype(points, rows.dtype, copy=False)
        total = xp.zeros((rows.shape[-1], points.shape[-1]), dtype=rows.dtype, device=device(rows))
        count = 0
        for left, right in zip(self._windows(rows), self._windows(points), strict=True):
            total += _similarity(left, right, float(self.constant))
            count += 1
        total /= count
        return total

    def _windows(self, coefficients: Array) -> Iterator[Array]:
        """The coefficients (2 size, n) of every window of every orientation: real parts, then
        imaginary parts."""
        xp = namespace(coefficients)
        high, wide = coefficients.shape[2:4]
        for band in range(coefficients.shape[0]):
            for top, bottom in self._window_bounds(high):
                for left, right in self._window_bounds(wide):
                    part = coefficients[band, :, top:bottom, left:right, :]
                    yield xp.reshape(part, (-1, part.shape[-1]))

    def _window_bounds(self, side: int) -> list[tuple[int, int]]:
        """First and one past the last coefficient of each window along one side of a subband."""
        window = min(self.window, side)
        step = (self.window + 1) // 2 if self.step is None else self.step
        gaps = -(-(side - window) // step)
        starts = [i * (side - window) // max(gaps, 1) for i in range(gaps + 1)]
        return [(start, start + window) for start in starts]

    def _checked_sides(self, x: Array, shape: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return (height, width) of the images; ValueError for a number of columns that does not
        fit."""
        n_columns = int(x.shape[1])
        height, width = shape or self.shape or (math.isqrt(n_columns), math.isqrt(n_columns))
        if height * width != n_columns:
            if shape or self.shape:
                wanted = f"{height} x {width} = {height * width} belong"
            else:
                wanted = "the square of a whole number belongs"
            raise ValueError(
                f"{self!r}: rows have {n_columns} columns where {wanted}: one number per pixel of "
                "an image. Give the images' shape=(height, width), or the rows that belong to it."
            )
        side = min(height, width)
        max_levels = _max_levels(side)
        if side < 3:
            raise ValueError(
                f"{self!r}: images of {height} x {width} pixels are too small: each side must have "
                "at least 3 pixels."
            )
        if self.levels is not None and self.levels > max_levels:
            raise ValueError(
                f"{self!r}: images of {height} x {width} pixels have room for {max_levels} levels, "
                "each of which halves the sides of the "
                f"last; give levels={max_levels} or less, or larger images."
            )
        return height, width


@dataclass(frozen=True)
class _Level:
    """The part of an image's Fourier transform that one level keeps."""

    rows: IntArray  # (h,) numbers of the vertical frequencies
    columns: IntArray  # (w,) and of the horizontal ones
    shares: Float64  # (o, h, w) of each orientation


@dataclass(frozen=True)
class _Pyramid:
    """The transform of images (n, height width): for each level the real and imaginary parts (o, 2,
    h, w, n) of its coefficients."""

    height: int
    width: int
    levels: tuple[_Level, ...]

    @classmethod
    def for_images(cls, kernel: ComplexWaveletSSIM, height: int, width: int) -> _Pyramid:
        count, side = kernel.levels, min(height, width)
        if count is None:
            count = max(
                1, sum(-(-side // 2**level) >= kernel.window for level in range(_max_levels(side)))
            )
        return cls(
            height,
            width,
            tuple(_filters(height, width, level, kernel.orientations) for level in range(count)),
        )

    @property
    def size(self) -> int:
        """Real numbers per image."""
        return 2 * sum(level.shares.size for level in self.levels)

    def __call__(self, x: Array) -> list[Array]:
        dtype = _float_dtype(x)
        x = x.toarray() if is_sparse(x) else x
        xp = namespace(x)
        images = xp.reshape(xp.astype(x, xp.complex128).T, (self.height, self.width, x.shape[0]))
        spectrum = xp.fft.fftn(images, axes=(0, 1))
        return [self._coefficients(spectrum, level, dtype) for level in self.levels]

    @staticmethod
    def _coefficients(spectrum: Array, level: _Level, dtype: Any) -> Array:
        xp, n = namespace(spectrum), spectrum.shape[-1]
        for axis, kept in enumerate((level.rows, level.columns)):
            spectrum = xp.take(spectrum, xp.asarray(kept, device=device(spectrum)), axis=axis)
        shares = as_like(level.shares, spectrum)
        values = xp.fft.ifftn(spectrum[None, :, :, :] * shares[:, :, :, None], axes=(1, 2))
        parts = xp.astype(xp.stack([xp.real(values), xp.imag(values)], axis=1), dtype)
        # contiguous in this order, so that slicing windows is fast
        return xp.reshape(xp.reshape(parts, (-1, n)), parts.shape)


def _filters(height: int, width: int, level: int, orientations: int) -> _Level:
    """The shares that `ComplexWaveletSSIM` defines, for the frequencies of a level's coarser
    grid."""
    high, wide = -(-height // 2**level), -(-width // 2**level)
    down, across = (np.rint(np.fft.fftfreq(n) * n).astype(np.intp) for n in (high, wide))
    u, v = across[None, :] * (2 * np.pi / width), down[:, None] * (2 * np.pi / height)
    r = np.hypot(u, v)
    safe = np.where(r > 0, r, 1.0)
    octaves = np.clip(np.log2(safe * 2.0 ** (level + 1) / np.pi), -1.0, 1.0)
    radial = np.where((r > 0) & (np.abs(octaves) < 1), np.cos(np.pi / 2 * octaves), 0.0)
    angles = np.pi * np.arange(orientations)[:, None, None] / orientations
    cosines = (u * np.cos(angles) + v * np.sin(angles)) / safe
    cosines[cosines < 1e-9] = 0.0  # on the border of the half-plane, up to rounding
    n = orientations - 1
    a = 2.0**n * math.factorial(n) / math.sqrt(orientations * math.factorial(2 * n))
    scale = (high * wide) / (height * width)  # of the inverse transform on the coarser grid
    return _Level(down % height, across % width, scale * 2.0 * a * radial * cosines**n)


def _similarity(
    x: Array,  # (2 size, b) coefficients of a window: real parts, then imaginary parts
    y: Array,  # (2 size, s)
    constant: float,
) -> Array:
    """The index (b, s) of one window."""
    xp = namespace(x)
    size, b = x.shape[0] // 2, x.shape[1]
    turned = xp.concat([x[size:, :], -x[:size, :]])
    # twice the real parts, then twice the imaginary parts
    products = xp.concat([x + x, turned + turned], axis=1).T @ y
    products *= products
    values = products[:b, :]
    values += products[b:, :]
    values = np.sqrt(values, out=values) if isinstance(values, np.ndarray) else xp.sqrt(values)
    values += constant
    energies = products[b:, :]
    energies[...] = (xp.sum(x * x, axis=0) + constant)[:, None]
    energies += xp.sum(y * y, axis=0)[None, :]
    values /= energies
    return values


def _max_levels(side: int) -> int:
    """Number of levels with more than 2 pixels to a side, where the lowest frequency of the image
    still lies inside the octaves."""
    return (side - 1).bit_length() - 1


def _is_whole(value: object, least: int) -> bool:
    return (
        isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least
    )


def _float_dtype(x: Array) -> Any:
    """The rows' dtype, or float64 where rows are integers."""
    xp = namespace(x)
    return x.dtype if xp.isdtype(x.dtype, "real floating") else xp.float64
