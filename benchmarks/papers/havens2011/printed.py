"""What the paper prints."""

from __future__ import annotations

from typing import Any

SIZES = {"mammals": (50, 250, 500), "covtype": (59, 291, 582)}
KERNELS: dict[str, dict[str, Any]] = {
    "polynomial": {"kernel": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "RBF, sigma 1": {"kernel": "rbf", "gamma": 1.0},
    "RBF, sigma 2": {"kernel": "rbf", "gamma": 0.5},
}

# Table II: (seconds, purity) at the three sample sizes. It prints "RBF (sigma = 1)"; the text says sigma = 2.
TABLE = {
    ("mammals", "polynomial", "FCM"): ((8, 0.85), (34, 0.86), (91, 0.86)),
    ("mammals", "RBF", "FCM"): ((8, 0.85), (60, 0.86), (88, 0.86)),
    ("covtype", "polynomial", "FCM"): ((75, 0.53), (229, 0.53), (416, 0.53)),
    ("covtype", "RBF", "FCM"): ((58, 0.52), (154, 0.52), (384, 0.52)),
    ("mammals", "polynomial", "PCM"): ((30, 0.68), (129, 0.69), (199, 0.71)),
    ("mammals", "RBF", "PCM"): ((35, 0.68), (151, 0.69), (224, 0.69)),
    ("covtype", "polynomial", "PCM"): ((125, 0.50), (352, 0.50), (600, 0.50)),
    ("covtype", "RBF", "PCM"): ((87, 0.49), (215, 0.49), (570, 0.49)),
}

CLUTO = {"covtype": 0.49, "mammals": 0.82}  # purity, section V.C, from its reference [21]
