"""Rows of text beside scikit-learn's KMeans: the peer's processor time over ours.

    python -m benchmarks.text [--quick] [--json FILE] [--runs N]
    python -m benchmarks --only text

The second way writes the page. TF-IDF of made texts, and of the docstrings of the packages that are
installed. Both take the same rows; the same start and ten sweeps, or each its own defaults. They
take turns in one process on one thread, and processor time is what is compared, as other work on
the machine changes it least.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import statistics
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from threadpoolctl import threadpool_limits

from cmeans import KernelKMeans, ThreadEngine

from .contest import judged
from .harness import finish

ROWS, WORDS, QUICK_ROWS = 20_000, 30_000, 1_000
SWEEPS = 10
TOPICS, OF_A_TOPIC, LENGTH = 50, 2_000, 80  # of made texts: words of a topic, words of a text


def made(n: int) -> sparse.csr_matrix:
    """Texts of a topic each: two words in three are of its own, the rest of all, rare and usual
    ones alike as in natural language."""
    rng = np.random.default_rng(0)
    ranks = 1.0 / np.arange(1, WORDS + 1)
    own = rng.integers(WORDS, size=(TOPICS, OF_A_TOPIC))[rng.integers(TOPICS, size=n)]
    columns = rng.choice(WORDS, size=(n, LENGTH), p=ranks / ranks.sum())
    topical = rng.random((n, LENGTH)) < 2 / 3
    places = np.minimum(rng.zipf(1.3, size=(n, LENGTH)), OF_A_TOPIC) - 1
    columns[topical] = np.take_along_axis(own, places, axis=1)[topical]
    counts = sparse.csr_matrix(
        (np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, LENGTH)),
        shape=(n, WORDS),
    )
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts)


def docstrings() -> Iterator[str]:
    """The docstrings of what is installed, file by file."""
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node)
                if text is not None and len(text) > 200:
                    yield text


def real(n: int) -> sparse.csr_matrix:
    """Docstrings in an order of chance, of the first twice as many, without words that but one of
    them has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in other people's strings
        texts = sorted(set(itertools.islice(docstrings(), 2 * n)))
    chosen = np.random.default_rng(0).permutation(len(texts))[:n]
    return TfidfVectorizer(min_df=2).fit_transform([texts[i] for i in chosen])


def taken(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and the model."""
    start = time.process_time()
    model = fit()
    return time.process_time() - start, model


def compared(x: sparse.csr_matrix, c: int, runs: int, *, same: bool) -> dict[str, list[float]]:
    """Seconds of both, run by run, and their objectives: from the `same` start, or by defaults."""
    of: dict[str, list[float]] = {"own": [], "peer": [], "objectives": []}
    for run in range(runs):
        rows = np.random.default_rng(run).choice(x.shape[0], c, replace=False)
        start = x[rows].toarray()
        words = {"init": start, "max_iter": SWEEPS, "tol": 0} if same else {"random_state": run}
        engine = ThreadEngine(1)
        mine = KernelKMeans(c, kernel="linear", n_init=1, engine=engine, **words)
        own, model = taken(lambda mine=mine: mine.fit(x))
        theirs = KMeans(c, n_init=1, algorithm="lloyd", **words)
        peer, other = taken(lambda theirs=theirs: theirs.fit(x))
        of["own"].append(own)
        of["peer"].append(peer)
        of["objectives"].append(model.objective_ / other.inertia_)
    return of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", help=argparse.SUPPRESS)  # always one
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # ten sweeps are fewer than it takes
    threadpool_limits(1)
    n, rows, checks = QUICK_ROWS if arguments.quick else ROWS, [], []
    for text, texts in (("made", made), ("docstrings", real)):
        x = texts(n)
        compared(x[:500], 2, 1, same=True)  # what is imported and loaded by a first fit
        for same in (True, False):
            for c in (20, 100):
                of = compared(x, c, arguments.runs, same=same)
                ratios = [peer / own for own, peer in zip(of["own"], of["peer"], strict=True)]
                what = f"{SWEEPS} sweeps from the same start" if same else "defaults"
                name = f"{text}, {x.shape[0]:,} x {x.shape[1]:,}, {c} clusters"
                seconds = [statistics.median(of[who]) for who in ("own", "peer")]
                above = statistics.median(of["objectives"])
                rows.append([name, what, *seconds, statistics.median(ratios), above])
                print(f"   {name}, {what}: {rows[-1][2:]}", flush=True)
                wanted = 1.0 if same else 1 / 3
                said = f"{name}, {what}, KMeans over KernelKMeans"
                checks.append(judged(said, f"at least {wanted:.2g}", ratios, least=wanted))
    columns = ["rows", "work", "our seconds", "KMeans", "KMeans over ours", "objective over its"]
    caption = "TF-IDF in CSR, processor seconds of one thread, medians of paired fits"
    table = {"caption": caption, "columns": columns, "rows": rows}
    finish({"title": "Rows of text", "tables": [table], "checks": checks}, arguments.json)


if __name__ == "__main__":
    main()
