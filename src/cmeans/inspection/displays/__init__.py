"""Displays in the manner of scikit-learn's: made from an estimator or from arrays, drawn by `plot`.
A display, a file."""
