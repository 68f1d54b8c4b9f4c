"""Safe storage: atomic files, the codec of objects, and the writer of results by row."""
