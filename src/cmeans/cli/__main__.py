"""`python -m cmeans.cli` is the command too."""

from . import main

raise SystemExit(main())
