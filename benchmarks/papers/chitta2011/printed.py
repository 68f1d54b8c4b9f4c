"""What Chitta et al. 2011 print: Tables 1 to 4, and what can be read off the axes of Figures 3 and 4."""

from __future__ import annotations

from typing import NamedTuple

Printed = tuple[float, float | None]  # mean, standard deviation


class Row(NamedTuple):
    """One sample size of a table."""

    m: int
    kernel: Printed  # seconds
    approximate: Printed  # seconds of clustering
    two_step: Printed
    ari_approximate: Printed | None = None  # against the full kernel's partition
    ari_two_step: Printed | None = None


class Full(NamedTuple):
    """The full kernel: seconds."""

    kernel: float
    clustering: Printed


# The rows of 10,000: seconds of the kernel and of two-step are told apart by what 5,000 rows take; their deviations cannot be.
TABLE2 = [
    Row(10000, (107.58, None), (13759.05, 6273.2), (75.93, None), (0.71, 0.13), (0.71, 0.08)),
    Row(5000, (41.07, 5.12), (1478.85, 178.97), (14.63, 6.58), (0.71, 0.12), (0.70, 0.12)),
    Row(1000, (7.88, 0.18), (75.26, 22.42), (0.59, 0.08), (0.70, 0.12), (0.58, 0.09)),
    Row(500, (5.37, 0.53), (72.24, 29.44), (0.25, 0.02), (0.69, 0.11), (0.48, 0.07)),
    Row(200, (5.34, 0.33), (53.48, 30.17), (0.18, 0.03), (0.61, 0.24), (0.36, 0.05)),
    Row(100, (2.02, 0.09), (22.7, 13.30), (0.06, 0.002), (0.47, 0.14), (0.37, 0.05)),
    Row(50, (1.46, 0.14), (12.11, 8.42), (0.05, 0.002), (0.40, 0.10), (0.25, 0.03)),
]
TABLE3 = [
    Row(10000, (119.71, None), (14407.35, 7161.1), (47.72, None), (0.95, 0.05), (0.87, 0.03)),
    Row(5000, (47.72, 5.88), (1449.33, 229.83), (6.25, 1.29), (0.90, 0.06), (0.81, 0.04)),
    Row(1000, (9.13, 0.07), (51.54, 13.23), (0.54, 0.09), (0.91, 0.06), (0.72, 0.07)),
    Row(500, (5.49, 0.38), (45.59, 18.40), (0.24, 0.02), (0.90, 0.03), (0.65, 0.08)),
    Row(200, (5.21, 0.82), (43.03, 15.47), (0.16, 0.05), (0.84, 0.03), (0.33, 0.05)),
    Row(100, (2.27, 0.6), (21.55, 5.60), (0.09, 0.002), (0.68, 0.03), (0.41, 0.03)),
    Row(50, (1.84, 0.48), (13.16, 4.32), (0.05, 0.002), (0.62, 0.06), (0.32, 0.16)),
]
TABLES = {"neural": TABLE2, "polynomial": TABLE3}
FULL = {"neural": Full(514.54, (3953.62, 2157.69)), "polynomial": Full(472.19, (2027.68, 570.63))}

TABLE1 = [
    Row(1000, (1564.26, 63.66), (34.56, 4.20), (1.05, 0.28), (0.77, 0.18), (0.58, 0.06)),
    Row(500, (810.03, 24.36), (10.81, 2.31), (0.01, 0.001), (0.75, 0.11), (0.51, 0.04)),
    Row(100, (203.65, 20.87), (4.33, 1.32), (0.02, 0.005), (0.71, 0.05), (0.28, 0.06)),
    Row(50, (79.88, 4.61), (3.99, 1.61), (0.01, 0.001), (0.68, 0.05), (0.26, 0.13)),
]
TABLE1_FULL = Full(33132.06, (81.23, 43.66))

TABLE4 = [
    Row(2000, (344.39, 3.77), (22890.79, 1987.79), (24.06, 1.97)),
    Row(1000, (181.93, 11.95), (11406.77, 1170.08), (11.81, 1.36)),
    Row(500, (168.83, 0.27), (2649.13, 12.15), (5.44, 0.02)),
    Row(200, (68.15, 0.16), (1912.05, 8.98), (2.36, 0.02)),
    Row(100, (47.29, 1.12), (1119.33, 43.25), (1.34, 0.01)),
]

# Ends of the axes: no value can be read off the text of the figures.
REDUCTION_AXES = {"small": (0.03, 0.11), "neural": (0.19, 0.28), "polynomial": (0.06, 0.14), "large": (0.15, 0.23)}
NMI_AXES = {"small": (0.0, 0.25), "neural": (0.0, 0.5), "polynomial": (0.0, 0.5), "large": (0.075, 0.105)}

ENOUGH = 500  # landmarks from which the paper finds no difference to the full kernel
