"""Plain sentences that say what sets clusters apart."""

from __future__ import annotations

from collections.abc import Callable

from ..runtime.numerals import in_digits, percent
from .contrast import Contrast
from .units import Unit

FAR = 1.5  # times the average from which on, or by which below, that is said


def said_of(
    contrast: Contrast, cluster: int, unit: Callable[[int], Unit], most: int = 3
) -> list[str]:
    """Return what sets a cluster apart, the most telling first: "spend 6 times the average (1,204,
    elsewhere 166)", "73% premium (elsewhere 12%)"; `unit`: of a column, by its number."""
    return [
        said_of_column(
            " ".join(contrast.feature_names[k].split()),
            unit(k),
            float(contrast.means[cluster, k]),
            float(contrast.rest[cluster, k]),
            float(contrast.mean[k]),
        )
        for k in contrast.leading(cluster, most).tolist()
    ]


def said_of_column(name: str, unit: Unit, inside: float, outside: float, average: float) -> str:
    """Return how the mean of a column inside a cluster differs from that of the other rows, and
    from the average of all."""
    here, elsewhere = unit.write([inside, outside])
    if unit.is_share:
        return f"{here} {name} (elsewhere {elsewhere})"
    times = inside / average if unit.is_amount and average > 0 else 1.0
    if 1 / FAR < times < FAR:
        return f"{name} {here} (elsewhere {elsewhere})"
    said = f"{in_digits(times, 2)} times" if times > 1 else f"{percent(times)} of"
    return f"{name} {said} the average ({here}, elsewhere {elsewhere})"
