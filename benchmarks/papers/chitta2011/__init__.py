"""Chitta, Jin, Havens, Jain: Approximate kernel k-means (KDD 2011)."""
