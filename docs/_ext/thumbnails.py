"""Thumbnails of the gallery that can be read: of a figure of several panels, the first ones, as
many as fill the frame best."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

SIZE = 480, 320
SHAPE = SIZE[0] / SIZE[1]
GAP = 0.008  # share of the width that parts two panels


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", draw, priority=900)  # the gallery is there
    return {"parallel_read_safe": True}


def draw(app: Any) -> None:
    folder = Path(app.srcdir) / "gallery" / "images"
    for path in folder.glob("thumb/sphx_glr_*_thumb.png"):
        figure = folder / f"{path.stem.removesuffix('_thumb')}_001.png"
        if figure.is_file():
            with Image.open(figure) as image:
                thumbnail(image.convert("RGB")).save(path)


def thumbnail(image: Image.Image) -> Image.Image:
    image = trimmed(image)
    shown = [trimmed(image.crop((0, 0, x, image.height))) for x in cuts(image)]
    best = min(shown, key=lambda part: abs(math.log(part.width / part.height / SHAPE)))
    framed = ImageOps.expand(best, round(0.02 * best.width), "white")
    return ImageOps.pad(framed, SIZE, method=Image.Resampling.LANCZOS, color="white")


def trimmed(image: Image.Image) -> Image.Image:
    """Without its white margins."""
    return image.crop(ImageOps.invert(image).getbbox())


def cuts(image: Image.Image) -> list[int]:
    """Where a figure may end: in the middle of its empty stripes from top to bottom, and at its
    edge."""
    inked = np.flatnonzero((np.asarray(image) < 250).any(axis=(0, 2)))
    gaps = np.flatnonzero(np.diff(inked) > GAP * image.width)
    return [*((inked[gaps] + inked[gaps + 1]) // 2).tolist(), image.width]
