"""
A file larger than memory
=========================

Rows stay on the disk and are read block by block; the result is that of the rows in memory, bit by
bit. A bound of 160 MB stands for a memory that is too small for 205 MB of rows.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cmeans import KernelKMeans, ThreadEngine, open_blocks
from cmeans.inspection import SizesDisplay

rng = np.random.default_rng(0)
centres = 4 * rng.normal(size=(10, 32)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    for part in range(4):
        which = rng.choice(10, size=400_000, p=np.arange(1, 11) / 55)
        np.save(
            Path(folder) / f"part-{part}.npy",
            centres[which] + rng.standard_normal((400_000, 32), np.float32),
        )
    rows = open_blocks(folder)
    size = sum(file.stat().st_size for file in Path(folder).iterdir())
    print(f"{rows.shape[0]:,} rows of {rows.shape[1]} columns in 4 files, {size / 1e6:.0f} MB")
    model = KernelKMeans(
        10, kernel="linear", engine=ThreadEngine(memory_budget="160MB"), random_state=0
    ).fit(rows)
    print(f"{model.n_iter_} sweeps, each row visited {model.row_visits_ / rows.shape[0]:.1f} times")
    SizesDisplay.from_estimator(model, rows)
    plt.show()

# %%
# Clusters were drawn with shares of 1/55 to 10/55; the numbers follow the sizes.

print("shares times 55:", np.round(55 * np.bincount(model.labels_) / len(model.labels_), 1))
