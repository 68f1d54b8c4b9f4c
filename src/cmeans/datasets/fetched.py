"""Real data of the papers by scikit-learn's fetchers, downloaded once and then read from its
cache."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray


def load_covtype(*, data_home: str | os.PathLike[str] | None = None) -> tuple[Float64, IntArray]:
    """Forest cover types: 581,012 patches of forest, 54 unscaled features, 7 classes
    (`sklearn.datasets.fetch_covtype`).

    Parameters
    ----------
    data_home : folder of scikit-learn's cache; None is its default.

    Returns
    -------
    X : (581012, 54) float64. The papers scale every feature to [0, 1].
    y : (581012,) classes 1 ... 7.

    Raises
    ------
    OSError
        If the data are not in the cache and cannot be downloaded.

    Examples
    --------
    >>> from cmeans.datasets import load_covtype
    >>> X, y = load_covtype()  # doctest: +SKIP

    References
    ----------
    J. A. Blackard, D. J. Dean, Computers and Electronics in Agriculture 24 (1999) 131-151. UCI
    Machine Learning Repository, Covertype.
    """
    from sklearn.datasets import fetch_covtype

    data = _fetched("load_covtype", lambda: fetch_covtype(data_home=data_home))
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.intp)


def load_mnist(*, data_home: str | os.PathLike[str] | None = None) -> tuple[Float64, IntArray]:
    """Handwritten digits: 70,000 images of 28 x 28 pixels, the first 60,000 for training
    (`fetch_openml("mnist_784")`).

    Without pandas the first call takes some minutes.

    Parameters
    ----------
    data_home : folder of scikit-learn's cache; None is its default.

    Returns
    -------
    X : (70000, 784) float64, 0 ... 255. The papers divide by 255.
    y : (70000,) digits 0 ... 9.

    Raises
    ------
    OSError
        If the data are not in the cache and cannot be downloaded.

    Examples
    --------
    >>> from cmeans.datasets import load_mnist
    >>> X, y = load_mnist()  # doctest: +SKIP

    References
    ----------
    Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Proceedings of the IEEE 86 (1998) 2278-2324. OpenML
    data set 554.
    """
    from sklearn.datasets import fetch_openml

    parser = "pandas" if find_spec("pandas") else "liac-arff"
    data = _fetched(
        "load_mnist",
        lambda: fetch_openml(
            "mnist_784", version=1, as_frame=False, parser=parser, data_home=data_home
        ),
    )
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.intp)


def _fetched(function_name: str, fetch: Callable[[], Any]) -> Any:
    try:
        return fetch()
    except OSError as error:  # also URLError, time-outs and refused connections
        raise OSError(
            f"{function_name}: the data could not be had: {error}. The first call downloads them "
            "and needs the network; later ones read scikit-learn's cache (data_home, or the "
            "variable SCIKIT_LEARN_DATA), which may be copied from another machine."
        ) from error
