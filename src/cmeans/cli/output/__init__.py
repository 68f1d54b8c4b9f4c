"""Output of the command: to people, to standard output, and into files."""
