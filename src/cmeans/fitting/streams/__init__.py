"""Fits of streams: chunk after chunk."""
