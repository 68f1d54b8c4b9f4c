"""The page of `report` and `explore`: its template, style and scripts, and the facts on it."""
