"""Graphs of rows: over landmarks, or given; their eigenvectors, and the refinement of their
cuts; nearest neighbours of all rows, and minimum spanning trees."""
