"""A table as people write it, and files larger than memory."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

import cmeans
from cmeans import KernelKMeans

rows = cmeans.read_table("customers.csv", categorical=["plan"], scale="log", id="customer")
assert_type(rows.shape, tuple[int, int])
assert_type(rows.columns, tuple[str | int, ...])
assert_type(rows.read(0, 9), NDArray[np.floating[Any]])
assert_type(rows.weight, NDArray[np.float64] | None)
model = assert_type(KernelKMeans(3, kernel="linear").fit(rows), KernelKMeans)
frame = pd.DataFrame({"plan": ["a", "b"]})
of_frame = cmeans.read_table(frame, categorical=["plan"], columns=None)
assert_type(of_frame.shape, tuple[int, int])
cmeans.read_table(pl.DataFrame({"x": [1.0]}), recipe=model)
again = cmeans.read_table("tomorrow.csv", recipe=model)
assert_type(model.predict(again), NDArray[np.integer[Any]])
assert_type(model.cluster_centers_, NDArray[np.floating[Any]])
