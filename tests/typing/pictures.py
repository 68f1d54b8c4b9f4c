"""What was found, in words, numbers and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from cmeans import KernelKMeans
from cmeans.inspection import explain, explore, report, summary

X: NDArray[np.float64] = np.zeros((9, 2))
model = KernelKMeans(3).fit(X)
assert_type(explain(model, X).rules, str)
assert_type(report(model, X, "found.html"), Path)
assert_type(str(summary(model, X)), str)
page = explore(model, X, "explore.html")
sizes: NDArray[Any] = np.bincount(model.labels_)
