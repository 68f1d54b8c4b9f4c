"""What rows say of their partitions: evidence that compares spaces and numbers of clusters."""
