"""Numbers that page, claims and figures take from the cells: best widths, counts of wins, shares of
time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...markdown import listed, mean, median
from ...template import toml
from ..paper import PaperReading
from ..results import Cell
from . import methods, runs, times
from .methods import OF_DIGITS, OURS, SCORES, UCI
from .runs import GAMMAS, ON_RINGS, PICTURED, kernel_name
from .times import COMPARED, STARTS

PRINTED = toml("papers/kpkm2021/printed.toml")
LEVEL = 5e-4  # objectives closer than this share count as level
SHOWN = (*OURS, "KPKM + polish", "KFCM m auto")
SIXTH = (*OURS, "KFCM m auto")
OBJECTIVES = ("KPKM", "KPKM batched", "KPKM + polish", "KKM")
KERNELS = ("RBF", "CW-SSIM")
RIVALS = ("KFCM m=1.3", "KFCM m=2", "KFCM m auto", "KKM")
# rows of Figure 5
FOUND = {"KPKM": "KPKM, CW-SSIM", "KKM": "KKM, CW-SSIM", "KFCM m=1.3": "KFCM m = 1.3, CW-SSIM"}


class Reading(PaperReading):
    modules = (methods, runs, times)

    # -------------------------------------------------------------------------------- disc and ring

    def parted(self, kernel: str, method: str, starts: str = "one") -> tuple[int, int] | None:
        """Draws of disc and ring without error, and all of them."""
        cell = self.cells.get(f"ring | {kernel} | {method}")
        return (
            None
            if cell is None
            else (sum(value == 1.0 for value in cell[starts]), len(cell[starts]))
        )

    def rings(self) -> list[tuple[float | None, list[Cell | None]]]:
        """Kernels by their gamma, and the cells of all methods."""
        lines = [
            (
                gamma,
                [self.cells.get(f"ring | {kernel_name(gamma)} | {method}") for method in ON_RINGS],
            )
            for gamma in GAMMAS
        ]
        return [line for line in lines if any(line[1])]

    def without_error(self, values: list[float]) -> int:
        return sum(value == 1.0 for value in values)

    def widths_of_rings(self) -> dict[str, Any] | None:
        """Draws parted at the best width of the RBF, and at the worst."""
        own = {
            gamma: self.parted(kernel_name(gamma), "KPKM") for gamma in GAMMAS if gamma is not None
        }
        counts = {gamma: found[0] for gamma, found in own.items() if found}
        if not counts:
            return None
        top, worst = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
        kernel = kernel_name(top)
        found = {
            "top": top,
            "own": counts[top],
            "of": own[top][1],
            "ten": self.parted(kernel, "KPKM", "ten")[0],
        }
        found |= {"kkm": self.parted(kernel, "KKM"), "linear": self.parted("linear", "KPKM", "ten")}
        return found | {"worst": worst, "least": counts[worst]}

    def rings_from_ten(self) -> dict[str, Any] | None:
        """Draws without error from ten starts, of the best width and of the linear kernel."""
        counts = {
            kernel_name(gamma): self.parted(kernel_name(gamma), "KPKM", "ten")
            for gamma in GAMMAS
            if gamma is not None
        }
        counts, linear = (
            {kernel: count for kernel, count in counts.items() if count},
            self.parted("linear", "KPKM", "ten"),
        )
        if not counts or linear is None:
            return None
        top = max(counts, key=lambda kernel: counts[kernel][0])
        return {"top": top, "count": counts[top], "linear": linear}

    # ------------------------------------------------------------------------------------- UCI sets

    def widths(self, beginning: str) -> dict[str, Cell]:
        """Of a method on a set, the cells of all widths."""
        return {
            key[len(beginning) + 3 :]: cell
            for key, cell in self.cells.items()
            if key.startswith(f"{beginning} | ")
        }

    def best(self, beginning: str) -> tuple[str, Cell] | None:
        """The width with the highest mean NMI, and its cell."""
        tried = self.widths(beginning)
        return max(tried.items(), key=lambda item: mean(item[1]["nmi"])) if tried else None

    def on_set(self, name: str, method: str) -> Cell | None:
        found = self.best(f"uci | {name} | {method}")
        return None if found is None else found[1]

    def nmi(self, name: str, method: str) -> float:
        return mean((self.on_set(name, method) or {})["nmi"])

    def sets(self, which: Sequence[str] = OURS) -> list[str]:
        """Those on which all of these were measured."""
        return [
            name
            for name in UCI
            if f"uci | {name}" in self.cells and all(self.on_set(name, method) for method in which)
        ]

    def winners(self, name: str, score: str, which: Sequence[str] = OURS) -> list[str]:
        """The best methods of a set, level to three digits."""
        means = {
            method: round(mean((self.on_set(name, method) or {})[SCORES[score]]), 3)
            for method in which
        }
        return [method for method, value in means.items() if value == max(means.values())]

    def wins(self, score: str, which: Sequence[str] = OURS) -> dict[str, int]:
        """On how many sets each method is best; ties count for all."""
        won = [self.winners(name, score, which) for name in self.sets(which)]
        return {method: sum(method in names for names in won) for method in which}

    def counts(self) -> Iterator[dict[str, Any]]:
        """Printed and ours."""
        for score, said in PRINTED["best"].items():
            ours = self.wins(score)
            for method in OURS:
                yield {
                    "score": score,
                    "method": method,
                    "said": said.get(method),
                    "ours": ours[method],
                }

    def most_often(self) -> dict[str, list[str]]:
        """The methods that are most often best, by score."""
        wins = {score: self.wins(score) for score in PRINTED["best"]}
        return {
            score: [method for method, count in ours.items() if count == max(ours.values())]
            for score, ours in wins.items()
        }

    def won_by_kpkm(self) -> dict[str, Any]:
        """Scores whose printed count comes out, and sets on which KPKM is best by NMI, alone or
        with others."""
        reached = [
            score for score in SCORES if self.wins(score)["KPKM"] >= PRINTED["best"][score]["KPKM"]
        ]
        winners = {name: self.winners(name, "NMI") for name in self.sets()}
        alone = [name for name, first in winners.items() if first == ["KPKM"]]
        return {
            "reached": reached,
            "alone": alone,
            "level": [n for n, first in winners.items() if "KPKM" in first and n not in alone],
        }

    def apart(self) -> float:
        """The largest distance of the V-measure from NMI."""
        every = [
            cell
            for name in self.sets()
            for method in SHOWN
            if (cell := self.on_set(name, method)) is not None
        ]
        return max(abs(mean(cell["nmi"]) - mean(cell["vm"])) for cell in every)

    def against_kkm(self) -> list[float]:
        """NMI of KPKM less that of KKM, to three digits."""
        return [
            round(self.nmi(name, "KPKM"), 3) - round(self.nmi(name, "KKM"), 3)
            for name in self.sets()
        ]

    def ratios(self, name: str, method: str) -> tuple[float, float] | None:
        """Mean and lowest objective at gamma = 1 / median, over the mean of kernel k-means from
        random rows."""
        keys = [f"uci | {name} | {which} | 1" for which in (method, "KKM")]
        if (
            keys[0] not in self.cells
            and method == "KPKM batched"
            and self.cells.get(f"uci | {name}", {}).get("solver") == "batched"
        ):
            keys[0] = f"uci | {name} | KPKM | 1"
        own, unit = (self.values(key, "objective") for key in keys)
        return (mean(own) / mean(unit), min(own) / mean(unit)) if own and unit else None

    def objectives(self) -> dict[str, list[tuple[float, float]]]:
        """Of sets on which all were measured."""
        found = {name: [self.ratios(name, method) for method in OBJECTIVES] for name in self.sets()}
        return {name: values for name, values in found.items() if all(values)}

    def of_objectives(self) -> dict[str, Any]:
        """KPKM's mean objective over KKM's, and how far batched is from FAGP wherever both ran."""
        found = self.objectives()
        own = {name: values[0][0] for name, values in found.items()}
        lowest, highest = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
        lower, higher = (
            sum(value < 1 - LEVEL for value in own.values()),
            sum(value > 1 + LEVEL for value in own.values()),
        )
        fagp = [name for name in found if self.cells[f"uci | {name}"]["solver"] == "fagp"]
        both = [abs(found[name][1][0] / found[name][0][0] - 1) for name in fagp]
        return {
            "own": own,
            "lower": lower,
            "higher": higher,
            "lowest": lowest,
            "highest": highest,
            "batched": both,
        }

    def polished(self) -> dict[str, Any] | None:
        """Changes of the objective and of NMI by the polish, where both were measured."""
        names = [name for name in self.sets() if self.on_set(name, "KPKM + polish")]
        gains = {name: self.nmi(name, "KPKM + polish") - self.nmi(name, "KPKM") for name in names}
        both = [(self.ratios(name, "KPKM"), self.ratios(name, "KPKM + polish")) for name in names]
        costs = [100 * (b[0] / a[0] - 1) for a, b in both if a and b]
        if not gains or not costs:
            return None
        return {
            "costs": costs,
            "gains": gains,
            "worst": min(gains, key=gains.__getitem__),
            "best": max(gains, key=gains.__getitem__),
        }

    # --------------------------------------------------------------------------------------- digits

    def digit_lines(self) -> list[dict[str, Any]]:
        """Methods at their best widths."""
        found = [
            (kernel, method, self.best(f"digits | {kernel} | {method}"))
            for kernel in KERNELS
            for method in OF_DIGITS
        ]
        return [
            {"kernel": kernel, "method": method, "width": best[0], "cell": best[1]}
            for kernel, method, best in found
            if best
        ]

    def digit_runs(self) -> int:
        return max(
            len(cell["nmi"]) for key, cell in self.cells.items() if key.startswith("digits | ")
        )

    def fagp_on_digits(self) -> Iterator[dict[str, Any]]:
        """FAGP step by step beside batched and KKM from the same seeds."""
        for kernel, width in (("RBF", "1.0"), ("CW-SSIM", "k")):
            found = {
                name: self.cells.get(f"digits | {kernel} | {name} | {width}", {})
                for name in ("FAGP", "KPKM", "KKM")
            }
            if all("objective" in cell for cell in found.values()):
                count = min(len(cell["nmi"]) for cell in found.values())
                unit = mean(found["KKM"]["objective"][:count])
                ratios = {
                    name: mean(cell["objective"][:count]) / unit for name, cell in found.items()
                }
                yield {
                    "kernel": kernel,
                    "width": width,
                    "count": count,
                    "found": found,
                    "ratios": ratios,
                }

    def digit_leads(self, kernel: str, other: str) -> dict[str, float]:
        """KPKM's mean scores less another method's, each at its best width."""
        own, rival = (self.best(f"digits | {kernel} | {method}") for method in ("KPKM", other))
        return (
            {score: mean(own[1][name]) - mean(rival[1][name]) for score, name in SCORES.items()}
            if own and rival
            else {}
        )

    def leads(self) -> list[tuple[str, str, dict[str, float]]]:
        every = [
            (kernel, other, self.digit_leads(kernel, other))
            for kernel in KERNELS
            for other in RIVALS
        ]
        return [line for line in every if line[2]]

    def gains(self) -> list[float]:
        """NMI with CW-SSIM less that with RBF."""
        pairs = [
            [self.best(f"digits | {kernel} | {method}") for kernel in KERNELS]
            for method in OF_DIGITS
        ]
        return [
            mean(structural[1]["nmi"]) - mean(rbf[1]["nmi"])
            for rbf, structural in pairs
            if rbf and structural
        ]

    def pictured(self) -> dict[str, Cell]:
        return self.keyed("figure 5", PICTURED)

    def clusters_found(self) -> dict[str, int]:
        """Among the digits, in the runs of Figure 5."""
        return {
            method: len(self.pictured()[name]["images"])
            for method, name in FOUND.items()
            if name in self.pictured()
        }

    # -------------------------------------------------------------------------------------- descent

    def descents(self) -> dict[str, Cell]:
        return self.keyed("figure 6", UCI)

    def descent(self) -> dict[str, Any] | None:
        found = self.descents()
        return (
            {
                name: sum(cell[name] for cell in found.values())
                for name in ("steps", "rises", "crisp")
            }
            if found
            else None
        )

    def total(self, names: Sequence[str], field: str) -> int:
        """Over some of the descents."""
        return sum(self.descents()[name][field] for name in names)

    def by_solver(self, *, batched: bool) -> list[str]:
        return [
            name
            for name, cell in self.descents().items()
            if (cell["solver"] == "batched") == batched
        ]

    def walks(self) -> dict[str, Cell]:
        """Of Figure 1: FAGP first, then AGP by falling steps."""
        found = {
            key.split(" | ")[1]: cell
            for key, cell in self.cells.items()
            if key.startswith("figure 1 | ")
        }
        return {
            name: found[name]
            for name in sorted(found, key=lambda name: (name == "FAGP", name), reverse=True)
        }

    def last_tenth(self, lengths: list[float]) -> list[float]:
        return lengths[-max(1, len(lengths) // 10) :]

    # ---------------------------------------------------------------------------------------- times

    def per_cent(self, value: float) -> str:
        return f"{value:.0f}%" if value >= 10 else f"{value:.1f}%"

    def steps_of(self) -> list[float]:
        """Of AGP, those that were run."""
        return [
            step
            for step in STARTS
            if any(f"times | {name} | AGP {step:g}" in self.cells for name in COMPARED)
        ]

    def compared(self) -> list[str]:
        return [
            name
            for name in COMPARED
            if f"times | {name} | FAGP" in self.cells and f"times | {name}" in self.cells
        ]

    def agp(self, name: str, step: float) -> Cell:
        return self.cells.get(f"times | {name} | AGP {step:g}", {})

    def share(self, name: str, step: float) -> float | None:
        """FAGP's processor time in per cent of AGP's in closed form: the median of pairs from the
        same start."""
        fast, slow = self.cells.get(f"times | {name} | FAGP"), self.agp(name, step)
        if fast is None or not slow:
            return None
        return 100 * float(
            np.median([a / b for a, b in zip(fast["seconds"], slow["seconds"], strict=False)])
        )

    def shares(self, step: float) -> list[float]:
        return [value for name in self.compared() if (value := self.share(name, step)) is not None]

    def starts_said(self) -> str:
        """The most starts of AGP that were run, by step."""
        most = {
            step: max(len(self.agp(name, step).get("seconds", [])) for name in self.compared())
            for step in self.steps_of()
        }
        return listed([f"{count} (step {step:g})" for step, count in most.items()])

    def fewer(self) -> tuple[int, int]:
        """Pairs from the same start in which FAGP takes fewer iterations, and all pairs."""
        pairs = []
        for name in self.compared():
            for step in self.steps_of():
                slow = self.agp(name, step).get("iterations", [])
                pairs += list(
                    zip(self.cells[f"times | {name} | FAGP"]["iterations"], slow, strict=False)
                )
        return sum(fast < slow for fast, slow in pairs), len(pairs)

    def same_end(self) -> tuple[int, int]:
        """Runs of AGP that end in FAGP's partition, and all of them."""
        keys = [key for key in self.cells if key.startswith("times | ") and " | AGP " in key]
        same = [value for key in keys for value in self.cells[key]["same"]]
        return sum(same), len(same)

    def counted(self, pair: tuple[int, int]) -> dict[str, int] | None:
        return {"count": pair[0], "of": pair[1]} if pair[1] else None

    def dense(self) -> list[dict[str, Any]]:
        """With dense projectors: the cell of each number of rows and step, medians of its numbers,
        and shares of time."""
        keys = [key.split(" | ") for key in self.cells if key.startswith("times | dense | ")]
        lines = []
        for rows, step in sorted(
            ((int(rows), float(step)) for _, _, rows, step in keys),
            key=lambda size: (-size[1], size[0]),
        ):
            cell = self.cells[f"times | dense | {rows} | {step:g}"]
            fast, slow, closed = (
                np.array(cell[name]) for name in ("dense FAGP", "dense AGP", "closed FAGP")
            )
            middle = {name: median(values) for name, values in cell.items()}
            shares = {"share": 100 * median(fast / slow), "gain": median(fast / closed)}
            lines.append({"rows": rows, "step": step, "cell": cell, "middle": middle, **shares})
        return lines

    def dense_shares(self) -> dict[str, Any] | None:
        shares = [line["share"] for line in self.dense()]
        low, high = PRINTED["share"]
        return (
            {"shares": shares, "inside": sum(low <= value <= high for value in shares)}
            if shares
            else None
        )

    def on_short(self) -> dict[float, list[float]]:
        """FAGP's share of the time on the sets on which it is said to be short, by AGP's step."""
        if not set(PRINTED["short"]) <= set(self.compared()):
            return {}
        found = {
            step: [self.share(name, step) for name in PRINTED["short"]] for step in self.steps_of()
        }
        return {step: values for step, values in found.items() if None not in values}

    def thousand(self) -> dict[str, float] | None:
        """FAGP on a thousand digits, and what dense projectors would take: the first trial of each
        number."""
        cell = self.cells.get("times | large")
        return (
            None
            if cell is None
            else {name.replace(" ", "_"): values[0] for name, values in cell.items()}
        )

    def thousand_medians(self) -> dict[str, float]:
        return {
            name.replace(" ", "_"): median(values)
            for name, values in self.cells["times | large"].items()
        }

    def on_covertype(self) -> dict[str, Cell]:
        return self.keyed("times | covertype", times.ON_COVERTYPE)

    def batched_excess(self, unit: float) -> list[float]:
        found = {
            name: cell for name, cell in self.on_covertype().items() if name.startswith("batched")
        }
        return [value / unit - 1 for cell in found.values() for value in cell["objective"]]
