"""Many passes: the fixed point, its acceleration, samples, restarts, clusters that adapt."""
