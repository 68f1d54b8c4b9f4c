"""docs/papers/chitta2011.md, from the stored results."""

from __future__ import annotations

import numpy as np

from ..markdown import page as joined
from ..markdown import picture, short, table
from ..results import Cells
from . import crescents, large, printed, pyramids, runs, tables
from .claims import claims
from .problem import KERNELS
from .summary import bounds, compared, excesses, full_imagenet, mnist, numbers, reductions, rows_measured, small
from .tables import NOTHING

HEAD = """
# Approximate kernel k-means (Chitta, Jin, Havens, Jain 2011)

R. Chitta, R. Jin, T. C. Havens, A. K. Jain: Approximate kernel k-means: solution to large scale kernel clustering. KDD 2011.

The centres of kernel k-means are means of mapped rows, so all n² kernel values are needed to find them. The paper seeks them in the span of
m rows drawn at random instead: n m values are enough, and every row still moves the centres. It compares this with the *two-step* way, in
which only the sample is clustered and the other rows join the nearest centre afterwards, and bounds what the restriction costs.
"""

MAPPING = """
## The paper and the library

| the paper | the library |
|---|---|
| kernel k-means, all kernel values | `KernelKMeans(c, n_landmarks=None)` |
| approximate kernel k-means (Algorithm 2) | `KernelKMeans(c, n_landmarks=m, landmarks="uniform", progressive=False, tol=0, init=labels)` |
| two-step kernel k-means (Algorithm 1) | `TwoStepKernelKMeans(c, n_landmarks=m, tol=0, init=labels)` |
| neural kernel tanh(a x·y + b) | `kernel="sigmoid"`, `gamma=a`, `coef0=b` |
| normalized polynomial kernel of degree 5 | `kernel="normalized_polynomial"`, `degree=5` |
| spatial pyramid kernel, 4 levels | `kernel="spatial_pyramid"`, `kernel_params={"levels": 4}` |
| RBF kernel, sigma | `kernel="rbf"`, `gamma=1 / (2 * sigma**2)` |
| K_B, where it is at hand already | `kernel="precomputed"`, `landmarks=rows`, `kernel_params={"diag": ...}` |

Three things differ. The paper inverts the sample's kernel matrix; the library takes its eigenpairs or a Cholesky factor, leaves out what is
below rounding, and of an indefinite kernel (the neural one) clips the negative eigenvalues. A cluster that loses all rows is given the row
that is farthest from its centre; the paper does not say what becomes of it. And by default the library chooses landmarks by `"rpcholesky"`,
starts from `"k-means++"` and goes through samples of the rows first: all that is switched off here.
"""

SLIPS = """
### Two readings

*The normalized polynomial kernel* is printed as (x·y + 1)⁵, which is not normalised. Divided by √(k(x, x) k(y, y)), as its source (Zhang &
Rudnicky 2002) has it, it is what Figure 4(c) can only have been made with: see the last table of this section.

*The example after Corollary 1* prints (E L - L) / L ≤ 1 + 2C/m. It follows from the corollary that E L / L ≤ 1 + 2C/m: the relative excess
is at most 2C/m.
"""


def page(cells: Cells) -> str:
    parts = [HEAD, _claims(cells), MAPPING, _data(cells)]
    for kernel, name in (("neural", "Table 2"), ("polynomial", "Table 3")):
        parts += _table_of(cells, kernel, name)
    parts += [_agreement_picture(cells), *_figures(cells), SLIPS, tables.undivided(cells), *_crescents(cells)]
    return joined(*parts, *_small(cells), *_large(cells), *_bounds(cells))


def _claims(cells: Cells) -> str:
    rows = [[claim.text, claim.where, f"**{claim.verdict}**", claim.why] for claim in claims(cells)]
    return "## What it claims, and what came of it\n\n" + table(["claim", "where", "here", "why"], rows)


def _data(cells: Cells) -> str:
    n = rows_measured(cells, next(iter(KERNELS)))
    return f"""
## MNIST: how it was run

{n:,} images of 784 grey values in [0, 1], float32; 10 clusters; the kernels' parameters as printed (a = .0045, b = .11; degree 5). In each
run all three algorithms start from the same random memberships, and approximate and two-step have the same sample. A run ends when no
membership changes, and no earlier. Means ± standard deviations, {tables.runs_said(cells)}; the paper's are over 10 throughout. Seconds are
wall seconds: *kernel* those of K_B, *clustering* all that follows, the factor of the sample's kernel matrix included.

*Error reduction* is (initial - final) / initial, where the error is tr K - tr Ũ K Ũᵀ, the sum of squared distances of all rows to the means
of their clusters in feature space, by one formula for all algorithms, and initial means the random memberships. {_yardstick(cells, n)}
*NMI* is Kvalseth's, 2 I / (H₁ + H₂): normalised by the mean of the entropies.
"""


def _yardstick(cells: Cells, n: int) -> str:
    if n < runs.ROWS:
        return "All kernel values are at hand for it."
    return (
        f"Its sums over pairs of a cluster's rows are estimated from the kernel columns of {runs.DRAWN:,} rows drawn once for all; the "
        "estimate is unbiased, and off by much the same for two like partitions."
    )


def _table_of(cells: Cells, kernel: str, name: str) -> list[str]:
    n = runs.rows_compared(cells, kernel)
    if n == runs.ROWS:
        where = "Against the exact partition of all rows from the same start, `--exact`."
    elif n is not None:
        where = f"*The exact run on all rows is not there* (`--exact`); so ARI is that of {n:,} rows, all three algorithms run on them."
    else:
        where = "*Nothing to compare with yet.*"
    return [
        f"## {name}: {kernel} kernel",
        f"ARI against the full kernel's partition. {where}",
        tables.agreement(cells, kernel),
        _said_of_agreement(cells, kernel),
        f"Seconds, printed (MATLAB, Xeon 2.8 GHz) / ours, on {runs.ROWS:,} rows:",
        tables.times(cells, kernel),
    ]


def _said_of_agreement(cells: Cells, kernel: str) -> str:
    case, lines = compared(cells, kernel), []
    for row in printed.TABLES[kernel]:
        ours = numbers(case, row.m, "approximate", "ari")
        if ours and row.ari_approximate and row.m >= printed.ENOUGH:
            lines.append((float(np.mean(ours)) - row.ari_approximate[0], row.m))
    if not lines:
        return ""
    worst, m = min(lines)
    text = f"From m = {printed.ENOUGH} on the approximation's ARI is at least the printed one."
    if worst < 0:
        text = f"From m = {printed.ENOUGH} on the approximation's ARI is at most {short(-worst, 2)} below the printed one (m = {m:,})."
    alike = tables.pairs_of_full(cells, kernel)
    if alike is not None:
        text += f" The full kernel's own partitions from two different starts agree by an ARI of {short(alike, 2)} in the mean: "
        nearer = float(np.mean(numbers(case, 1000, "approximate", "ari") or [0.0])) > alike
        text += (
            "from one start the approximation is nearer to it than that."
            if nearer
            else "the approximation is as far from it as another start is, or farther."
        )
    return text


def _agreement_picture(cells: Cells) -> str:
    if not any(numbers(compared(cells, kernel), m, "approximate", "ari") for kernel in KERNELS for m in compared(cells, kernel).cells):
        return ""
    return picture(
        "chitta2011-ari", "ARI against sample size, ours and printed", "ARI against the full kernel's partition, Tables 2 and 3."
    )


def _figures(cells: Cells) -> list[str]:
    parts = ["## Figures 3 and 4: error reduction and NMI"]
    if any(case.cells for case in (small(cells), *(mnist(cells, kernel) for kernel in KERNELS), full_imagenet(cells))):
        axis = "The shaded band is what the printed axis spans; values cannot be read off the text of the paper."
        parts.append(picture("chitta2011-reduction", "error reduction against sample size", f"Error reduction (Figure 3). {axis}"))
        parts.append(picture("chitta2011-nmi", "NMI against sample size", f"NMI against the classes (Figure 4). {axis}"))
    for kernel in KERNELS:
        case = mnist(cells, kernel)
        n = rows_measured(cells, kernel)
        parts += [f"MNIST, {kernel} kernel, {n:,} rows:", tables.quality(case, runs.SIZES), _inside_axis(cells, kernel)]
    return parts


def _inside_axis(cells: Cells, kernel: str) -> str:
    """Are our means where the printed axes are?"""
    case, texts = mnist(cells, kernel), []
    for name, ends in (("error reduction", printed.REDUCTION_AXES[kernel]), ("NMI", printed.NMI_AXES[kernel])):
        values = [
            float(np.mean(found))
            for m in case.cells
            for method in tables.METHODS
            if (found := reductions(case, m, method) if name == "error reduction" else numbers(case, m, method, "nmi"))
        ]
        if values:
            inside = sum(ends[0] <= value <= ends[1] for value in values)
            texts.append(
                f"{inside} of {len(values)} means of {name} lie within the printed axis ({short(ends[0], 2)} to {short(ends[1], 2)})"
            )
    return "; ".join(texts) + "." if texts else ""


def _crescents(cells: Cells) -> list[str]:
    panels, draws = cells.get(f"{crescents.KEY} | panels"), cells.get(f"{crescents.KEY} | draws")
    parts = ["## Figure 1: two groups in the plane"]
    if panels is None or draws is None:
        return [*parts, NOTHING]
    caption = (
        f"The paper's points are not given; these are alike. All points with the sample in blue (a), approximate (b to d) and two-step "
        f"(e to g) kernel k-means from the same random memberships, RBF kernel, gamma = {crescents.KERNEL.gamma:g}. A centre lies in "
        "feature space: a cross is on the point nearest to it."
    )
    ours, other = (float(np.mean(draws[f"{method}_ari"])) for method in tables.METHODS)
    better = sum(a > b for a, b in zip(draws["approximate_ari"], draws["two_step_ari"], strict=True))
    worse = sum(a < b for a, b in zip(draws["approximate_ari"], draws["two_step_ari"], strict=True))
    text = (
        f"The picture is the first of {len(draws['two_step_ari'])} draws of sample and start. Over all of them the ARI with the two groups "
        f"is {short(ours, 2)} for approximate and {short(other, 2)} for two-step, and approximate is ahead in {better}, behind in {worse}."
    )
    return [*parts, picture("chitta2011-crescents", "two groups, approximate and two-step, sweep by sweep", caption), text]


def _small(cells: Cells) -> list[str]:
    case, n, head = small(cells), tables.pyramid_rows(cells), "## Table 1: a stand-in for the small ImageNet"
    count = len(numbers(case, None, "full", "seconds")) or pyramids.RUNS
    text = f"""
**A stand-in.** The 20,000 ImageNet pictures of 12 synsets are not to be shipped, nor are their SIFT features. These are {n:,} images' worth
of counts drawn at random: {pyramids.CLASSES} classes, {pyramids.WORDS} visual words on 8 x 8 cells, {pyramids.KEYPOINTS:,} key points an
image as in the paper; a class says how likely each word is in each region, an image strays from that. The kernel is the paper's: spatial
pyramid, {pyramids.LEVELS} levels. Printed / ours; {count} runs, the paper's are 10. Printed seconds are of other images and of other
histograms: they cannot be compared, their ratios can. The paper's preprocessing (24,236 s for SIFT features and histograms) has no
counterpart here.
"""
    tail = [] if not case.cells else ["Error reduction (Figure 3(a)) and NMI (Figure 4(a)):", tables.quality(case, pyramids.SIZES)]
    return [head, text, tables.small_imagenet(cells), *tail]


def _large(cells: Cells) -> list[str]:
    cell, head = cells.get(large.key_of("rows")), "## Table 4: a stand-in for the full ImageNet"
    if cell is None:
        return [head, NOTHING]
    low, middle, high = cell["within"]
    text = f"""
**A stand-in.** {cell["rows"]:,} rows of {cell["features"]} features in [0, 1], float32 ({cell["gb"]:.2f} GB), generated: each is a
mixture of the shares of visual words of one of {cell["classes"]} classes, of one of {cell["themes"]} themes, which have little to do with
the classes and weigh more, and its own. They are made block by block, so that of all this only K_B is ever held. The paper does not say
what sigma = {short(cell["sigma"], 1)} multiplies; read as exp(-|x - y|² / (2 sigma²)), two rows of one class and theme have kernel values
of {short(low, 2)} to {short(high, 2)} (80% of them; median {short(middle, 2)}), others {short(cell["between"], 2)} in the median. One run
each, {cell["sweeps"]} sweeps, not to the end; each sample size in a process of its own, whose peak is its own. Printed / ours; printed are
20 clusters. {large.CLASSES} clusters, the number of classes, are tried where a sweep of them takes seconds; m = 100 is left out there
because two-step cannot find more clusters than its sample has rows.
"""
    case = full_imagenet(cells)
    tail = []
    if case.cells:
        said = "Error reduction and NMI of 20 clusters (Figures 3(d), 4(d)); errors are those to the centres that each algorithm ends with:"
        tail = [said, tables.quality(case, tuple(sorted(large.SIZES)))]
    return [head, text, tables.full_table(cells), *tail]


def _bounds(cells: Cells) -> list[str]:
    head, found = "## Lemma 2 and Corollary 1: what a sample costs", bounds(cells)
    if not found:
        return [head, NOTHING]
    first = next(iter(found.values()))
    clipped = ", ".join(f"{kernel} {100 * abs(cell['clipped']):.1f}%" for kernel, cell in found.items())
    text = f"""
For a partition U that is held fixed, Lemma 2 bounds the expected error with centres in the span of a sample ξ:
E L(U, ξ) ≤ L(U, 1) + tr Ũ [K⁻¹ + (m/n) diag(K)⁻¹]⁻¹ Ũᵀ, and Corollary 1 its ratio to L(U, 1) by eigenvalues:
1 + Σ_(i ≤ C) λ_i / (1 + λ_i m/n) over tr K - Σ_(i ≤ C) λ_i, at most 1 + (C/m) / (Σ_(i > C) λ_i / n). Here on {first["rows"]:,} images with
U the full kernel's partition; L(U, ξ) = tr K - tr Ũ K_B K̂⁺ K_Bᵀ Ũᵀ over many draws. The lemma's sample takes each row with
probability m/n; drawn are exactly m. Negative eigenvalues, which the lemma does not know, are clipped first (share of the spectrum by
absolute value: {clipped}). All columns are relative excesses, over L(U, 1).
"""
    parts = [
        head,
        text,
        picture("chitta2011-bound", "excess of the error against sample size", "Measured: mean, least and largest."),
        tables.bound_table(cells),
    ]
    return [*parts, _said_of_bounds(cells)]


def _said_of_bounds(cells: Cells) -> str:
    texts = []
    for kernel, cell in bounds(cells).items():
        found = [one for one in excesses(cell) if not one.is_nothing]
        by = [one.by for one in found]
        below = all(max(one.draws) <= one.lemma for one in found)
        said = "every draw lies below Lemma 2" if below else "the mean lies below Lemma 2" if min(by) >= 1 else "the mean exceeds Lemma 2"
        texts.append(f"{kernel}: {said}, which is {min(by):.2f} to {max(by):.1f} times the measured mean")
        if len(found) < len(cell["sizes"]):
            texts.append(
                f"of the clipped {kernel} matrix no more than {cell['rank']:,} eigenvalues are left, so larger samples cost nothing"
            )
    text = "; ".join(texts)
    return text[:1].upper() + text[1:] + "."
