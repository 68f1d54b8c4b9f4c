"""What is done to the rows of a fit before it: equal ones joined, what is told of their clusters."""
