"""Quality of a clustering against a known truth or a reference run: the measures of the papers.

Adjusted Rand index, normalised mutual information and v-measure are in scikit-learn and not
repeated here: `sklearn.metrics.adjusted_rand_score`, `normalized_mutual_info_score`,
`v_measure_score`. Without a truth, see `cmeans.validity`.

Truth and clusters may be labels of any kind: integers, strings, any hashable values, in lists,
arrays of any library or columns of data frames. The names of labels do not matter, except -1 in
`labels`, which is noise.
"""

from .fuzzy import generalized_rand_measure
from .hard import purity, rand_measure, relative_purity, success_rate
from .matching import match_labels
from .objectives import error_reduction, percent_error

__all__ = [
    "error_reduction",
    "generalized_rand_measure",
    "match_labels",
    "percent_error",
    "purity",
    "rand_measure",
    "relative_purity",
    "success_rate",
]
