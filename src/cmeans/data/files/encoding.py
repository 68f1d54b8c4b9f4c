"""Messages about text files that are not UTF-8."""

from __future__ import annotations

import codecs

from ..row_source import RowsError

MARK = codecs.BOM_UTF8  # some programs write it before the first character
CONVERT = "iconv -f latin1 -t utf-8 FILE > NEW"
_OTHERS = {  # the longer marks first: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def first_text(where: str, line: bytes, number: int) -> str:
    """Return the first non-empty line of a file as text; its byte order mark is removed already."""
    for mark, name in _OTHERS.items():
        if line.startswith(mark):
            raise RowsError(f"{where}: is text in {name.upper()}, not UTF-8; convert it first, e.g. iconv -f {name} -t utf-8 FILE > NEW.")
    if b"\0" in line:
        raise RowsError(
            f"{where}: is not text in UTF-8 (NUL bytes in line {number}); if it is UTF-16, convert it first, e.g."
            " iconv -f utf-16le -t utf-8 FILE > NEW."
        )
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{line[error.start]:02X} at place {error.start + 1} of line {number}"
        raise RowsError(f"{where}: is not text in UTF-8 ({wrong}); convert it first, e.g. {CONVERT}.") from None


def is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
