"""Preparation of the rows of a fit: equal ones joined, what is told of their clusters."""
