"""Steps that all estimators share, from constructor parameters and X to fitted attributes."""
