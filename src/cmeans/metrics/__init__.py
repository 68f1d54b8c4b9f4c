"""How good a clustering is, where the truth or a reference run is known: the measures of the papers.

Adjusted Rand index, normalised mutual information and v-measure are scikit-learn's and not repeated here:
`sklearn.metrics.adjusted_rand_score`, `normalized_mutual_info_score`, `v_measure_score`. Without a truth, see `cmeans.validity`.

Labels of any kind serve, as truth and as clusters: integers, strings, any hashable values, in lists, arrays of any library or
columns of data frames. Only which rows share a label counts, never its name, but for -1 in `labels`, which is noise.
"""

from .fuzzy import generalized_rand_measure
from .hard import purity, rand_measure, relative_purity, success_rate
from .objectives import error_reduction, percent_error

__all__ = [
    "error_reduction",
    "generalized_rand_measure",
    "percent_error",
    "purity",
    "rand_measure",
    "relative_purity",
    "success_rate",
]
