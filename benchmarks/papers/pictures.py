"""How figures are written: PNG for pages, SVG for print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#7f7f7f", "#bcbd22")


def pyplot() -> Any:
    """matplotlib without a screen; the same input gives the same SVG."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "cmeans"
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, folder: Path, name: str, dpi: int = 130) -> None:
    """NAME.png and NAME.svg. Clouds of points are best drawn with rasterized=True, or the SVG is large."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, words in (("png", {}), ("svg", {"metadata": {"Date": None}})):
        path = folder / f"{name}.{kind}"
        figure.savefig(path, dpi=dpi, bbox_inches="tight", **words)
        print(f"      {path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    pyplot().close(figure)
