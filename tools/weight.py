"""The weight of the library, in lines of code at 100 columns, beside that of the last release:
python -m tools.weight.

Comments, docstrings and blank lines do not count. The number is looked at in review: it falls in a
change that adds no feature, and a change that adds one says how much.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "cmeans"
RELEASE, AT_RELEASE = "1.0.0", 35_188  # lines of code when it was cut, formatted as today
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Return the number of lines of code of a Python source."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        row
        for token in tokens
        if token.type not in NO_CODE
        for row in range(token.start[0], token.end[0] + 1)
    }
    return len(code - _docstring_rows(ast.parse(text)))


def _docstring_rows(tree: ast.Module) -> set[int]:
    rows: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            first = node.body[0]
            rows.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return rows


def weights() -> Counter[str]:
    """Return the lines of code of each folder of the package, the public names as "cmeans"."""
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parts
        found[folder[0] if len(folder) > 1 else "cmeans"] += code_lines(
            path.read_text(encoding="utf-8")
        )
    return found


def main() -> None:
    found = weights()
    total = sum(found.values())
    print(f"{total:,} lines of code in src, {total - AT_RELEASE:+,} since {RELEASE}")
    print(", ".join(f"{folder} {lines:,}" for folder, lines in found.most_common()))


if __name__ == "__main__":
    main()
