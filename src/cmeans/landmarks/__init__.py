"""Landmarks: their choice, their number, and the error that they cause (the certificate)."""
