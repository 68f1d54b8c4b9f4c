"""One pass over the rows: its sums, generic and native, and the last pass."""
