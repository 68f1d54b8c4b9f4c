"""The recipe by which the columns of a table become rows of numbers: recognised, made, scaled, and
kept with a model."""
