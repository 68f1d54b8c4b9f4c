"""What the command writes: to people, to standard output, and into files."""
