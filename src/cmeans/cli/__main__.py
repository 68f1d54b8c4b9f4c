"""Entry point of `python -m cmeans.cli`."""

from . import main

raise SystemExit(main())
