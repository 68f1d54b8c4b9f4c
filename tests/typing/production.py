"""A model that runs every night."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import cmeans
from cmeans import BatchPredictor, KernelKMeans, Sizes

X: NDArray[np.float32] = np.zeros((9, 2), np.float32)
model = KernelKMeans(3, sizes=Sizes(least=2), n_init=3, random_state=0).fit(
    X, sample_weight=X[:, 0]
)
assert_type(model.objective_, float)
assert_type(model.n_iter_, int)
assert_type(model.stop_reason_, str)
assert_type(model.score(X), float)
cmeans.save(model, "model.safetensors")
assert_type(model.predict_to(X, "labels.parquet"), NDArray[np.intp])
predictor = BatchPredictor(model)
again = cmeans.load("model.safetensors")
