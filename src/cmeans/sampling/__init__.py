"""Sampling of rows: fair samples, k-means++, k-means||, Max-Min, farthest rows, quantiles."""
