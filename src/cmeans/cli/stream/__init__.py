"""`cmeans stream`: rows in as they arrive, labels out as they are computed, and a state that is
saved between runs."""
