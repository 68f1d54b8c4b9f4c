"""The contestants. Each file knows one package: how it is called for each kind of work, and nothing
else.

A player takes a job (rows, start, number of sweeps) and gives back two functions: `run`, which is
timed, and `answer`, which turns what `run` returned into arrays for the judge (labels, centres) and
is not. What rows need before a package takes them (transposing, another dtype) is done outside
`run`. `worker.py` runs one player in a process of its own; nothing here imports from outside this
folder.
"""
