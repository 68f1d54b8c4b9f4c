"""The command `cmeans`: cluster files from the shell. `main` is its entry point."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from .loading import nothing_is_garbage

_EXTRA = ("typer", "rich", "pyarrow")  # installed by the extra `cli` only


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (None: those of the process) and return its exit code."""
    for missing in (name for name in _EXTRA if find_spec(name) is None):
        print(
            f'cmeans: the command needs {missing}; run: python -m pip install "cmeans[cli]"',
            file=sys.stderr,
        )
        return 2
    try:
        with nothing_is_garbage():
            from .run import run

        # loads what a command needs
        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        print("cmeans: interrupted; nothing was written.", file=sys.stderr)
        return 130
