"""Kernels of images and histograms."""
