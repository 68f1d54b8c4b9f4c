"""Havens, Chitta, Jain, Jin 2011."""
