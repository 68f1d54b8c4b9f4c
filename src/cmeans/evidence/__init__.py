"""Evidence that compares spaces and numbers of clusters: what rows say of their partitions."""
