"""Quadruped mammals: four kinds of animals made of eight cylinders, 72 numbers each (Gennari,
Langley, Fisher 1989)."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..data.arrays import Float64, IntArray
from .checks import whole

QUADRUPED_CLASSES = ("dog", "cat", "horse", "giraffe")
PARTS = ("torso", "leg1", "leg2", "leg3", "leg4", "neck", "head", "tail")
ATTRIBUTES = (
    "location_x",
    "location_y",
    "location_z",
    "axis_x",
    "axis_y",
    "axis_z",
    "height",
    "radius",
    "texture",
)
COLUMN = {
    f"{part}_{attribute}": 9 * i + j
    for i, part in enumerate(PARTS)
    for j, attribute in enumerate(ATTRIBUTES)
}

# The numbers drawn for each animal, and their ranges: dog, cat, horse, giraffe.
_LEG_RADIUS = ((0.8, 1.2), (0.4, 0.8), (2.0, 3.5), (2.0, 4.0))
_LEG_SWING = ((0.0, 1.0), (0.0, 1.0), (0.0, 0.5), (0.0, 0.5))
_EITHER_WAY = ((-1.0, 1.0),) * 4
RANGES = {
    "torso_height": ((22.0, 28.0), (15.0, 22.0), (50.0, 60.0), (60.0, 72.0)),
    "torso_radius": ((5.5, 7.5), (2.5, 4.5), (10.0, 14.5), (12.5, 17.0)),
    # one draw for all four legs
    "leg1_height": ((10.0, 15.0), (4.0, 9.0), (36.0, 44.0), (58.0, 70.0)),
    **{f"leg{i}_radius": _LEG_RADIUS for i in (1, 2, 3, 4)},
    "leg1_axis_x": _LEG_SWING,
    "leg4_axis_x": _LEG_SWING,
    "neck_height": ((5.0, 6.0), (2.0, 4.0), (12.0, 16.0), (45.0, 55.0)),
    "neck_radius": ((2.0, 3.0), (1.5, 2.5), (5.0, 7.0), (5.0, 9.0)),
    "head_height": ((10.0, 13.0), (3.0, 5.0), (18.0, 22.0), (18.0, 22.0)),
    "head_radius": ((2.5, 3.5), (1.5, 2.5), (4.0, 6.0), (3.5, 5.5)),
    "head_axis_y": _EITHER_WAY,
    "tail_height": ((6.0, 8.0), (10.0, 18.0), (26.0, 33.0), (20.0, 25.0)),
    "tail_radius": ((0.2, 0.4), (0.3, 0.7), (1.0, 2.0), (0.5, 1.0)),
    "tail_axis_y": _EITHER_WAY,
    "tail_axis_z": ((-1.0, 1.0), (-1.0, 1.0), (-1.0, 0.0), (-1.0, 0.0)),
    **{f"{part}_texture": ((170.0, 180.0),) * 4 for part in PARTS},
}
CONSTANTS = {
    "torso_axis_x": 1.0,
    **{f"leg{i}_axis_z": -1.0 for i in (1, 2, 3, 4)},
    "neck_axis_x": 1.0,
    "neck_axis_z": 1.0,
    "head_axis_x": 1.0,
    "tail_axis_x": -1.0,
}


def make_quadrupeds(
    n_samples: int = 500_000,
    *,
    as_printed: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Float64, IntArray]:
    """Dogs, cats, horses and giraffes as 72 numbers each: 8 cylinders with 9 attributes (UCI
    "quadrupeds", program animals.c).

    The large data set of Havens 2011 (500,000 animals). Parts: torso, four legs, neck, head, tail.
    Attributes: location and axis (x, y, z), height, radius, texture. 26 independent numbers are
    drawn for an animal; all else is constant or linear in them. The class is drawn uniformly.

    Every number comes from the program's approximate bell curve over [a, b]: one of the three
    ranges [a, b], [a + w, b - w], [a + 2w, b - 2w] with w = (b - a) / 5, one third each, then
    uniform from it (mean (a + b) / 2, s.d. 0.1972 (b - a)). `datasets.quadrupeds.RANGES` has the
    ranges. They are those of a later port of the C program; the C file was not available. Decided
    here where the port leaves doubts: axes are not made unit length; the tail lies at x = -(torso
    height) + tail height, and the neck's slopes are divided by 2.828 and 1.414, both as in the
    port; the port's own normal draw, whose means are wrong, is not used; numbers keep all digits
    unless `as_printed`.

    Parameters
    ----------
    n_samples : number of animals.
    as_printed : True to round as the C program's output does, textures down to integers, all else
        to two decimals.
    random_state : int, RandomState or None.

    Returns
    -------
    X : (n_samples, 72) float64, columns as `quadruped_feature_names()`.
    y : (n_samples,) numbers into `QUADRUPED_CLASSES`: 0 dog, 1 cat, 2 horse, 3 giraffe.

    Raises
    ------
    ValueError
        If n_samples is not a whole number of at least 1.

    Examples
    --------
    >>> from cmeans.datasets import QUADRUPED_CLASSES, make_quadrupeds, quadruped_feature_names
    >>> X, y = make_quadrupeds(1000, random_state=0)
    >>> height = X[:, quadruped_feature_names().index("leg1_height")]
    >>> {name: round(float(height[y == j].mean())) for j, name in enumerate(QUADRUPED_CLASSES)}
    {'dog': 13, 'cat': 7, 'horse': 40, 'giraffe': 64}

    References
    ----------
    J. H. Gennari, P. Langley, D. Fisher, Models of incremental concept formation, Artificial
    Intelligence 40 (1989) 11-61.
    """
    n = whole("make_quadrupeds", "n_samples", n_samples, 1)
    random = check_random_state(random_state)
    y = random.randint(4, size=n)
    X = np.zeros((n, len(COLUMN)))
    for name, ranges in RANGES.items():
        low, high = np.asarray(ranges).T
        # steps of w at both ends of the range: 0, 1 or 2 fifths
        cut = 0.2 * random.randint(3, size=n)
        X[:, COLUMN[name]] = low[y] + (high - low)[y] * (
            cut + (1.0 - 2.0 * cut) * random.uniform(size=n)
        )
    for name, value in CONSTANTS.items():
        X[:, COLUMN[name]] = value
    _fill_dependent_columns(X, y)
    if as_printed:
        texture = [COLUMN[f"{part}_texture"] for part in PARTS]
        X[:, texture] = np.floor(X[:, texture])
        np.round(X, 2, out=X)
    return X, y


def quadruped_feature_names() -> list[str]:
    """Return the names of the 72 columns of `make_quadrupeds`: "torso_location_x", ...,
    "tail_texture"."""
    return list(COLUMN)


def _fill_dependent_columns(X: Float64, y: IntArray) -> None:
    """Fill in the columns that follow from the numbers drawn: equal legs, and the locations of the
    parts."""
    torso, radius, leg, neck, tail = (
        X[:, COLUMN[name]].copy()
        for name in ("torso_height", "torso_radius", "leg1_height", "neck_height", "tail_height")
    )
    steep = y >= 2  # horses and giraffes hold their heads up
    for i, (fore, side) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)), start=1):
        X[:, COLUMN[f"leg{i}_height"]] = leg
        _set_location(X, f"leg{i}", fore * torso / 2, side * radius, -radius - leg / 2)
    _set_location(
        X,
        "neck",
        torso / 2 + neck / np.where(steep, 2.828, 2.0),
        0.0,
        radius + np.where(steep, neck / 2.828, 0.0),
    )
    _set_location(
        X,
        "head",
        torso / 2 + neck / np.where(steep, 1.414, 1.0),
        0.0,
        radius + np.where(steep, neck / 1.414, 0.0),
    )
    _set_location(X, "tail", tail - torso, 0.0, 0.0)


def _set_location(
    X: Float64, part: str, x: Float64, y: Float64 | float, z: Float64 | float
) -> None:
    for axis, value in zip("xyz", (x, y, z), strict=True):
        X[:, COLUMN[f"{part}_location_{axis}"]] = value
