"""One pass over the rows: its sums, generic and compiled, and the last pass."""
