"""What Xenaki, Koutroumbas, Rontogiannis 2014 claim, and what came of it."""

from __future__ import annotations

from ..paper import NOT, REPRODUCED, Claim
from ..results import Cells
from .printed import CLASSES, NAMES
from .reading import best_success, cell_of, hits, lines, outcome, rows_of, sequential, tally
from .runs import POWERS, row_of

UNMEASURED = "not measured"
SLACK = 1.0  # points of SR that count as level


def claims(cells: Cells) -> list[Claim]:
    parts = (*_tables(cells), *_imposing(cells), _pcm(cells), *_story(cells), *_sequential(cells), _bound(cells))
    return [part for part in parts if part is not None]


def _claim(text: str, where: str, holds: bool | None, why: str) -> Claim:
    return Claim(text, where, UNMEASURED if holds is None else REPRODUCED if holds else NOT, why if holds is not None else "")


def _tables(cells: Cells) -> list[Claim]:
    """The printed lines of the paper's own family, digit by digit."""
    made = []
    for table in (2, 3, 4):
        marks = tally(cells, table)
        every, same = sum(marks.values()), marks["="]
        why = f"{same} of {every} as printed, {marks['~']} more within a point of SR"
        made.append(_claim(f"the lines of Table {table} ({NAMES[table]})", f"Table {table}", same == every if every else None, why))
    return made


def _imposing(cells: Cells) -> list[Claim]:
    made = []
    for method in ("k-means", "FCM"):
        gaps, missed = [], []
        for table in (1, 3):
            own = best_success(cells, table, method, lambda row, c=CLASSES[table]: row.initial == c)
            other = best_success(cells, table, method, lambda row, c=CLASSES[table]: row.initial != c)
            (missed if own is None or other is None else gaps).append((table, own, other))
        text = f"{method} does well with the true number of clusters and degrades with any other"
        why = "; ".join(f"{NAMES[table]}: SR {own:.1f} against {other:.1f}" for table, own, other in gaps)
        made.append(_claim(text, "section 4, experiments 1 and 3", None if missed else all(own > other for _, own, other in gaps), why))
    return [*made, *_on_s2(cells)]


def _on_s2(cells: Cells) -> list[Claim]:
    kmeans, fcm = row_of(2, "k-means - - 15"), row_of(2, "FCM - - 15")
    own, sequel, cell = outcome(cells, 2, kmeans), sequential(cells, 2), cell_of(cells, 2, fcm)
    holds = None if own is None or sequel is None else own[1] < sequel[1] - 5
    why = f"SR {own[1]:.2f} from the far row, SeqSAPCM {sequel[1]:.2f}" if own and sequel else ""
    made = [_claim("k-means fails on S2 even with 15 clusters", "section 4, experiment 2", holds, why)]
    if cell is None or fcm.printed is None:
        return [*made, _claim("FCM works on S2 with 15 clusters", "section 4, experiment 2", None, "")]
    found = lines(cell)
    count = hits(fcm.printed, found)
    why = f"as printed from {count} of {len(found)} starts; SR {found[0].success:.2f} from the far row"
    return [*made, _claim("FCM works on S2 with 15 clusters", "section 4, experiment 2", count > 0, why)]


def _pcm(cells: Cells) -> Claim:
    right, every = [], 0
    for table in NAMES:
        for row in rows_of(table, "PCM"):
            found = outcome(cells, table, row)
            every += found is not None
            if found is not None and found[0] == CLASSES[table]:
                right.append(f"{NAMES[table]} from {row.initial} (SR {found[1]:.1f})")
    why = f"the right number in {len(right)} of {every} lines" + (": " + ", ".join(right) if right else "") + "; its scales are not given"
    return _claim("PCM fails on all four sets, from any number of clusters", "section 4", not right if every else None, why)


def _story(cells: Cells) -> list[Claim]:
    apcm = [cell for row in rows_of(1, "APCM") if (cell := cell_of(cells, 1, row))]
    found = [number for cell in apcm for number in cell["found"]]
    holds = found.count(2) > len(found) / 2 if found else None
    made = [_claim("APCM unites two clusters of Experiment 1", "Table 1", holds, f"in {found.count(2)} of {len(found)} runs")]
    cell = cells.get("table 1 | SAPCM 0.3 0.1 5")
    text = "sparsity improves on APCM: SAPCM (lambda 0.3, beta 0.1, from 5) parts them"
    counts = cell["found"] if cell else []
    made.append(
        _claim(text, "Table 1", counts.count(3) > len(counts) / 2 if cell else None, f"three in {counts.count(3)} of {len(counts)} runs")
    )
    text = "SAPCM's parameters must be tuned: with others it finds two"
    tuned = {
        str(row): cell["found"]
        for row in rows_of(1, "SAPCM")
        if (cell := cell_of(cells, 1, row)) and row.printed and row.printed.found == 2
    }
    why = "two in " + ", ".join(f"{found.count(2)} of {len(found)} ({name[6:]})" for name, found in tuned.items())
    made.append(_claim(text, "Table 1", any(found.count(2) > len(found) / 2 for found in tuned.values()) if tuned else None, why))
    gains = {}
    for table in NAMES:
        pair = [best_success(cells, table, method) for method in ("SAPCM", "APCM")]
        if pair[0] is not None and pair[1] is not None:
            gains[table] = pair[0] - pair[1]
    text = "SAPCM is at least as good as APCM, each at its best parameters"
    why = "SR less APCM's: " + ", ".join(f"{NAMES[table]} {gain:+.2f}" for table, gain in gains.items())
    made.append(_claim(text, "Tables 1 to 4", min(gains.values()) >= -SLACK if gains else None, why))
    return made


def _sequential(cells: Cells) -> list[Claim]:
    found = {table: sequential(cells, table) for table in NAMES}
    made = []
    for table, one in found.items():
        text = f"SeqSAPCM finds the {CLASSES[table]} clusters of {NAMES[table]}, no number given"
        printed = next(row.printed for row in rows_of(table, "SeqSAPCM") if row.printed)
        why = f"{one[0]} found ({one[2]}); SR {one[1]:.2f}, printed {printed.success:.2f}" if one else ""
        made.append(_claim(text, f"Table {table}", one[0] == CLASSES[table] if one else None, why))
    known = {table: one for table, one in found.items() if one is not None}
    text, gaps = "SeqSAPCM is about as good as SAPCM at its best parameters", {}
    for table in known:
        own, best = (best_success(cells, table, method) for method in ("SeqSAPCM", "SAPCM"))
        if own is not None and best is not None:
            gaps[table] = own - best
    why = "SR less SAPCM's: " + ", ".join(f"{NAMES[table]} {gap:+.2f}" for table, gap in gaps.items())
    made.append(_claim(text, "section 5", min(gaps.values()) >= -SLACK if gaps else None, why))
    text, leads = "SeqSAPCM outperforms k-means and FCM given a wrong number", {}
    for table in known:
        own = best_success(cells, table, "SeqSAPCM")
        wrong = [best_success(cells, table, method, lambda row, c=CLASSES[table]: row.initial != c) for method in ("k-means", "FCM")]
        if own is not None and None not in wrong:
            leads[table] = own - max(value for value in wrong if value is not None)
    why = "SR less the best of theirs: " + ", ".join(f"{NAMES[table]} {lead:+.2f}" for table, lead in leads.items())
    made.append(_claim(text, "section 5", min(leads.values()) > 0 if leads else None, why))
    one, others = known.get(4), [best_success(cells, 4, method) for method in ("k-means", "FCM", "PCM", "APCM", "SAPCM")]
    best = max((value for value in others if value is not None), default=None)
    holds = None if one is None or best is None else one[1] >= best
    why = f"SR {one[1]:.2f}, the best other line {best:.2f}" if one and best is not None else ""
    made.append(_claim("SeqSAPCM is the best of all on Wine", "Table 4", holds, why))
    return [*made, _crude(cells)]


def _crude(cells: Cells) -> Claim:
    """A crude lambda is enough: of Experiment 1 with several."""
    text = "a crude estimate of the one parameter lambda is enough"
    found = {row.sparsity: cell["found"] for row in rows_of(1, "SeqSAPCM") if (cell := cell_of(cells, 1, row))}
    counts = {value: numbers.count(3) for value, numbers in found.items()}
    holds = all(2 * counts[value] > len(numbers) for value, numbers in found.items()) if found else None
    why = "Experiment 1, draws with three clusters: " + ", ".join(
        f"{counts[value]} of {len(numbers)} (lambda {value:g})" for value, numbers in found.items()
    )
    return _claim(text, "abstract, section 5", holds, why)


def _bound(cells: Cells) -> Claim:
    text = "a compatibility is forced to 0 where lambda is large: no row is wanted beyond a bound"
    found = [cells[f"bound | {p:g}"] for p in POWERS if f"bound | {p:g}" in cells]
    apart = [abs(cell[f"{test} found"] - cell[test]) for cell in found for test in ("local", "global")]
    why = f"formula and bisection agree to {max(*apart, 1e-5):.0e}" if apart else ""
    return _claim(text, "section 2", max(apart) <= 1e-5 if apart else None, why)
