"""cmeans beside its peers, and beside what the machine can do. The same data, start, landmarks and
sweeps for all, and one judge.

    python -m benchmarks               all of it, at most 20 minutes on two quiet cores, to
                                       docs/benchmarks.md; --help lists the jobs
    python -m benchmarks --quick --out PAGE     a smoke run on few rows
    python -m benchmarks.roofline      sweeps and kernel blocks against bandwidth and matrix
                                       products, measured in the same run
    python -m benchmarks.growth        time of a sweep a row, from 10^4 to 10^7 rows
    python -m benchmarks.sweeps        the generic sweep and the native ones, nanoseconds a row
    python -m benchmarks.streams       streams against scikit-learn's Nystroem + MiniBatchKMeans
                                       and river, and their memory
    python -m benchmarks.defaults      every estimator's defaults beside scikit-learn's on labelled
                                       sets: docs/defaults.md
    python -m benchmarks.shapes        clusters of any shape, beside spectral clustering:
                                       docs/shapes.md
    python -m benchmarks.papers        the five papers, every table and figure, printed beside ours:
                                       docs/papers/index.md

Data: a folder of NAME.npz files named by CMEANS_DATA, or ../shared/data beside the repository.
"""
