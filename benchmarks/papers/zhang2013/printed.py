"""Table II of Zhang & Havens 2013 as printed: means over 100 trials of purity, ARI and seconds."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    purity: float
    ari: float
    seconds: float | None


def _cells(text: str) -> dict[tuple[str, float], Printed]:
    """Lines of: share of the rows in a chunk, then purity, ARI and seconds of KPC and of stKFCM."""
    cells = {}
    for line in text.strip().splitlines():
        share, *numbers = (float(number) for number in line.split())
        cells["KPC", share] = Printed(*numbers[:3])
        cells["stKFCM", share] = Printed(*numbers[3:])
    return cells


WHOLE = {
    "2D15": Printed(0.95, 0.91, 5.5),
    "2D50": Printed(0.92, 0.84, 56),
    "MNIST": Printed(0.20, 0.027, None),
    "Forest": Printed(0.52, 0.03, None),
}
CHUNKS = {
    "2D15": _cells("""
        50  .94 .91 4.0   .94 .91 30
        25  .94 .91 2.0   .93 .90 9.3
        10  .94 .91 1.05  .93 .89 1.6
        5   .93 .90 .77   .92 .88 .73
        2   .91 .89 1.1   .92 .89 .42
        1   .88 .85 1.2   .88 .85 .09
        """),
    "2D50": _cells("""
        50  .85 .84 31    .88 .83 126
        25  .88 .82 15    .88 .82 36
        10  .87 .82 8.8   .87 .82 6.8
        5   .85 .79 6.2   .88 .84 2.9
        2   .82 .75 5.8   .88 .84 1.7
        1   .79 .72 6.8   .79 .77 6.2
        """),
    "MNIST": _cells("""
        10   .20 .038 689   .19 .037 4488
        5    .20 .039 112   .27 .035 1460
        2    .20 .038 46    .26 .037 415
        1    .20 .036 24    .23 .044 193
        .5   .20 .033 14    .20 .0401 69
        .2   .16 .023 14    .23 .047 14
        .1   .18 .016 19    .24 .045 15
        .05  .18 .011 33    .23 .043 94
        .02  .16 .0051 61   .22 .033 60
        """),
    "Forest": _cells("""
        .2   .52 .0014 121  .51 .019 1122
        .1   .52 .0010 81   .51 .017 333
        .05  .51 .0078 60   .50 .015 118
        .02  .52 .0089 57   .49 .0011 43
        .01  .51 .0018 65   .49 .00 29
        """),
}

FOREST_LARGEST = 283_301 / 581_012  # the share of its largest class: UCI's counts
