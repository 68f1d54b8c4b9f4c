"""`cmeans stream`: rows in as they come, labels out as they are found, and a state that outlives the process."""
