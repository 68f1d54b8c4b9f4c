"""The running process: signals, progress messages, callbacks, warnings."""
