"""Numbers that page, claims and figures take from the cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ... import markdown
from ...markdown import percent, short
from ...template import toml
from ..paper import PaperReading
from ..results import Cell
from . import extras, runs
from .extras import ORDERED, ORDERS, SMALL
from .runs import ALL_ROWS, AUTOMATIC, CASES, ONLY_EXACT, PRINTED_M, STREAMS, chunk_rows, key_of

SLACK_OF_KFCM = 0.02  # of ARI, down to 2% chunks
SLACK_OF_LANDMARKS = 0.01
SLACK_OF_OBJECTIVE = 0.005
SEVERAL_TIMES = 3.0  # over the best printed ARI on MNIST
MUCH = 2.0  # times as fast, to be much faster
# a tenth of the paper's width, in small chunks
NARROW = "order | 2D15, gamma 50 | random | 1% | stKFCM, update"
FOREST_LARGEST = 283_301 / 581_012  # the share of its largest class: UCI's counts
PRESENT = ("stKFCM", "landmarks")  # the streams of the library


class Printed(NamedTuple):
    purity: float
    ari: float
    seconds: float | None = None  # of the large sets on all rows not printed


WHOLE = {
    name: Printed(*numbers)
    for name, numbers in toml("papers/zhang2013/printed.toml")["whole"].items()
}
CHUNKS = {
    name: {
        (method, row[0]): Printed(*row[at : at + 3])
        for row in rows
        for method, at in (("KPC", 1), ("stKFCM", 4))
    }
    for name, rows in toml("papers/zhang2013/printed.toml")["chunks"].items()
}


class Reading(PaperReading):
    modules = (runs, extras)

    # ---------------------------------------------------------------------------------------- cells

    def mean_of(self, key: str, field: str = "ari") -> float | None:
        return float(np.mean(self.cells[key][field])) if key in self.cells else None

    def spread_of(self, key: str, field: str = "ari") -> str:
        return markdown.spread(self.cells[key][field]) if key in self.cells else ""

    def seconds_of(self, key: str) -> list[float]:
        """Processor seconds, of runs that took turns where there are such: other work on a machine
        disturbs them least."""
        apart = [f"times | {key}", f"times | {key.replace('| KFCM', f'| {ALL_ROWS}')}"]
        cell = next((self.cells[name] for name in apart if name in self.cells), self.cells[key])
        return cell.get("busy", cell["seconds"])

    def cpu(self, key: str) -> str:
        return markdown.seconds(float(np.median(self.seconds_of(key)))) if key in self.cells else ""

    def whole_methods(self, name: str) -> list[str]:
        """Contestants that saw all rows at once: akFCM where KFCM takes long or too long."""
        return (
            ["KFCM"]
            if CASES[name].small
            else ["akFCM"]
            if CASES[name].file == "covtype"
            else ["KFCM", "akFCM"]
        )

    def wholes(self, name: str, m: str | float = PRINTED_M) -> dict[str, str]:
        """Keys of those that were measured."""
        keys = {method: key_of(name, m, method, None) for method in self.whole_methods(name)}
        return {method: key for method, key in keys.items() if key in self.cells}

    def keys(
        self,
        names: Iterable[str],
        m: str | float,
        methods: Iterable[str],
        *,
        published: bool = False,
    ) -> list[str]:
        return [
            key_of(name, m, method, share, published=published)
            for name in names
            for method in methods
            for share in CASES[name].shares
        ]

    def level(self, name: str, method: str, least: float = 0.0) -> dict[float, float]:
        """Mean ARI by the share of the rows in a chunk."""
        found = {
            share: self.mean_of(key_of(name, PRINTED_M, method, share))
            for share in CASES[name].shares
            if share >= least
        }
        return {share: value for share, value in found.items() if value is not None}

    def levels(self, name: str, methods: Iterable[str]) -> list[float]:
        return [value for method in methods for value in self.level(name, method).values()]

    def all_of(self, keys: Iterable[str], field: str) -> list[float]:
        """All trials of some cells."""
        return [value for key in keys for value in self.values(key, field)]

    def range_of(self, keys: Iterable[str], field: str = "ari") -> str:
        """The least mean to the largest."""
        values = [value for key in keys if (value := self.mean_of(key, field)) is not None]
        return markdown.reach(values) if values else "?"

    def trials(self, keys: Iterable[str]) -> str:
        counts = sorted({len(self.cells[key]["ari"]) for key in keys if key in self.cells})
        if not counts:
            return "no trial"
        return f"{counts[0]} trial{'s' if counts[0] > 1 else ''}" + (
            f" to {counts[-1]}" if len(counts) > 1 else ""
        )

    # --------------------------------------------------------------------------------------- tables

    def printed_lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Table II of one data set."""
        for method in self.whole_methods(name):
            first = f"all {CASES[name].size[0]:,}"
            yield {
                "first": first,
                "method": method,
                "printed": WHOLE[name],
                "key": key_of(name, PRINTED_M, method, None),
            }
        for share in CASES[name].shares:
            for method in STREAMS:
                first = (
                    f"{percent(share)}, {chunk_rows(CASES[name], share):,}"
                    if method == STREAMS[0]
                    else ""
                )
                printed = CHUNKS[name].get((method, share))
                yield {
                    "first": first,
                    "method": method,
                    "printed": printed,
                    "key": key_of(name, PRINTED_M, method, share),
                }

    def why_not(self, key: str) -> str:
        """The reason for which a row of a printed table has no number."""
        return "*(only with `--exact`)*" if key in ONLY_EXACT else markdown.ABSENT

    def by_order(self, ways: Iterable[str]) -> list[tuple[str, str]]:
        """Ways to take a stream, each in random order and sorted."""
        return [(way, order) for way in ways for order in ORDERS]

    def loss(self, key: str) -> str:
        if key not in self.cells:
            return ""
        worst = max(self.cells[key]["loss"])
        return short(worst, 2) if worst >= 0.005 else ("0" if worst == 0 else f"{worst:.0e}")

    def megabytes(self, method: str, share: float | None) -> str:
        cell = self.peak(method, share)
        return "" if cell is None else f"{cell['megabytes']:.1f}"

    def peak(self, method: str, share: float | None) -> Cell | None:
        return self.cells.get("memory | " + key_of("2D15", PRINTED_M, method, share))

    # ------------------------------------------------------------------------------------ sentences

    def ranges(self, name: str) -> dict[str, Any] | None:
        """ARI of each stream by chunks, ours and printed; none unless all are there."""
        ours = {method: list(self.level(name, method).values()) for method in STREAMS}
        if not all(ours.values()):
            return None
        return ours | {
            f"printed {method}": [CHUNKS[name][method, share].ari for share in CASES[name].shares]
            for method in STREAMS[:2]
        }

    def costs(self, name: str) -> list[tuple[str, list[float]]]:
        """Objectives over that of the run on all rows."""
        unit = next((self.mean_of(key, "objective") for key in self.wholes(name).values()), None)
        keys = {
            method: [key for key in self.keys([name], PRINTED_M, [method]) if key in self.cells]
            for method in STREAMS
        }
        return (
            []
            if unit is None
            else [
                (method, [self.mean_of(key, "objective") / unit for key in of])
                for method, of in keys.items()
            ]
        )

    def sorted_costs(self) -> Iterator[dict[str, Any]]:
        """ARI of random and of sorted rows, in chunks of 5%."""
        for name in ORDERED:
            for way in ("stKFCM, update", "landmarks", "landmarks, decay .8"):
                found = [self.mean_of(f"order | {name} | {order} | 5% | {way}") for order in ORDERS]
                if None not in found:
                    yield {"name": name, "way": way, "ari": found}

    def printed_stream(self, name: str) -> list[float]:
        return [CHUNKS[name]["stKFCM", share].ari for share in CASES[name].shares]

    def slowest_printed(self) -> float:
        """Seconds of stKFCM over those of KPC, as printed."""
        return max(
            cells["stKFCM", share].seconds / cells["KPC", share].seconds
            for cells in CHUNKS.values()
            for _, share in cells
        )

    def pairs_of(
        self, field: str = "ari", m: float | str = PRINTED_M
    ) -> dict[tuple[str, float], tuple[float, float]]:
        """Landmarks and stKFCM of each row of the table."""
        pairs = {}
        for name in CHUNKS if m == PRINTED_M else AUTOMATIC:
            for share in CASES[name].shares:
                keys = [key_of(name, m, method, share) for method in ("landmarks", "stKFCM")]
                if all(key in self.cells for key in keys):
                    both = (
                        np.median(self.seconds_of(key))
                        if field == "seconds"
                        else np.mean(self.cells[key][field])
                        for key in keys
                    )
                    pairs[name, share] = tuple(map(float, both))
        return pairs

    def paces(self) -> list[float]:
        """Seconds of stKFCM over those of landmarks."""
        return [theirs / ours for ours, theirs in self.pairs_of("seconds").values()]

    # ------------------------------------------------------------------------------- what was asked

    def near(self) -> list[dict[str, Any]]:
        """KFCM, and the worst mean of stKFCM down to 2% chunks."""
        made = []
        for name in SMALL:
            whole, found = (
                self.mean_of(key_of(name, PRINTED_M, "KFCM", None)),
                self.level(name, "stKFCM", 2),
            )
            if whole is not None and found:
                at = min(found, key=lambda share, found=found: found[share])
                made.append(
                    {
                        "name": name,
                        "whole": whole,
                        "worst": found[at],
                        "at": at,
                        "met": found[at] >= whole - SLACK_OF_KFCM,
                    }
                )
        return made

    def where(self, pairs: Iterable[tuple[str, float]]) -> str:
        return ", ".join(f"{name} {percent(share)}" for name, share in pairs) or "none"

    def landmarks_ari(self, m: float | str) -> dict[str, Any]:
        pairs = self.pairs_of(m=m)
        below = [
            where for where, (ours, theirs) in pairs.items() if ours < theirs - SLACK_OF_LANDMARKS
        ]
        ours, theirs = np.mean(list(pairs.values()), axis=0) if pairs else (0.0, 0.0)
        return {"below": below, "of": len(pairs), "ours": ours, "theirs": theirs}

    def landmarks_objective(self) -> dict[str, Any]:
        """Of all rows at the final centres: what KFCM minimises, and the streams approximate."""
        ratios = {
            where: ours / theirs for where, (ours, theirs) in self.pairs_of("objective").items()
        }
        above = [where for where, ratio in ratios.items() if ratio > 1 + SLACK_OF_OBJECTIVE]
        return {"above": above, "ratios": list(ratios.values()) or [1.0]}

    def landmarks_faster(self) -> dict[str, Any]:
        pairs = {where: pair for where, pair in self.pairs_of("seconds").items() if where[1] > 1}
        slower = [where for where, (ours, theirs) in pairs.items() if ours >= theirs]
        return {
            "slower": slower,
            "of": len(pairs),
            "ratios": [theirs / ours for ours, theirs in pairs.values()] or [0.0],
        }

    def best_printed(self, methods: Iterable[str] = ("KPC", "stKFCM")) -> float:
        """Of MNIST."""
        return max(cell.ari for (method, _), cell in CHUNKS["MNIST"].items() if method in methods)

    def mnist_auto(self, name: str) -> list[float]:
        values = [
            self.mean_of(key_of(name, "auto", method, share))
            for share in CASES[name].shares
            for method in PRESENT
        ]
        return [value for value in values if value is not None]

    # --------------------------------------------------------------------------------------- claims

    def against_patches(self) -> dict[str, Any] | None:
        stream, patch = self.level("2D50", "stKFCM"), self.level("2D50", "KPC")
        if not stream or stream.keys() != patch.keys():
            return None
        small, ahead = min(stream), sum(stream[share] > patch[share] for share in stream)
        return {
            "ahead": ahead,
            "of": len(stream),
            "small": small,
            "stream": stream[small],
            "patch": patch[small],
        }

    def pace(self, name: str, share: float, slow: str, fast: str) -> float | None:
        keys = [
            key_of(name, PRINTED_M, slow, None if slow == "KFCM" else share),
            key_of(name, PRINTED_M, fast, share),
        ]
        if not all(key in self.cells for key in keys):
            return None
        slower, faster = (float(np.median(self.seconds_of(key))) for key in keys)
        return slower / faster

    def against_all_rows(self) -> dict[str, Any] | None:
        ours = {name: self.pace(name, 2, "KFCM", "stKFCM") for name in SMALL}
        printed = {name: WHOLE[name].seconds / CHUNKS[name]["stKFCM", 2].seconds for name in SMALL}
        return (
            None
            if None in ours.values()
            else {
                "ours": ours,
                "printed": printed,
                "slower": any(ours[n] < printed[n] for n in SMALL),
            }
        )

    def in_small_chunks(self) -> dict[tuple[str, float], float]:
        ratios = {
            (name, share): self.pace(name, share, "KPC", "stKFCM")
            for name in SMALL
            for share in (2, 1)
        }
        return {where: value for where, value in ratios.items() if value is not None}

    def in_halves(self) -> dict[str, Any] | None:
        ratios = {name: self.pace(name, 50, "stKFCM", "KPC") for name in SMALL}
        found = {name: value for name, value in ratios.items() if value is not None}
        printed = {
            name: CHUNKS[name]["stKFCM", 50].seconds / CHUNKS[name]["KPC", 50].seconds
            for name in found
        }
        return {"found": found, "printed": printed} if found else None

    def memory(self) -> dict[str, Any] | None:
        cells = [
            self.peak(method, share)
            for method, share in ((ALL_ROWS, None), ("stKFCM", 50), ("stKFCM", 5))
        ]
        if not all(cells):
            return None
        whole, half, small = (cell["megabytes"] for cell in cells if cell)
        return {
            "whole": whole,
            "half": half,
            "small": small,
            "literal": 8e-6 * CASES["2D15"].size[0] ** 2,
        }

    def above_kfcm(self, method: str, least: float) -> dict[str, Any] | None:
        whole = next(
            (mean for key in self.wholes("MNIST").values() if (mean := self.mean_of(key))), None
        )
        found = self.level("MNIST", method, least)
        if whole is None or not found:
            return None
        return {
            "whole": whole,
            "found": list(found.values()),
            "above": sum(value >= whole for value in found.values()),
        }

    def mnist_level(self) -> dict[str, Any] | None:
        whole, found = (
            self.mean_of(key_of("MNIST", PRINTED_M, "KFCM", None)),
            self.level("MNIST", "stKFCM"),
        )
        return (
            {"whole": whole, "most": max(found.values()), "best": self.best_printed(["stKFCM"])}
            if found
            else None
        )
