"""Quality of a clustering without a known truth: crispness of the memberships, compactness and
separation of the clusters."""

from .metrics.crispness import partition_coefficient, partition_entropy
from .metrics.validity import (
    calinski_harabasz,
    davies_bouldin,
    fukuyama_sugeno,
    fuzzy_silhouette,
    indices,
    simplified_silhouette,
    xie_beni,
)

__all__ = [
    "calinski_harabasz",
    "davies_bouldin",
    "fukuyama_sugeno",
    "fuzzy_silhouette",
    "indices",
    "partition_coefficient",
    "partition_entropy",
    "simplified_silhouette",
    "xie_beni",
]
