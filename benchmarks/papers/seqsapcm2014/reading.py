"""Numbers that page, claims and figures take from the cells: lines from the far row and from all
starts, beside the printed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...markdown import mean
from ..paper import PaperReading
from ..results import Cell
from . import runs
from .printed import CLASSES, NAMES, TABLES, Line, Row
from .runs import DEFAULTS, POWERS, SEARCHED, row_of

GRM_SLACK = 0.05  # the paper stopped a little earlier
SLACK = 1.0  # points of SR that count as level
TESTS = ("local", "global")
BY_DEFAULT = {  # in a head, in a sentence
    "twice": ("`Adaptive...(twice the number)`", "from twice the number"),
    "twenty": ("`Adaptive...()`, 20", "from 20"),
    "alpha": ("`Adaptive...(alpha=1, pilot_m=2)`, 20", ""),
    "sequential": ("`Sequential...()`", "sequentially"),
}
JUST_BELOW = runs.SHARES.index(1 - 1e-6)  # the bound of lambda


class Reading(PaperReading):
    modules = (runs,)

    # ---------------------------------------------------------------------------------------- lines

    def cell_of(self, table: int, row: Row) -> Cell | None:
        return self.cells.get(f"table {table} | {row}")

    def lines(self, cell: Cell) -> list[Line]:
        """All lines of a cell; of Tables 2 to 4 the first is that from the far row."""
        return [
            Line(*values) for values in zip(*(cell[field] for field in Line._fields), strict=True)
        ]

    def line(self, cell: Cell) -> Line:
        return Line(*(cell[field] for field in Line._fields))

    def far_line(self, table: int, row: Row) -> Line | None:
        cell = self.cell_of(table, row)
        return None if cell is None else self.lines(cell)[0]

    def agreement(self, printed: Line, line: Line) -> str:
        """ "=" as printed, "~" the right number of clusters and SR within a point."""
        general = (
            0.0
            if printed.general is None or line.general is None
            else abs(printed.general - line.general)
        )
        if (line.found, line.rand, line.success) == (
            printed.found,
            printed.rand,
            printed.success,
        ) and general <= GRM_SLACK + 1e-9:
            return "="
        return (
            "~"
            if line.found == printed.found and abs(line.success - printed.success) <= 1.0
            else ""
        )

    def difference(self, printed: Line, line: Line) -> str:
        """Ours less printed, of all four."""
        general = (
            "-"
            if printed.general is None or line.general is None
            else f"{line.general - printed.general:+.2f}"
        )
        parts = [
            f"{line.found - printed.found:+d}",
            f"{line.rand - printed.rand:+.2f}",
            general,
            f"{line.success - printed.success:+.2f}",
        ]
        return " ".join("0" if part in ("+0", "+0.00", "-0.00") else part for part in parts)

    def mean_line(self, found: Sequence[Line]) -> Line:
        """Means of lines with one number of clusters."""
        general = [line.general for line in found if line.general is not None]
        rand, success = (
            mean([getattr(line, field) for line in found]) for field in ("rand", "success")
        )
        return Line(found[0].found, rand, mean(general) if general else None, success)

    def most_found(self, cell: Cell) -> tuple[int, int]:
        """The number of clusters found most often, and how often."""
        return Counter(cell["found"]).most_common(1)[0]

    def hits(self, printed: Line, found: Sequence[Line]) -> int:
        return sum(self.agreement(printed, line) == "=" for line in found)

    def often(self, printed: Line, others: list[Line]) -> str:
        """The most frequent line; without GRM, whose last digit is that of the stopping rule."""
        kinds = Counter(line._replace(general=None) for line in others)
        kind, times = kinds.most_common(1)[0]
        if times == 1 and len(others) > 1:
            return "each its own"
        line = next(line for line in others if line._replace(general=None) == kind)
        return (
            f"as printed ({times})"
            if self.agreement(printed, line) == "="
            else f"{line.found}, SR {line.success:.2f} ({times})"
        )

    def rows_of(self, table: int, method: str) -> list[Row]:
        return [row for row in TABLES[table] if row.method == method]

    def cells_of(self, table: int, method: str) -> dict[Row, Cell]:
        """Of the rows that were measured."""
        return {
            row: cell for row in self.rows_of(table, method) if (cell := self.cell_of(table, row))
        }

    def printed_rows(self, table: int) -> list[Row]:
        return [row for row in TABLES[table] if row.printed is not None]

    # --------------------------------------------------------------------------------------- tables

    def tally(self, table: int) -> dict[str, int] | None:
        """Lines from the far row: all, those as printed, and those near the print."""
        found = [
            (row.printed, line)
            for row in self.printed_rows(table)
            if (line := self.far_line(table, row))
        ]
        marks = [self.agreement(printed, line) for printed, line in found]
        return (
            {"of": len(marks), "same": marks.count("="), "near": marks.count("~")}
            if marks
            else None
        )

    def misprinted(self) -> list[tuple[Row, Line, Line]]:
        """Lines of Iris from the far row, of Fisher's rows and of UCI's."""
        pairs = [
            (row, self.far_line(3, row), self.cells.get(f"uci iris | {row}")) for row in TABLES[3]
        ]
        return [
            (row, own, self.line(cell))
            for row, own, cell in pairs
            if own is not None and cell is not None
        ]

    def changed(self) -> list[tuple[Row, Line, Line]]:
        """Of these those that two misprinted rows change."""
        return [
            line
            for line in self.misprinted()
            if (line[1].found, line[1].success) != (line[2].found, line[2].success)
        ]

    def drawn(self) -> list[dict[str, Any]]:
        """Experiment 1: how many runs find the printed number of clusters (three, where nothing is
        printed), and their means."""
        made = []
        for row in TABLES[1]:
            cell = self.cell_of(1, row)
            if cell is None:
                made.append({"row": row, "cell": None})
                continue
            number, found = (
                CLASSES[1] if row.printed is None else row.printed.found,
                self.lines(cell),
            )
            same, (most, times) = (
                [line for line in found if line.found == number],
                self.most_found(cell),
            )
            others = (
                ""
                if most == number
                else f"{most} ({times}), SR "
                f"{mean([line.success for line in found if line.found == most]):.2f}"
            )
            means = self.mean_line(same) if same else None
            deviation = float(np.std([line.success for line in same])) if same else 0.0
            made.append(
                {
                    "row": row,
                    "cell": cell,
                    "same": len(same),
                    "means": means,
                    "deviation": deviation,
                    "others": others,
                }
            )
        return made

    def draws(self) -> dict[str, int]:
        """Numbers of draws, and of starts of each."""
        found = [line["cell"]["draw"] for line in self.drawn() if line["cell"]]
        draws = max((len(set(of)) for of in found), default=0)
        return {"draws": draws, "starts": max(map(len, found), default=0) // max(draws, 1)}

    def story(self) -> dict[str, Any] | None:
        """The paper's story in the runs: APCM unites two clusters, sparsity parts them, SeqSAPCM
        needs no number."""
        united, parted, found = (
            self.united(),
            self.parted(),
            {row.sparsity: cell for row, cell in self.cells_of(1, "SeqSAPCM").items()},
        )
        if not united or not parted or not found:
            return None
        counts = {value: cell["found"].count(3) for value, cell in found.items()}
        top = max(counts, key=counts.__getitem__)
        own = [line.success for line in self.lines(found[top]) if line.found == 3]
        best = {
            method: self.outcome(1, self.rows_of(1, method)[0]) for method in ("k-means", "FCM")
        }
        more = {
            "top": top,
            "of": len(found[top]["found"]),
            "own": own,
            "best": best if all(best.values()) else {},
        }
        return {"united": united, "parted": parted, "counts": list(counts.values()), **more}

    # ---------------------------------------------------------------------------------- differences

    def pcm_more(self) -> dict[str, int] | None:
        """Lines of PCM that find more clusters than printed."""
        pairs = [
            (self.outcome(table, row), row) for table in NAMES for row in self.rows_of(table, "PCM")
        ]
        more = [
            found[0] > row.printed.found
            for found, row in pairs
            if found is not None and row.printed is not None
        ]
        return {"more": sum(more), "of": len(more)} if more else None

    def searches(self) -> Iterator[dict[str, Any]]:
        """Lines that no first row gives, with other values of beta or lambda."""
        for name in SEARCHED:
            cell, number = self.cells.get(f"search | {name}"), 3 if name.startswith("APCM") else 4
            row = row_of(number, name)
            whole = self.cell_of(number, row)
            if cell is not None and whole is not None:
                tried, what = self.lines(cell), "beta" if number == 3 else "lambda"
                off = [
                    abs(line.rand - row.printed.rand) + abs(line.success - row.printed.success)
                    for line in tried
                ]
                at = int(np.argmin(off))
                found = {"nearest": tried[at], "at": cell[what][at], "values": cell[what]}
                yield {
                    "row": row,
                    "number": number,
                    "what": what,
                    "tried": tried,
                    "starts": self.lines(whole)[1:],
                    **found,
                }

    def tolerances(self) -> dict[tuple[int, str], list[tuple[str, Line]]]:
        """By table and row."""
        found: dict[tuple[int, str], list[tuple[str, Line]]] = {}
        for key, cell in self.cells.items():
            if key.startswith("tolerance | "):
                _, number, name, tol = key.split(" | ")
                found.setdefault((int(number), name), []).append((tol, self.line(cell)))
        return found

    def own_labels(self) -> dict[int, Cell]:
        return {
            table: self.cells[key] for table in NAMES if (key := f"own | {table}") in self.cells
        }

    def bounds(self) -> dict[float, Cell]:
        return {p: self.cells[f"bound | {p:g}"] for p in POWERS if f"bound | {p:g}" in self.cells}

    def apart(self) -> float:
        """The largest difference between formula and bisection."""
        return max(
            abs(cell[f"{test} found"] - cell[test])
            for cell in self.bounds().values()
            for test in TESTS
        )

    # ---------------------------------------------------------------------------------- what to use

    def best_printed(self, table: int) -> float:
        """Of lines with the right number of clusters."""
        return max(
            row.printed.success
            for row in self.printed_rows(table)
            if row.printed.found == CLASSES[table]
        )

    def by_default(self, table: int, name: str) -> Cell | None:
        return self.cells.get(f"defaults | {table} | {name}")

    def states(self) -> dict[int, int]:
        """The most random states, by table."""
        sizes = {
            table: max(
                len((self.by_default(table, name) or {}).get("found", [])) for name in DEFAULTS
            )
            for table in NAMES
        }
        return {table: count for table, count in sizes.items() if count}

    def good(self, name: str) -> list[str] | None:
        """Sets on which the defaults are as good as the best printed line, to a point."""
        cells = {
            table: cell
            for table in (2, 4, 3, 1)
            if (cell := self.by_default(table, name)) is not None
        }
        level = [
            NAMES[table]
            for table, cell in cells.items()
            if mean(cell["success"]) - self.best_printed(table) >= -1
        ]
        return level if cells else None

    def counted(self, values: Sequence[Any]) -> str:
        """Values and how often each came: 3 (17), 2 (3)."""
        return ", ".join(f"{value:g} ({times})" for value, times in Counter(values).most_common())

    # --------------------------------------------------------------------------------------- claims

    def outcome(self, table: int, row: Row) -> tuple[int, float] | None:
        """Clusters found and SR: from the far row; of Experiment 1 the number found most often, and
        the mean SR of all runs."""
        cell = self.cell_of(table, row)
        if cell is None:
            return None
        return (
            (self.most_found(cell)[0], mean(cell["success"]))
            if table == 1
            else (cell["found"][0], cell["success"][0])
        )

    def best_success(self, table: int, method: str, *, right: bool | None = None) -> float | None:
        """The highest SR; `right`: given the true number of clusters, or another; None: either."""
        rows = [
            row
            for row in self.rows_of(table, method)
            if right is None or right == (row.initial == CLASSES[table])
        ]
        return max(
            (found[1] for row in rows if (found := self.outcome(table, row)) is not None),
            default=None,
        )

    def sequential(self, table: int) -> tuple[int, float, str] | None:
        """SeqSAPCM: clusters found, SR, how often; of Experiment 1 with the lambda that finds the
        three clusters most often."""
        found = self.cells_of(table, "SeqSAPCM")
        if not found:
            return None
        row, cell = max(found.items(), key=lambda one: one[1]["found"].count(CLASSES[table]))
        if table != 1:
            return cell["found"][0], cell["success"][0], f"lambda {row.sparsity:g}"
        own = [line for line in self.lines(cell) if line.found == CLASSES[1]]
        success = self.mean_line(own).success if own else mean(cell["success"])
        draws = f"{cell['found'].count(CLASSES[1])} of {len(cell['found'])} draws"
        return self.most_found(cell)[0], success, f"lambda {row.sparsity:g}, {draws}"

    def imposing(self, method: str) -> dict[str, Any] | None:
        """SR of Experiment 1 and Iris with the true number of clusters, and the best with any
        other."""
        pairs = {}
        for table in (1, 3):
            pairs[table] = [
                self.best_success(table, method, right=right) for right in (True, False)
            ]
        return None if any(None in pair for pair in pairs.values()) else {"pairs": pairs}

    def kmeans_on_s2(self) -> dict[str, Any] | None:
        own, sequel = self.outcome(2, row_of(2, "k-means - - 15")), self.sequential(2)
        return {"own": own[1], "sequel": sequel[1]} if own and sequel else None

    def fcm_on_s2(self) -> dict[str, Any] | None:
        row = row_of(2, "FCM - - 15")
        cell = self.cell_of(2, row)
        if cell is None:
            return None
        found = self.lines(cell)
        return {
            "count": self.hits(row.printed, found),
            "of": len(found),
            "success": found[0].success,
        }

    def pcm_right(self) -> dict[str, Any] | None:
        """Lines of PCM with the right number of clusters."""
        every = [
            (table, row, self.outcome(table, row))
            for table in NAMES
            for row in self.rows_of(table, "PCM")
        ]
        every = [(table, row, found) for table, row, found in every if found is not None]
        return (
            {"right": [one for one in every if one[2][0] == CLASSES[one[0]]], "of": len(every)}
            if every
            else None
        )

    def united(self) -> dict[str, int] | None:
        found = [number for cell in self.cells_of(1, "APCM").values() for number in cell["found"]]
        return {"count": found.count(2), "of": len(found)} if found else None

    def parted(self) -> dict[str, int] | None:
        found = self.values("table 1 | SAPCM 0.3 0.1 5", "found")
        return {"count": found.count(3), "of": len(found)} if found else None

    def tuned(self) -> list[dict[str, Any]]:
        """SAPCM with parameters with which it is printed to find two."""
        cells = {
            row: cell["found"]
            for row, cell in self.cells_of(1, "SAPCM").items()
            if row.printed and row.printed.found == 2
        }
        return [
            {"name": str(row)[6:], "count": numbers.count(2), "of": len(numbers)}
            for row, numbers in cells.items()
        ]

    def gains(self, method: str, other: str) -> dict[int, float]:
        """SR of one method less that of another, each at its best parameters."""
        pairs = {
            table: [self.best_success(table, which) for which in (method, other)] for table in NAMES
        }
        return {
            table: own - best
            for table, (own, best) in pairs.items()
            if own is not None and best is not None
        }

    def finds(self, table: int) -> dict[str, Any] | None:
        found = self.sequential(table)
        printed = next(row.printed for row in self.rows_of(table, "SeqSAPCM") if row.printed)
        return (
            dict(zip(("found", "success", "how"), found, strict=True))
            | {"printed": printed.success}
            if found
            else None
        )

    def leads(self) -> dict[int, float]:
        """SR of SeqSAPCM less the best of k-means and FCM given a wrong number."""
        leads = {}
        for table in NAMES:
            own, wrong = (
                self.best_success(table, "SeqSAPCM"),
                [self.best_success(table, which, right=False) for which in ("k-means", "FCM")],
            )
            if own is not None and None not in wrong:
                leads[table] = own - max(wrong)
        return leads

    def best_on_wine(self) -> dict[str, Any] | None:
        own, others = (
            self.sequential(4),
            [self.best_success(4, method) for method in ("k-means", "FCM", "PCM", "APCM", "SAPCM")],
        )
        best = max((value for value in others if value is not None), default=None)
        return None if own is None or best is None else {"own": own[1], "best": best}

    def crude(self) -> list[dict[str, Any]]:
        """Experiment 1 with several lambdas."""
        cells = self.cells_of(1, "SeqSAPCM")
        return [
            {"value": row.sparsity, "count": cell["found"].count(3), "of": len(cell["found"])}
            for row, cell in cells.items()
        ]

    def mostly(self, found: list[dict[str, Any]], *, every: bool = False) -> bool:
        """In more than half of the runs, of any or of every line."""
        return (all if every else any)(2 * one["count"] > one["of"] for one in found)

    def row_of(self, table: int, name: str) -> Row:
        return row_of(table, name)
