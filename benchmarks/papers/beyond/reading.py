"""Numbers that page, claims and figures take from the cells, problem by problem and question by
question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...markdown import mean
from ..paper import PaperReading
from ..results import Cell
from ..zhang2013.extras import ORDERED, ORDERS
from . import gradients, problems, runs, scales
from .gradients import SETS as LARGE
from .gradients import WAYS as SEARCHES
from .problems import PROBLEMS
from .runs import LOSS_SHARES, LOSS_WAYS, METHODS, WAYS
from .scales import SETS

CLOSE = 0.5  # points of success that count as none
CLEARLY = 0.1  # per cent of a cost
FEASIBLE = 10  # times the seconds of k-means from three starts


class Reading(PaperReading):
    modules = (gradients, problems, runs, scales)

    def array(self, key: str, field: str) -> np.ndarray:
        """All trials; none where nothing was measured."""
        return np.array(self.values(key, field), dtype=float)

    def excess(self, key: str) -> np.ndarray:
        """Costs of partitions above that of kernel k-means with all kernel values, where they
        started, per cent."""
        costs, exact = self.array(key, "cost"), self.array(f"exact | {key.split(' | ')[1]}", "cost")
        both = min(len(costs), len(exact))
        return 100 * (costs[:both] / exact[:both] - 1)

    def away(self, key: str) -> float:
        """Mean distance from the exact cost, per cent: the exact partition is but one of many
        minima, so below it is no merit."""
        return float(np.abs(self.excess(key)).mean())

    # ------------------------------------------------------------------------- samplings, ensembles

    def samplings(self) -> Iterator[dict[str, Any]]:
        """Problems and numbers of landmarks of which all samplings are there."""
        for name, problem in PROBLEMS.items():
            for size in problem.sizes:
                keys = {method: f"sampling | {name} | {size} | {method}" for method in METHODS}
                costs = [self.excess(key) for key in keys.values()]
                if all(len(cost) for cost in costs):
                    left = {
                        method: mean(self.values(key, "residual")) for method, key in keys.items()
                    }
                    busy = [mean(self.values(key, "busy")) for key in keys.values()]
                    yield {
                        "name": name,
                        "size": size,
                        "keys": keys,
                        "left": left,
                        "costs": list(map(mean, costs)),
                        "busy": busy,
                    }

    def sampling(self) -> dict[str, Any] | None:
        """rpcholesky against uniform."""
        there = list(self.samplings())
        if not there:
            return None
        left = [line["left"]["rpcholesky"] / line["left"]["uniform"] for line in there]
        away = {
            method: float(np.median([self.away(line["keys"][method]) for line in there]))
            for method in METHODS
        }
        return {"left": left, "away": away}

    def ensembles(self) -> list[dict[str, Any]]:
        """Problems of which all ways are there."""
        lines = []
        for name, problem in PROBLEMS.items():
            keys = [f"ensemble | {name} | {way}" for way in WAYS]
            found = [self.excess(key) for key in keys]
            if all(len(costs) for costs in found):
                busy = [mean(self.values(key, "busy")) for key in keys]
                lines.append(
                    {
                        "name": name,
                        "s": runs.part_size(problem),
                        "costs": found,
                        "busy": busy,
                        "away": list(map(self.away, keys)),
                    }
                )
        return lines

    def ensemble(self) -> dict[str, Any] | None:
        """Four draws, however put together, beside one draw of as many landmarks: distances from
        the exact cost."""
        there = self.ensembles()
        if not there:
            return None
        away = {line["name"]: line["away"] for line in there}
        helps = [
            name for name, (_, side, best, one) in away.items() if min(side, best) < one - CLEARLY
        ]
        return {
            "means": np.mean(list(away.values()), axis=0).tolist(),
            "helps": helps,
            "of": len(there),
        }

    # -------------------------------------------------------------------------------------- streams

    def losses(self) -> Iterator[dict[str, Any]]:
        for name in ORDERED:
            for share in LOSS_SHARES:
                keys = [
                    f"loss | {name} | {order} | {share:g}% | {way}"
                    for way in LOSS_WAYS
                    for order in ORDERS
                ]
                if any(key in self.cells for key in keys):
                    yield {"name": name, "share": share, "keys": keys}

    def lost(self) -> dict[str, Any] | None:
        """Rows in random order: what projection loses, and ARI of the landmark stream less that of
        stKFCM."""
        keys = [
            key
            for key in self.cells
            if key.startswith("loss | ") and " | random | " in key and key.endswith("stKFCM")
        ]
        others = {key: key.replace("| stKFCM", "| landmarks") for key in keys}
        gaps = [
            self.cells[own]["ari"][0] - self.cells[key]["ari"][0]
            for key, own in others.items()
            if own in self.cells
        ]
        return (
            {"worst": max(max(self.cells[key]["loss"]) for key in keys), "gaps": gaps}
            if gaps
            else None
        )

    def drops(self) -> dict[str, float] | None:
        """ARI of random rows less that of rows sorted by class, in the mean."""
        drops: dict[str, list[float]] = {way: [] for way in LOSS_WAYS}
        for key, cell in self.cells.items():
            other = key.replace("| random |", "| sorted by class |")
            if key.startswith("loss | ") and other != key and other in self.cells:
                drops[key.rsplit(" | ", 1)[1]].append(cell["ari"][0] - self.cells[other]["ari"][0])
        return {way: mean(values) for way, values in drops.items()} if all(drops.values()) else None

    # --------------------------------------------------------------------------------------- lambda

    def lambdas(self) -> Iterator[dict[str, Any]]:
        for name, of in SETS.items():
            for way, cell in self.keyed(f"lambda | {name}", scales.WAYS).items():
                yield {
                    "name": name,
                    "way": way,
                    "cell": cell,
                    "printed": of.printed[way.split(",")[0]],
                    "classes": of.classes,
                }

    def lambda_found(self) -> dict[str, Any] | None:
        """SeqSAPCM, which asks for nothing but lambda: automatic against by hand."""
        found = []
        for name, of in SETS.items():
            cells = self.keyed(f"lambda | {name}", ("SeqSAPCM, by hand", "SeqSAPCM, auto"))
            if len(cells) == 2:
                (_, hand), (number, auto) = (
                    (cell["clusters"][0], cell["success"][0]) for cell in cells.values()
                )
                good = number == of.classes and auto >= hand - CLOSE
                found.append(
                    {"name": name, "number": number, "auto": auto, "hand": hand, "good": good}
                )
        return {"found": found, "good": sum(one["good"] for one in found)} if found else None

    # ------------------------------------------------------------------------------------ gradients

    def searches(self) -> Iterator[dict[str, Any]]:
        for name, of in LARGE.items():
            for way, cell in self.keyed(f"gradients | {name}", SEARCHES).items():
                yield {
                    "name": name,
                    "rows": of.rows,
                    "way": way,
                    **{field: values[0] for field, values in cell.items()},
                }

    def searched(self) -> dict[str, Any] | None:
        """Feasible: within a few times of k-means from three starts; better: with a lower objective
        too."""
        found = []
        for name in LARGE:
            cells = list(self.keyed(f"gradients | {name}", SEARCHES).values())
            if len(cells) == len(SEARCHES):
                starts, plain, polished = (cell["objective"][0] for cell in cells)
                best, polish = (
                    100 * (min(plain, polished) / starts - 1),
                    100 * (polished / plain - 1),
                )
                pace = cells[1]["busy"][0] / cells[0]["busy"][0]
                found.append({"name": name, "pace": pace, "best": best, "polish": polish})
        if not found:
            return None
        far, ahead = (
            max(one["pace"] for one in found) > FEASIBLE,
            all(one["best"] < 0 for one in found),
        )
        return {"found": found, "far": far, "ahead": ahead}

    # --------------------------------------------------------------------------- how many landmarks

    def automatic(self) -> dict[str, Cell]:
        return self.keyed("auto", PROBLEMS)

    def chosen(self) -> dict[str, Any] | None:
        """The choice of landmarks="auto", and its cost above that of an exact fit."""
        found = self.automatic()
        over = {
            name: mean(excess) if len(excess := self.excess(f"auto | {name}")) else 0.0
            for name in found
        }
        return (
            {
                "landmarks": {name: mean(cell["landmarks"]) for name, cell in found.items()},
                "over": over,
            }
            if found
            else None
        )

    def certified(self) -> dict[str, Any] | None:
        """True costs between the certified bounds: their number, and how wide the bounds are."""
        inside, widths = 0, []
        for name in PROBLEMS:
            low, high, cost = (
                self.array(f"auto | {name}", field) for field in ("low", "high", "cost")
            )
            if len(low):
                inside += int(((low <= cost) & (cost <= high)).sum())
                widths += list(100 * (high - low) / high)
        return {"inside": inside, "widths": widths} if widths else None
