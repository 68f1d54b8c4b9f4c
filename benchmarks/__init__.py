"""Peers side by side: the same data, start, landmarks and sweeps for all, one separate judge, medians of paired runs.

    python -m benchmarks.kernel_kmeans      kernel k-means on landmarks against scikit-learn's Nystroem + KMeans
    python -m benchmarks.fuzzy              fuzzy c-means against scikit-fuzzy
    python -m benchmarks.kernel_blocks      blocks of kernel values against their bare matrix product
    python -m benchmarks.sweeps             the generic sweep and the compiled ones, nanoseconds a row
    python -m benchmarks.papers.havens2011  Table II of Havens 2011, first look

Data: a folder of NAME.npz files named by CMEANS_DATA, or ../shared/data beside the repository.
"""
