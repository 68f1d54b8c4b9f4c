"""Stages: what a fit may do beside sweeping, one file each."""
