"""Data sets of the papers: generators, and loaders that use scikit-learn's fetchers."""

from .fetched import load_covtype, load_mnist
from .plane import make_close_gaussians, make_ring_and_disc, make_s_set
from .quadrupeds import QUADRUPED_CLASSES, make_quadrupeds, quadruped_feature_names

__all__ = [
    "QUADRUPED_CLASSES",
    "load_covtype",
    "load_mnist",
    "make_close_gaussians",
    "make_quadrupeds",
    "make_ring_and_disc",
    "make_s_set",
    "quadruped_feature_names",
]
