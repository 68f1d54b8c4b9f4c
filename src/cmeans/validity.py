"""Quality of a clustering without a known truth: crispness of the memberships, compactness and separation of the clusters."""

from .metrics.validity import partition_coefficient, partition_entropy, simplified_silhouette, xie_beni

__all__ = ["partition_coefficient", "partition_entropy", "simplified_silhouette", "xie_beni"]
