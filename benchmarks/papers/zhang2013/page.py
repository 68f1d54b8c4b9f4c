"""The text of docs/papers/zhang2013.md around its tables; every measured number in it comes out of the stored cells."""

from __future__ import annotations

import numpy as np

from ..markdown import page as joined
from ..markdown import picture, short
from ..paper import measured_on
from ..results import Cells
from . import tables
from .extras import ORDERED, ORDERS, SMALL, WIDTH_SHARE
from .printed import CHUNKS, FOREST_LARGEST, WHOLE
from .runs import AUTOMATIC, CASES, POINTS, PRINTED_M, STARTS, STREAMS, key_of
from .tables import mean
from .verdicts import pairs_of, verdicts_table


def page(cells: Cells) -> str:
    parts = [_what(), _settings(cells), _acceptance(cells), *_printed(cells), _auto(cells), _published(cells), _starts(cells)]
    parts += [_baselines(cells), _weights(cells), _orders(cells), _memory(cells), _differences(cells), _use(cells)]
    return joined(*parts)


def _what() -> str:
    return """
# Streaming kernel fuzzy c-means (Zhang, Havens, IEEE Big Data 2013, 161-168)

`python -m benchmarks.papers zhang2013` measures what this page shows, keeps it in `zhang2013.json` beside this file and writes the page.

## What the paper does

Kernel fuzzy c-means (KFCM) needs all n^2 kernel values. The paper takes rows in chunks. Each chunk is clustered by KFCM in the span of its
own rows; the c centres are then projected into the span of the next chunk, where they join its rows as weighted *meta-vectors*. Only two
blocks of the kernel matrix are ever needed. It is compared with kernel patch clustering (KPC), which carries a few rows near each centre
in place of the centre, and with KFCM on all rows.

| paper | library |
|---|---|
| stKFCM | `StreamingFuzzyCMeans(c, method="projection", chunk_size=...)` |
| stKFCM exactly as published | the same with `warm_up=0, n_init=1, init="random"` |
| KPC | `KernelPatchClustering(c, patch_size=..., n_points=...)` |
| KFCM | `FuzzyCMeans(c, n_landmarks=None)` |
| *not in the paper:* landmark stream | `StreamingFuzzyCMeans(c, chunk_size=...)`: chunks share landmarks, sums simply add |
"""


def _settings(cells: Cells) -> str:
    header = cells.get("machine", {}).get("times") or measured_on(cells)
    return f"""
## Data and settings

2D15 is S2, 2D50 is A3 (both SIPU; the paper shows them in its Figure 2 without a name), MNIST all 70,000 digits over 255, Forest covtype;
features in [0, 1]. m = {PRINTED_M:g} as printed. "RBF with width 1" is read as `exp(-|x - y|^2 / 2)`; the other reading, `exp(-|x - y|^2)`,
gives the same (chunks of {WIDTH_SHARE}%, ARI):

{tables.widths_table(cells)}

Both are so wide for features in [0, 1] that the kernel is linear for almost all purposes; a tenth of the width is shown beside them. The
kernel on MNIST is (x.y + 1)^5. KPC carries {POINTS} rows a cluster; the paper does not say how many it did.

A trial is a random order of the rows and a random_state, the same for all contestants. The paper ran 100 trials from random starts; here
there are {_trials(cells, *SMALL)} on the small sets and {_trials(cells, "MNIST", "Forest")} on the large ones, of all contestants from
{STARTS} k-means++ starts on the first rows (the default; the paper's way is further below). The streams hold their first 20 rows a
cluster before they let any go (`warm_up="auto"`), which the paper does not. KFCM on 2D15 and 2D50 was computed in the span of 400 rows,
in which all others lie to rounding, for its ARI; its seconds are those of `n_landmarks=None`, which finds such rows by itself. On Forest
akFCM with 1,000 landmarks, from one start, stands in for it: KFCM itself would take hours. On MNIST KFCM runs once, from one start, with
`--exact`, and so do chunks of 10%, whose matrices are factored exactly. Seconds are processor seconds of `fit`, labels of all rows
included, because other work ran on the machine beside most runs; medians, on the small sets of runs that took turns, else of the runs
shown. A landmark stream is not in the paper, so nothing is printed of it.

```
{header}
```
"""


def _trials(cells: Cells, *names: str) -> str:
    pairs = [(name, share) for name in names for share in CASES[name].shares]
    return tables.trials(cells, [key_of(name, PRINTED_M, method, share) for name, share in pairs for method in STREAMS])


def _acceptance(cells: Cells) -> str:
    return f"""
## What was asked, and what came out

{verdicts_table(cells)}
"""


def _printed(cells: Cells) -> list[str]:
    parts = [
        f"""
## Table II

Printed beside ours, m = {PRINTED_M:g}; ours ± standard deviation of the trials. The difference is ours less printed.

{picture("zhang2013-table", "ARI and time against chunk size", "Printed dashed and hollow; grey the run on all rows.")}
"""
    ]
    for name in CHUNKS:
        n, d = CASES[name].size
        title = f"### {name}: {n:,} x {d}, c = {CASES[name].clusters}"
        parts.append(f"{title}\n\n{tables.printed_table(cells, name)}\n\n{_said_of(cells, name)}")
    return parts


def _said_of(cells: Cells, name: str) -> str:
    """An honest sentence or two."""
    ours = {method: [mean(cells, key_of(name, PRINTED_M, method, share)) for share in CASES[name].shares] for method in STREAMS}
    ours = {method: [value for value in values if value is not None] for method, values in ours.items()}
    if not all(ours.values()):
        return tables.NOT_MEASURED
    printed = {method: [CHUNKS[name][method, share].ari for share in CASES[name].shares] for method in ("KPC", "stKFCM")}
    ranges = {method: f"{short(min(values))} to {short(max(values))}" for method, values in ours.items()}
    theirs = {method: f"printed {short(min(values))} to {short(max(values))}" for method, values in printed.items()}
    said = f"ARI: KPC {ranges['KPC']} ({theirs['KPC']}), stKFCM {ranges['stKFCM']} ({theirs['stKFCM']}), landmarks {ranges['landmarks']}"
    for method in tables.whole_methods(name):
        whole = mean(cells, key_of(name, PRINTED_M, method, None))
        if whole is not None:
            said += f"; {method} on all rows {short(whole)} (KFCM printed {short(WHOLE[name].ari)})"
    return said + "." + _explained(cells, name)


def _explained(cells: Cells, name: str) -> str:
    """Why ours differ from the print, as far as it is known."""
    if name in SMALL:
        at_two = mean(cells, key_of(name, PRINTED_M, "stKFCM", 2))
        if at_two is None:
            return ""
        gain = at_two - CHUNKS[name]["stKFCM", 2].ari
        return f" At 2% stKFCM is {short(abs(gain))} {'above' if gain > 0 else 'below'} the print, because of its starts: see below."
    keys = [key_of(name, PRINTED_M, method, share) for method in ("stKFCM", "landmarks") for share in CASES[name].shares]
    keys = [key for key in keys if key in cells]
    apart = [value for key in keys for value in cells[key]["separation"]]
    filled = [value for key in keys for value in cells[key]["filled"]]
    text = f" The streams fill {min(filled)} to {max(filled)} of {CASES[name].clusters} clusters, and their centres are at most"
    text += f" {short(max(apart), 4)} of a typical squared distance from their mean (below .01 they count as fallen together)."
    return text + _costs(cells, name)


def _costs(cells: Cells, name: str) -> str:
    """Objectives over that of the run on all rows."""
    there = [key_of(name, PRINTED_M, method, None) for method in tables.whole_methods(name)]
    unit = next((mean(cells, key, "objective") for key in there if key in cells), None)
    if unit is None:
        return ""
    parts = []
    for method in STREAMS:
        keys = [key_of(name, PRINTED_M, method, share) for share in CASES[name].shares]
        values = [mean(cells, key, "objective") / unit for key in keys if key in cells]
        parts.append(f"{method} {min(values):.3f} to {max(values):.3f}")
    return f" Objective over all rows at the final centres, over that of all rows: {', '.join(parts)}."


def _auto(cells: Cells) -> str:
    text = '## m = auto\n\nThe paper fixes m = 1.7 for all data. `m="auto"` measures on the first rows how large it may be before all'
    text += " centres fall together, and goes half-way."
    for name in AUTOMATIC:
        keys = [key_of(name, "auto", method, share) for method in STREAMS for share in CASES[name].shares]
        used = [value for key in keys if key in cells for value in cells[key]["m"]]
        if used:
            text += f"\n\n{name}: m came out as {min(used):.3f} to {max(used):.3f}. ARI:\n\n{tables.ari_table(cells, name, 'auto')}"
    return text


def _published(cells: Cells) -> str:
    return f"""
## As published: one start from random rows, and the first chunk decides

{tables.side_by_side(cells, SMALL, PRINTED_M, published=True)}
"""


def _starts(cells: Cells) -> str:
    return f"""
## What the start is worth

{tables.starts_table(cells)}
"""


def _baselines(cells: Cells) -> str:
    return f"""
## Single-pass baselines

spFCM and oFCM are linear, spKFCM and oKFCM carry one medoid a cluster (`benchmarks/singlepass.py`); the streams' own lines again beside
them.

{tables.baselines_table(cells)}
"""


def _weights(cells: Cells) -> str:
    return f"""
## The weight of the past

Line 2 of Algorithm 1 gives a meta-vector the weight |q|, the 1-norm of a centre's coefficients. Once the projection has made some of these
negative that is no mass any more. 2D15 in 50 chunks of 100 rows, a literal program: all weights of the past, over the number of rows that
they stand for:

{tables.weights_table(cells)}

The library takes the denominator of (9b), by which a row of the past weighs what it weighed in its own chunk.
"""


def _orders(cells: Cells) -> str:
    return f"""
## Order of the rows, and what projection loses

The largest share of a centre's squared norm that was lost on the way into a chunk, over all chunks and trials. For the landmark
stream it is what sums could not know of landmarks that joined later.

{tables.losses_table(cells)}

ARI, means of {_order_trials(cells)}:

{tables.orders_table(cells)}

{picture("zhang2013-order", "Loss, and ARI of random and sorted rows", "Chunks of 5% on the right.")}
"""


def _memory(cells: Cells) -> str:
    return f"""
## Memory

The most that a fit of 2D15 takes at a time beside its rows, megabytes. stKFCM factors the kernel matrix of a chunk; our KFCM holds the
products of all rows with as many of them as span the rest; the landmark stream those of a chunk with its landmarks.

{tables.memory_table(cells)}
"""


def _order_trials(cells: Cells) -> str:
    return tables.trials(cells, [key for key in cells if key.startswith("order | ")])


def _range(cells: Cells, keys: list[str], field: str = "ari") -> str:
    values = [mean(cells, key, field) for key in keys if key in cells]
    return f"{short(min(values))} to {short(max(values))}" if values else "?"


def _differences(cells: Cells) -> str:
    lines = [_of_starts(cells), _of_mnist(cells), _of_forest(cells), _of_seconds(), _of_weights(cells)]
    return "## What differs, and why\n\n" + "\n".join(line for line in lines if line)


def _of_starts(cells: Cells) -> str:
    text = "* **2D15 and 2D50 come out better than printed,** and that is the starts."
    for name in SMALL:
        shares = CASES[name].shares
        there = [key_of(name, PRINTED_M, "stKFCM", share, published=True) for share in shares]
        ours = [key_of(name, PRINTED_M, "stKFCM", share) for share in shares]
        printed = [CHUNKS[name]["stKFCM", share].ari for share in shares]
        text += f" {name}: stKFCM {_range(cells, ours)};"
        text += f" from one start at random rows without warm-up {_range(cells, there)};" if any(key in cells for key in there) else ""
        text += f" printed {short(min(printed))} to {short(max(printed))}."
    return text + " The paper does not say what its random starts were."


def _of_mnist(cells: Cells) -> str:
    shares = CASES["MNIST"].shares
    text = "* **MNIST at m = 1.7 is a collapse.**"
    for method in tables.whole_methods("MNIST"):
        key = key_of("MNIST", PRINTED_M, method, None)
        if key in cells:
            cell = cells[key]
            text += (
                f" {method} on all rows ends ({cell['sweeps'][0]} sweeps) with all centres within {cell['separation'][0]:.0e} of a typical"
            )
            text += f" squared distance from their mean; what labels are left have ARI {short(cell['ari'][0])} and purity"
            text += f" {short(cell['purity'][0])}, and the paper prints {short(WHOLE['MNIST'].ari)} and {short(WHOLE['MNIST'].purity, 2)}."
    keys = {method: [key_of("MNIST", PRINTED_M, method, share) for share in shares] for method in STREAMS}
    losses = [value for key in keys["stKFCM"] if key in cells for value in cells[key]["loss"]]
    text += f" The landmark stream ends near there ({_range(cells, keys['landmarks'])}), KPC in one cluster ({_range(cells, keys['KPC'])})."
    if losses:
        text += f" stKFCM has more ({_range(cells, keys['stKFCM'])}), as printed: its projections lose up to {100 * max(losses):.1f}% of a"
        text += " squared norm on the way into a chunk, which keeps the centres apart at a higher objective. So where ARI speaks for stKFCM"
        text += " in that column, it is for being further from KFCM."
    better = [key_of("MNIST, normalised", "auto", method, share) for method in ("stKFCM", "landmarks") for share in shares]
    raw = [key_of("MNIST", "auto", method, share) for method in ("stKFCM", "landmarks") for share in shares]
    text += " The raw polynomial also weighs digits by the tenth power of their length. Divided by the root of its diagonal"
    text += f' (`kernel="normalized_polynomial"`), and with m = "auto", the streams have ARI {_range(cells, better)}'
    return text + (f'; with m = "auto" alone {_range(cells, raw)}.' if any(key in cells for key in raw) else ".")


def _of_forest(cells: Cells) -> str:
    keys = [key_of("Forest", PRINTED_M, method, share) for method in STREAMS for share in CASES["Forest"].shares]
    text = f"* **Forest.** ARI {_range(cells, keys)} and purity {_range(cells, keys, 'purity')}, where the largest class alone gives"
    return text + f" {short(FOREST_LARGEST)}: its classes are no clusters, for these methods as for those of the paper."


def _of_seconds() -> str:
    printed = [cells["stKFCM", share].seconds / cells["KPC", share].seconds for cells in CHUNKS.values() for _, share in cells]
    return (
        f"* **Seconds** are not comparable with the print of 2013. What is: stKFCM was printed up to {max(printed):.0f} times as slow as"
        " KPC at large chunks, for its inverse; here both factor one matrix a chunk, and the landmark stream none."
    )


def _of_weights(cells: Cells) -> str:
    if "weights | |q|" not in cells:
        return ""
    share = cells["weights | |q|"]["share"]
    return (
        f"* **Weights.** With |q| as printed the past of 2D15 weighs up to {max(share):.1e} times what its rows did, and later rows do not"
        " move the centres any more. On clusters as plain as these ARI hardly shows it."
    )


def _use(cells: Cells) -> str:
    return f"""
## What to use

`StreamingFuzzyCMeans(c, gamma=...)` with its defaults: landmarks, m = "auto", and the warm-up. Against `method="projection"` it is
{_pace(cells)}, needs no matrix as large as a chunk squared, and loses nothing between chunks once its landmarks are
chosen. `KernelPatchClustering` is there for comparison.
Use a normalised kernel where rows differ in length. Rows should come in random order.{_sorted_cost(cells)}
"""


def _sorted_cost(cells: Cells) -> str:
    """What a sorted stream costs, in chunks of 5%."""
    parts = []
    for name in ORDERED:
        for way in ("stKFCM, update", "landmarks", "landmarks, decay .8"):
            keys = [f"order | {name} | {order} | 5% | {way}" for order in ORDERS]
            if all(key in cells for key in keys):
                random, in_order = (short(mean(cells, key), 2) for key in keys)
                parts.append(f"{name}, {way}: {random} and {in_order}")
    return f" ARI of random and sorted rows: {'; '.join(parts)}." if parts else ""


def _pace(cells: Cells) -> str:
    ratios = [theirs / ours for ours, theirs in pairs_of(cells, "seconds").values()]
    if not ratios:
        return "measured above"
    return f"{np.median(ratios):.1f} times as fast in the median of all rows above ({min(ratios):.1f} to {max(ratios):.1f})"
