"""Ways to a solution: sweeps from every start, clusters that adapt."""
