"""The command by `python -m cmeans`."""

import runpy

runpy.run_module("cmeans.cli", run_name="__main__")
