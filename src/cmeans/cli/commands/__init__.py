"""The commands: the arguments and options of each, and the function that does its work."""

from __future__ import annotations

from ..registration import app
from . import fit, index, models, pages, select, stream

# `app` has all commands, once their modules are loaded
__all__ = ["app", "fit", "index", "models", "pages", "select", "stream"]
