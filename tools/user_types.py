"""Hold what type checkers know of results to what users are promised: python -m tools.user_types.

The Python of the pages that a reader begins with is checked by mypy and pyright, each page as one
script, and the scripts in `tests/typing` by pyright; `mypy` alone checks those.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "tests" / "typing"
PAGES = ("README", "docs/index", "docs/start", "docs/choosing", "docs/explore", "docs/production")


def write_scripts(folder: Path) -> list[str]:
    """Write the Python of each page as a script; return their paths."""
    written = []
    for page in PAGES:
        text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M))
        script = folder / f"page_{Path(page).name.lower()}.py"
        script.write_text(code, encoding="utf-8")
        written.append(str(script))
    return written


# What scikit-learn's loaders return depends on their arguments, which it has no types for.
UNTYPED_APART = {"useLibraryCodeForTypes": False, "reportMissingImports": False}
# functions of a page have no types of their own
UNTYPED = ("--allow-untyped-defs", "--allow-untyped-calls")


def run(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=False).returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        pages = write_scripts(Path(folder))
        settings = Path(folder) / "pyrightconfig.json"
        settings.write_text(json.dumps(UNTYPED_APART), encoding="utf-8")
        # names of a page are used again, as a reader's are in a notebook
        codes = [run("mypy", "--allow-redefinition", *UNTYPED, *pages)]
        python = ("--pythonpath", sys.executable)
        codes += [run("pyright", *python, *words) for words in (("-p", folder), (str(SCRIPTS),))]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
