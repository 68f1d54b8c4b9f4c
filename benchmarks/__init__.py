"""Peers side by side: the same data, start, landmarks and sweeps for all, one separate judge, medians of paired runs.

    python -m benchmarks.kernel_kmeans      kernel k-means on landmarks against scikit-learn's Nystroem + KMeans
    python -m benchmarks.fuzzy              fuzzy c-means against scikit-fuzzy
    python -m benchmarks.kernel_blocks      blocks of kernel values against their bare matrix product
    python -m benchmarks.sweeps             the generic sweep and the compiled ones, nanoseconds a row
    python -m benchmarks.streams            streams against scikit-learn's Nystroem + MiniBatchKMeans and river, and their memory
    python -m benchmarks.papers.havens2011  Table II of Havens 2011, first look
    python -m benchmarks.papers.stkfcm      Table II of Zhang & Havens 2013 and more, kept in docs/papers/stkfcm.json

Data: a folder of NAME.npz files named by CMEANS_DATA, or ../shared/data beside the repository.
"""
