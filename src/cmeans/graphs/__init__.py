"""Graphs of rows: over landmarks, or given; their eigenvectors, and the refinement of their
cuts."""
