"""The colours of clusters, as normal and as red-green-blind eyes see them."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.inspection.figure import COLOURS, NOISE, colour, marker, rgb

# what eyes without red, and without green, see of linear light (Machado, Oliveira, Fernandes 2009)
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def oklab(light):
    """Colours of linear light (k, 3) where equal distances look equal (Ottosson 2020)."""
    cones = (
        light
        @ np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        ).T
    )
    return (
        np.cbrt(cones)
        @ np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        ).T
    )


@pytest.mark.parametrize("eye", EYES)
def test_colours_are_told_apart(eye):
    codes = np.array([rgb(cluster) for cluster in range(-1, len(COLOURS))])
    light = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    seen = oklab(np.clip(light @ EYES[eye].T, 0, 1))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0.05  # a step that is seen side by side is 0.02
    clusters = apart[1:, 1:]
    assert np.diagonal(clusters, 1).min() > 0.1
    assert clusters[:7, :7].min() > 0.07


def test_every_cluster_has_a_colour_and_a_marker():
    assert len(set(COLOURS)) == len(COLOURS) >= 24
    assert (colour(-1), marker(-1)) == (NOISE, "x")
    looks = {(colour(cluster), marker(cluster)) for cluster in range(7 * len(COLOURS))}
    assert len(looks) == 7 * len(COLOURS)
