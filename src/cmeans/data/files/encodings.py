"""Text of any encoding as UTF-8: recognised by its first bytes, or as the user says."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain

from ..row_source import RowsError
from .schema import Spelling

UTF8 = "utf-8"
# bytes that Windows-1252 and its relatives have for letters, and UTF-8 does not have alone
WINDOWS = "windows-1252"
_MARKS = {  # the longer marks first: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LOOKED_AT = 4096  # bytes in which every second one is nothing, of UTF-16 without a mark


def in_utf8(
    where: str, blocks: Iterator[bytes | None], given: str | None, spell: Spelling, whole: bool
) -> tuple[str, Iterator[bytes | None]]:
    """Return the encoding of the bytes in some blocks, and the blocks in UTF-8; None is passed
    on. `whole`: they are those of a file, of whose letters the first ones tell; one byte too many
    in a stream costs one line."""
    start = list[bytes | None]()
    for block in blocks:
        start.append(block)
        if block:
            break
    first = (start[-1] if start else None) or b""
    name = _encoding_of(first, whole) if given is None else _known(where, given, spell)
    every = chain(start, blocks)
    return name, every if name == UTF8 else _decoded(where, every, name, spell)


def _encoding_of(start: bytes, whole: bool) -> str:
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    some = start[:_LOOKED_AT]
    for name, nothing, text in (
        ("utf-16-le", some[1::2], some[::2]),
        ("utf-16-be", some[::2], some[1::2]),
    ):
        if nothing.count(0) > 0.6 * len(text) > 0 and not text.count(0):
            return name
    if not whole or start.isascii() or b"\0" in some or _is(UTF8, start):
        return UTF8
    return WINDOWS if _is(WINDOWS, start) else UTF8


def _is(name: str, start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder(name)().decode(start)  # the last letter may go on
    except UnicodeDecodeError:
        return False
    return True


def _known(where: str, given: str, spell: Spelling) -> str:
    try:
        name = codecs.lookup(given).name
        "\n".encode(name)
    except (LookupError, UnicodeError):
        raise RowsError(
            f"{spell('encoding', given)}: is no encoding of text that is known; utf-8, utf-16, "
            f"windows-1252 and latin-1 are, and others, for {where}."
        ) from None
    return UTF8 if name == UTF8 else name


def _decoded(
    where: str, blocks: Iterator[bytes | None], name: str, spell: Spelling
) -> Iterator[bytes | None]:
    decoder = codecs.getincrementaldecoder(name)()
    for block in chain(blocks, [b""]):
        if block is None:
            yield None
            continue
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            raise RowsError(
                f"{where}: is not text in {name} ({error}); say with {spell('encoding')} in what "
                "it is."
            ) from None
        yield text.encode()
