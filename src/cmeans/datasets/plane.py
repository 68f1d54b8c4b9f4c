"""Generators of data in the plane: a ring around a disc, Gaussians close together, and many
Gaussians in noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..data.arrays import Float64, IntArray
from .checks import rising, share, whole

CLOSE_MEANS = ((4.1, 3.7), (2.8, 0.8), (3.5, 5.7))
CLOSE_VARIANCE = 0.4
CANDIDATES = 10  # candidate points for each centre of `make_s_set`
STRETCH = 1.5  # largest ratio of the axes of a cluster of `make_s_set`


def make_ring_and_disc(
    n_disc: int = 100,
    n_ring: int = 200,
    *,
    radii: tuple[float, float, float] = (1.0, 2.0, 3.0),
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Float64, IntArray]:
    """A disc inside a ring: two clusters that no straight line separates (KPKM paper, section 5.1).

    The paper gives the numbers of points (100 and 200), the rest only in a figure. Decided here:
    both centred at the origin, both uniform over their area, the disc of radius 1, the ring from
    radius 2 to radius 3.

    Parameters
    ----------
    n_disc, n_ring : points of each.
    radii : of the disc, and the ring's inner and outer one.
    random_state : int, RandomState or None.

    Returns
    -------
    X : (n_disc + n_ring, 2) float64, in random order.
    y : (n_disc + n_ring,) 0 for the disc, 1 for the ring.

    Raises
    ------
    ValueError
        For numbers of points below 1, and radii that are not 0 < disc <= inner < outer.

    Examples
    --------
    >>> from cmeans import KernelKMeans
    >>> from cmeans.datasets import make_ring_and_disc
    >>> from sklearn.metrics import adjusted_rand_score
    >>> X, y = make_ring_and_disc(random_state=0)
    >>> model = KernelKMeans(2, gamma=1.0, landmarks=None, n_init=10, random_state=0).fit(X)
    >>> round(adjusted_rand_score(y, model.labels_), 2)
    1.0

    References
    ----------
    B. Liu et al., Kernel probabilistic k-means clustering, Sensors 21 (2021) 1892.
    """
    function_name = "make_ring_and_disc"
    sizes = [whole(function_name, "n_disc", n_disc, 1), whole(function_name, "n_ring", n_ring, 1)]
    disc, inner, outer = rising(function_name, "radii", radii)
    random = check_random_state(random_state)
    y = random.permutation(np.repeat(np.arange(2), sizes))
    low, high = np.array([0.0, inner**2])[y], np.array([disc**2, outer**2])[y]
    # uniform over area: the square is uniform
    radius = np.sqrt(low + (high - low) * random.uniform(size=len(y)))
    angle = 2.0 * np.pi * random.uniform(size=len(y))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), y


def make_close_gaussians(
    n_samples: tuple[int, int, int] = (500, 300, 300),
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Float64, IntArray]:
    """Three Gaussian clusters, two of them close together and of unequal density (SeqSAPCM paper,
    Experiment 1).

    The means are (4.1, 3.7), (2.8, 0.8) and (3.5, 5.7), every covariance is 0.4 times the identity
    (0.4 is a variance: the s.d. of each coordinate is 0.632), and 500, 300 and 300 points are
    drawn. The first and the third cluster overlap.

    Parameters
    ----------
    n_samples : points of each cluster.
    random_state : int, RandomState or None.

    Returns
    -------
    X : (sum of n_samples, 2) float64, in random order.
    y : (sum of n_samples,) 0, 1, 2 in the order of the means above.

    Raises
    ------
    ValueError
        If n_samples is not three whole numbers of at least 1.

    Examples
    --------
    >>> from cmeans.datasets import make_close_gaussians
    >>> X, y = make_close_gaussians(random_state=0)
    >>> X.shape, [int((y == j).sum()) for j in range(3)]
    ((1100, 2), [500, 300, 300])

    References
    ----------
    S. D. Xenaki, K. D. Koutroumbas, A. A. Rontogiannis, Sequential sparse adaptive possibilistic
    clustering, SETN 2014.
    """
    function_name = "make_close_gaussians"
    if not isinstance(n_samples, (tuple, list)) or len(n_samples) != len(CLOSE_MEANS):
        raise ValueError(
            f"{function_name}(n_samples={n_samples!r}): give three whole numbers, the points of "
            "each cluster."
        )
    sizes = [whole(function_name, "n_samples", size, 1) for size in n_samples]
    random = check_random_state(random_state)
    y = random.permutation(np.repeat(np.arange(3), sizes))
    return np.asarray(CLOSE_MEANS)[y] + np.sqrt(CLOSE_VARIANCE) * random.normal(size=(len(y), 2)), y


def make_s_set(
    n_clusters: int = 15,
    n_samples: int = 5000,
    *,
    overlap: float = 0.03,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Float64, IntArray]:
    """Gaussian clusters all over the unit square, with a given overlap, in uniform noise: like the
    S-sets.

    The original S1 ... S4 are four files; this draws new sets like them. Decided here: centres in
    the unit square, each the candidate of ten that is farthest from those before; sizes equal up to
    one point; covariances of one size, with axes of random direction and a ratio between 1 and 1.5.
    One common factor of all covariances is then set such that the share of clustered points nearer
    to another cluster's centre than to their own is `overlap`, exactly (up to one point).

    Parameters
    ----------
    n_clusters : number of clusters, at least 2.
    n_samples : points, noise included.
    overlap : share of clustered points nearer to another cluster's centre. In the original files
        (labels and class means) it is 0.006 in S1, 0.03 in S2, 0.14 in S3 and 0.20 in S4. (Their
        authors count differently: 9, 22, 41 and 44%.)
    noise : share of the n_samples that is uniform over the box of the clustered points.
    random_state : int, RandomState or None.

    Returns
    -------
    X : (n_samples, 2) float64, in random order.
    y : (n_samples,) 0 ... n_clusters - 1, and -1 for noise.

    Raises
    ------
    ValueError
        For n_clusters below 2, fewer clustered points than clusters, an overlap outside (0, 0.5]
        and noise outside [0, 1).

    Examples
    --------
    >>> from cmeans.datasets import make_s_set
    >>> X, y = make_s_set(15, 5000, overlap=0.14, noise=0.1, random_state=0)
    >>> X.shape, int((y == -1).sum()), len(set(y.tolist()))
    ((5000, 2), 500, 16)

    References
    ----------
    P. Fränti, O. Virmajoki, Iterative shrinking method for clustering problems, Pattern Recognition
    39 (2006) 761-765.
    """
    function_name = "make_s_set"
    c = whole(function_name, "n_clusters", n_clusters, 2)
    n = whole(function_name, "n_samples", n_samples, 1)
    overlap = share(function_name, "overlap", overlap, above=True)
    noise = share(function_name, "noise", noise, above=False)
    if overlap > 0.5:
        raise ValueError(
            f"{function_name}(overlap={overlap!r}): beyond 0.5 there are no clusters left to find."
        )
    n_noise = round(noise * n)
    if n - n_noise < c:
        raise ValueError(
            f"{function_name}(n_samples={n}): {n - n_noise} points without the noise are too few "
            f"for {c} clusters."
        )
    random = check_random_state(random_state)
    y = random.permutation(np.concatenate([np.arange(n - n_noise) % c, np.full(n_noise, -1)]))
    member = y >= 0
    centres = _spread_centres(random, c)
    offsets = np.einsum(
        "nij,nj->ni", _shapes(random, c)[y[member]], random.normal(size=(n - n_noise, 2))
    )
    X = np.empty((n, 2))
    X[member] = centres[y[member]] + _width(offsets, centres, y[member], overlap) * offsets
    X[~member] = random.uniform(X[member].min(axis=0), X[member].max(axis=0), size=(n_noise, 2))
    return X, y


def _spread_centres(random: Any, c: int) -> Float64:
    centres = random.uniform(size=(c, 2))
    for j in range(1, c):
        candidates = random.uniform(size=(CANDIDATES, 2))
        d2 = ((candidates[:, None, :] - centres[None, :j, :]) ** 2).sum(axis=2)
        centres[j] = candidates[d2.min(axis=1).argmax()]
    return np.asarray(centres)


def _shapes(random: Any, c: int) -> Float64:
    """Matrices (c, 2, 2) of determinant 1 that make a round Gaussian slightly elliptical."""
    root = np.sqrt(random.uniform(1.0, STRETCH, size=c))
    angle = np.pi * random.uniform(size=c)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack(
        [np.stack([root * cos, -sin / root], axis=1), np.stack([root * sin, cos / root], axis=1)],
        axis=1,
    )


def _width(offsets: Float64, centres: Float64, y: IntArray, overlap: float) -> float:
    """Return the factor of all offsets that moves a share `overlap` of the points out of the
    Voronoi cell of their own centre.

    A cell is convex, so a point leaves it only once as its offset z grows: at the border with
    centre j, where t z.(c_j - c_i) = |c_j - c_i|^2 / 2.
    """
    exits = np.full(len(offsets), np.inf)
    for centre in centres:
        direction = centre - centres[y]
        speed = np.einsum("ij,ij->i", offsets, direction)
        towards = speed > 0
        exits[towards] = np.minimum(
            exits[towards], 0.5 * (direction[towards] ** 2).sum(axis=1) / speed[towards]
        )
    factor = float(np.quantile(exits, overlap, method="lower")) * (1.0 + 1e-12)
    if not np.isfinite(factor):
        raise ValueError(
            f"make_s_set(overlap={overlap!r}): {len(centres)} clusters of these shapes never "
            "overlap so much; lower it."
        )
    return factor
