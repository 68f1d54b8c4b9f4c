"""What partial distances are worth beside imputation: the table of missing values in
docs/real_data.md.

Cells are removed at random, each with the same chance, and features are brought to [0, 1] by what
is left of them. The same fit, from ten starts, sees the rows with holes, or rows whose holes are
filled beforehand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler

from cmeans import FuzzyCMeans, KernelKMeans

from .harness import header, load, quiet

SHARES, DRAWS, DIGITS = (0.1, 0.3, 0.5), 10, 3000
FITS: dict[str, Callable[..., Any]] = {
    "hard": lambda c, **words: KernelKMeans(c, kernel="linear", n_init=10, **words),
    "fuzzy": lambda c, **words: FuzzyCMeans(c, n_init=10, **words),
}
IMPUTERS: dict[str, Callable[[], Any]] = {
    "mean": SimpleImputer,
    "median": lambda: SimpleImputer(strategy="median"),
    "KNN": KNNImputer,
}


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows and kinds by name; of MNIST the first digits, as pixels that are not 0 in one of 100 of
    them at least."""
    found = {
        name: (load(name).astype(float), load(name, "y")) for name in ("iris", "wine", "seeds")
    }
    digits, kinds = load("mnist")[:DIGITS].astype(float), load("mnist", "y")[:DIGITS]
    return found | {
        f"MNIST, {DIGITS:,} digits": (digits[:, (digits > 0).mean(axis=0) >= 0.01], kinds)
    }


def with_holes(x: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Rows with cells removed at random; the first of a row stays where all would go."""
    gone = np.random.RandomState(seed).uniform(size=x.shape) < share
    gone[gone.all(axis=1), 0] = False
    return MinMaxScaler().fit_transform(np.where(gone, np.nan, x))


def main() -> None:
    print(header())
    print(
        f"| rows | removed | fit | partial distances | {' | '.join(IMPUTERS)} "
        f"|\n|---|---|---|---|{'---|' * len(IMPUTERS)}"
    )
    for name, (x, kinds) in tables().items():
        for share in SHARES:
            scores: dict[str, list[list[float]]] = {fit: [] for fit in FITS}
            for seed in range(3 if len(x) > 1000 else DRAWS):
                holes = with_holes(x, share, seed)
                filled = [make().fit_transform(holes) for make in IMPUTERS.values()]
                for fit, make in FITS.items():
                    words = {"random_state": seed, "missing": "partial"}
                    labels = [
                        make(len(np.unique(kinds)), **words).fit(rows).labels_
                        for rows in (holes, *filled)
                    ]
                    scores[fit].append([adjusted_rand_score(kinds, found) for found in labels])
            for fit, found in scores.items():
                print(
                    f"| {name} | {100 * share:.0f}% | {fit} | "
                    f"{' | '.join(f'{ari:.3f}' for ari in np.mean(found, axis=0))} |",
                    flush=True,
                )


if __name__ == "__main__":
    with warnings.catch_warnings():
        quiet()
        main()
