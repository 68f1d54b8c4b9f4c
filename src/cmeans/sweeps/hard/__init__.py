"""Sweeps and last passes of hard rules that leave most distances out."""
