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
    """Write the Python of each page as a script of a package `pages`, for which pyproject.toml has
    settings of mypy; return their paths."""
    folder.mkdir()
    (folder / "__init__.py").touch()
    written = []
    for page in PAGES:
        text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M))
        script = folder / f"{Path(page).name.lower()}.py"
        script.write_text(code, encoding="utf-8")
        written.append(str(script))
    return written


# What scikit-learn's loaders return depends on their arguments, which it has no types for.
UNTYPED_APART = {"useLibraryCodeForTypes": False, "reportMissingImports": False}


def run(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=False).returncode


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        pages = write_scripts(Path(folder) / "pages")
        settings = Path(folder) / "pyrightconfig.json"
        settings.write_text(json.dumps(UNTYPED_APART), encoding="utf-8")
        codes = [run("mypy", *pages)]
        if run("pyright", "--version"):  # it is fetched when it is first asked for
            print("notice: pyright could not be fetched; mypy alone has read users' code")
            return int(any(codes))
        python = ("--pythonpath", sys.executable)
        codes += [run("pyright", *python, *words) for words in (("-p", folder), (str(SCRIPTS),))]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
