"""Passes over rows that a Dask cluster holds."""
