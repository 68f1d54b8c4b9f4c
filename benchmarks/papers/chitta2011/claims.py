"""What Chitta et al. 2011 claim, and what came of it here: verdicts are computed from the cells."""

from __future__ import annotations

import numpy as np

from ..markdown import short
from ..paper import BETTER, NOT, REPRODUCED, Claim
from ..results import Cells, mean
from . import large, printed, runs
from .problem import KERNELS
from .summary import Case, Excess, bounds, compared, excesses, full_imagenet, mnist, numbers, reductions, small

UNKNOWN = "not measured"
EQUAL = 0.05  # error reductions that differ by less than this share are called equal
STAND_IN = "on a stand-in: ImageNet is not to be shipped"


def claims(cells: Cells) -> list[Claim]:
    found = [_kernel_time(cells), _equal_reduction(cells)]
    for kernel in KERNELS:
        found += _agreement(cells, kernel)
    return [
        *found,
        _two_step_worse(cells, "ari", "Tables 1 to 3"),
        _two_step_worse(cells, "nmi", "Figure 4"),
        _two_step_faster(cells),
        _varies(cells),
        _fifty(cells),
        _memory(cells),
        _lemma(cells),
        _rate(cells),
        _uniform(),
    ]


def _verdict(holds: bool) -> str:
    return REPRODUCED if holds else NOT


def _measured(cells: Cells) -> list[Case]:
    return [case for case in (mnist(cells, kernel) for kernel in KERNELS) if case.cells]


def _kernel_time(cells: Cells) -> Claim:
    text, where, saved = "with a sample the kernel takes over 90% less time than in full", "5.3, Table 1", {}
    for case in (small(cells), *(mnist(cells, kernel, runs.ROWS) for kernel in KERNELS)):
        whole, largest = mean(numbers(case, None, "full", "kernel_seconds")), 1000
        part = mean(case.cells.get(largest, {}).get("kernel_seconds", []))
        if whole and part:
            saved[case.title] = 1 - part / whole
    if not saved:
        return Claim(text, where, UNKNOWN, "")
    why = "saved at m = 1,000: " + ", ".join(f"{name} {100 * share:.0f}%" for name, share in saved.items())
    return Claim(text, where, _verdict(min(saved.values()) > 0.9), why)


def _equal_reduction(cells: Cells) -> Claim:
    text, where = f"equal error reduction with the full kernel and with a sample of m ≥ {printed.ENOUGH}", "Figure 3(b), (c)"
    off = []
    for kernel in KERNELS:
        case = compared(cells, kernel)
        whole = mean(reductions(case, None))
        for m in case.cells:
            ours = mean(reductions(case, m, "approximate"))
            if m >= printed.ENOUGH and whole and ours is not None:
                off.append((ours / whole - 1, kernel, m))
    if not off:
        return Claim(text, where, UNKNOWN, "")
    worst, kernel, m = min(off)
    why = f"furthest below the full kernel's: {100 * worst:+.1f}% ({kernel}, m = {m:,}); {100 * EQUAL:.0f}% off is called equal"
    return Claim(text, where, _verdict(worst > -EQUAL), why)


def _agreement(cells: Cells, kernel: str) -> list[Claim]:
    case, table, found = compared(cells, kernel), "Table 2" if kernel == "neural" else "Table 3", []
    n = runs.rows_compared(cells, kernel)
    for row in reversed(printed.TABLES[kernel]):
        if row.m < printed.ENOUGH or row.ari_approximate is None:
            continue
        theirs, off = row.ari_approximate
        text = f"{kernel} kernel, m = {row.m:,}: ARI {short(theirs, 2)} against the full kernel's partition"
        ours = numbers(case, row.m, "approximate", "ari")
        if not ours:
            found.append(Claim(text, table, UNKNOWN, ""))
            continue
        value = float(np.mean(ours))
        verdict = BETTER if value > theirs + (off or 0) else _verdict(value >= theirs - (off or 0))
        why = f"{short(value, 2)}, mean of {len(ours)}" + ("" if n == runs.ROWS else f", on {n:,} rows")
        found.append(Claim(text, table, verdict, f"{why}; printed ± {short(off or 0, 2)}"))
    return found


def _two_step_worse(cells: Cells, what: str, where: str) -> Claim:
    name, gaps = "ARI against the full kernel" if what == "ari" else "NMI", []
    text = f"by {name} the two-step algorithm is worse at equal m"
    for case in (small(cells), *(compared(cells, kernel) for kernel in KERNELS)):
        for m in case.cells:
            ours, other = (mean(numbers(case, m, method, what)) for method in ("approximate", "two_step"))
            if ours is not None and other is not None:
                gaps.append((ours - other, case.title, m))
    if not gaps:
        return Claim(text, where, UNKNOWN, "")
    below = [gap for gap in gaps if gap[0] <= 0]
    least, title, m = min(gaps)
    why = f"approximate is ahead in {len(gaps) - len(below)} of {len(gaps)} means; its least lead: {short(least, 3)} ({title}, m = {m:,})"
    return Claim(text, where, _verdict(not below), why)


def _two_step_faster(cells: Cells) -> Claim:
    text, where = "the two-step algorithm clusters faster at equal m", "Tables 1 to 4"
    factors = []
    for case in (small(cells), *_measured(cells), full_imagenet(cells)):
        for m in case.cells:
            ours, other = (mean(numbers(case, m, method, "seconds")) for method in ("approximate", "two_step"))
            if ours and other:
                factors.append(ours / other)
    if not factors:
        return Claim(text, where, UNKNOWN, "")
    return Claim(text, where, _verdict(min(factors) > 1), f"{min(factors):.1f} to {max(factors):.0f} times as fast")


def _varies(cells: Cells) -> Claim:
    text, where, few, many = "with m < 500 the error reduction varies much from run to run", "5.3", [], []
    for kernel in KERNELS:
        case = mnist(cells, kernel)
        for m in case.cells:
            values = reductions(case, m, "approximate")
            if len(values) > 2:
                (few if m < printed.ENOUGH else many).append(float(np.std(values) / np.mean(values)))
    if not few or not many:
        return Claim(text, where, UNKNOWN, "")
    why = f"deviation over mean, averaged over kernels and sizes: {100 * np.mean(few):.1f}% below m = 500, "
    why += f"{100 * np.mean(many):.1f}% from there"
    return Claim(text, where, _verdict(bool(np.mean(few) > 2 * np.mean(many))), why + "; twice as much would be much")


def _fifty(cells: Cells) -> Claim:
    text, where, case = "with 50 samples the approximation is better than two-step with 1,000", "5.3, small ImageNet", small(cells)
    found = {}
    for name, values in {
        "ARI": [numbers(case, m, method, "ari") for m, method in ((50, "approximate"), (1000, "two_step"))],
        "NMI": [numbers(case, m, method, "nmi") for m, method in ((50, "approximate"), (1000, "two_step"))],
        "error reduction": [reductions(case, m, method) for m, method in ((50, "approximate"), (1000, "two_step"))],
    }.items():
        if all(values):
            found[name] = (float(np.mean(values[0])), float(np.mean(values[1])))
    if not found:
        return Claim(text, where, UNKNOWN, "")
    why = "; ".join(f"{name} {short(ours, 2)} against {short(other, 2)}" for name, (ours, other) in found.items())
    return Claim(text, where, _verdict(all(ours > other for ours, other in found.values())), f"{why} ({STAND_IN})")


def _memory(cells: Cells) -> Claim:
    text = "the full ImageNet's kernel takes over 6.4 TB; a sample's takes O(m n)"
    n = large.ROWS
    sizes = {m: cell for m in large.SIZES if (cell := cells.get(large.key_of(m, 20), {})).get("peak_gb")}
    why = f"{n:,} rows squared are {4 * n**2 / 1e12:.1f} TB in float32, {8 * n**2 / 1e12:.1f} in float64"
    if not sizes or cells.get(large.key_of("rows"), {}).get("rows") != n:
        return Claim(text, "5.3", UNKNOWN, why)
    m = max(sizes)
    beyond = [cell["peak_gb"] - cell["columns_gb"] for cell in sizes.values()]
    why += f"; peak at m = {m:,}: {sizes[m]['peak_gb']:.1f} GB, K_B {sizes[m]['columns_gb']:.1f}; "
    why += f"beyond K_B at most {max(beyond):.1f} GB at any m"
    return Claim(text, "4.1, 5.3", _verdict(max(beyond) < sizes[m]["columns_gb"]), why)


def _lemma(cells: Cells) -> Claim:
    text, where, found = "in the mean a sample's error exceeds the full kernel's by no more than Lemma 2 says", "4.2", bounds(cells)
    if not found:
        return Claim(text, where, UNKNOWN, "")
    factors = {kernel: [one.by for one in excesses(cell) if not one.is_nothing] for kernel, cell in found.items()}
    why = "bound over measured: " + ", ".join(f"{kernel} {min(by):.2f} to {max(by):.1f}" for kernel, by in factors.items())
    return Claim(text, where, _verdict(all(min(by) >= 1 for by in factors.values())), why)


def _rate(cells: Cells) -> Claim:
    """The rate is shown in the paper for a spectrum that ends, and as a bound."""
    text, where, found = (
        "the excess falls as O(1/m), where the kernel matrix has many more large eigenvalues than clusters",
        "4.2",
        bounds(cells),
    )
    if not found:
        return Claim(text, where, UNKNOWN, "")
    listed = {kernel: [one for one in excesses(cell) if not one.is_nothing] for kernel, cell in found.items()}
    slopes = {kernel: _slope(some) for kernel, some in listed.items()}
    below = all(one.mean <= one.last for some in listed.values() for one in some)
    why = "measured: " + ", ".join(f"{kernel} as m^{value:.2f}" for kernel, value in slopes.items())
    why += f"; {'always' if below else 'not always'} below the corollary's line of 1/m"
    if below and max(slopes.values()) > -0.9:
        why += ", which starts far above: over these sizes the excess falls slower than that"
    return Claim(text, where, _verdict(below), why)


def _slope(found: list[Excess]) -> float:
    return float(np.polyfit(np.log([one.m for one in found]), np.log([one.mean for one in found]), 1)[0])


def _uniform() -> Claim:
    why = "cited there from others; measured beside other ways on [another page](beyond.md)"
    return Claim("uniform sampling is best", "2.2", "cited, not tested", why)
