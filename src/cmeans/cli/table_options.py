"""Options that say how a table is read: which columns, how they are written, what is made of them.
Those of a fit are kept with its model, so that prediction has few of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from ..data.files.notation import TextFormat
from ..data.recipe.front import TableWords
from .app import option
from .errors import InputError
from .option_values import DATA
from .rows import ReadOptions

Columns = Annotated[
    list[str] | None,
    option(
        DATA,
        "Columns that are data: names, positions from 0, ranges like 0-9; may be repeated.",
        metavar="a,b,c",
        shown="all",
    ),
]
Weight = Annotated[
    str | None,
    option(DATA, "Column with the weight of each row; in an npz also an array.", metavar="COLUMN"),
]
Dtype = Annotated[
    Literal["keep", "float32", "float64"],
    option(
        DATA,
        "keep: float32 where every column is float32, float16, int8 or uint8, else float64.",
        "--dtype",
    ),
]
HeaderLine = Annotated[
    bool | None,
    option(
        DATA,
        "Whether the first line of a CSV holds names.",
        "--header/--no-header",
        shown="names are text, data numbers",
    ),
]
Scale = Literal["none", "standard", "unit", "robust", "log", "auto"]


def _texts(text: str, metavar: str, name: str | None = None) -> Any:
    """Return an option of names or pairs, which may be repeated or have commas between them."""
    names = () if name is None else (name,)
    return Annotated[list[str] | None, option(DATA, text, *names, metavar=metavar, shown=False)]


def _text(text: str, name: str, metavar: str, shown: str | bool = False) -> Any:
    return Annotated[str | None, option(DATA, text, name, metavar=metavar, shown=shown)]


def scale_option(
    shown: str,
    text: str = "standard: mean 0, deviation 1; unit: [0, 1]; robust: by medians and quartiles; "
    "log: standard, after the logarithm of long tails; auto: what the rows speak for.",
) -> tuple[Any, None]:
    """Return the option of the scale, with the one that a command takes where none is given."""
    return Annotated[Scale | None, option(DATA, text, shown=shown)], None


Encoding = _text("Of text files: windows-1252, utf-16, ...", "--encoding", "NAME", "recognised")
Decimal = _text("What stands before decimals: , or .", "--decimal", "MARK", "recognised")
Thousands = _text("What stands between thousands.", "--thousands", "MARK", "recognised")
OF_EVERY_TABLE: dict[str, tuple[Any, Any]] = {  # with their defaults
    "columns": (Columns, None),
    "identifier": (
        _text(
            "Column that names the rows: no data, it comes first in the file of labels.",
            "--id",
            "COLUMN",
        ),
        None,
    ),
    "encoding": (Encoding, None),
    "array": (_text("Which array of an npz.", "--array", "NAME", "X, or the only one"), None),
    "bits": (
        Annotated[
            int | None,
            option(
                DATA,
                "Columns of packed bits, eight in each byte of an npy, npz, bvecs, u8bin or i8bin.",
                "--bits",
                min=1,
                metavar="N",
                shown="numbers",
            ),
        ],
        None,
    ),
    "header": (HeaderLine, None),
    "strict": (
        Annotated[
            bool,
            option(
                DATA,
                "A warning of the rows, such as one of empty cells, columns left out or categories "
                "not seen before, is an error, and nothing is written.",
                "--strict",
            ),
        ],
        False,
    ),
}
OF_VECTORS = {name: kind for name, kind in OF_EVERY_TABLE.items() if name != "identifier"}
OF_LABELS: dict[str, tuple[Any, Any]] = {
    "with_rows": (
        Annotated[
            bool,
            option(DATA, "The file of labels holds the columns of the rows too.", "--with-rows"),
        ],
        False,
    )
}
OF_A_FIT: dict[str, tuple[Any, Any]] = {
    "weight": (Weight, None),
    "dtype": (Dtype, "keep"),
    "scale": scale_option("none; auto where the method is chosen too"),
    "categorical": (
        _texts(
            "Columns of categories: each category becomes a column of zeros and ones, which "
            "--scale leaves as they are.",
            "a,b",
        ),
        None,
    ),
    "dates": (
        _texts("Columns of dates, as days; a format where it is not clear.", "a,b=%d.%m.%Y"),
        None,
    ),
    "cyclic": (
        _texts("Columns of hours and the like as points of a circle.", "hour=24,weekday=7"),
        None,
    ),
    "latlon": (
        _texts("Latitude and longitude in degrees, as points of the sphere.", "lat,lon"),
        None,
    ),
    "column_weight": (
        _texts("As how many columns alike a column counts, after --scale.", "spend=2,age=0.5"),
        None,
    ),
    "missing_values": (
        _texts(
            "Cells that stand for nothing, beside empty ones and NA; none: no others.", "?,-,-9999"
        ),
        None,
    ),
    "decimal": (Decimal, None),
    "thousands": (Thousands, None),
}
OF_STREAMS: dict[str, tuple[Any, Any]] = {
    **{name: OF_EVERY_TABLE[name] for name in ("columns", "encoding", "header")},
    **OF_A_FIT,
    "scale": scale_option("none", "As of fit, by the first chunk; kept for all that follow."),
}


@dataclass(frozen=True)
class TableOptions:
    """The options of a table that were given, by name."""

    given: Mapping[str, Any]

    def reading(self, file: Path, weight: str | None = None) -> ReadOptions:
        """Return how a file is read."""
        given = self.given
        dtype = given.get("dtype", "keep")
        return ReadOptions(
            file,
            tuple(given["columns"] or ()),
            given.get("weight", weight),
            given.get("array"),
            None if dtype == "keep" else dtype,
            given["header"],
            name=given.get("identifier"),
            with_rows=given.get("with_rows", False),
            written=TextFormat(given["encoding"]),
            bits=given.get("bits"),
        )

    def scale(self, usual: str = "none") -> str:
        """Return the scale that was given, or the usual one."""
        return str(self.given["scale"] or usual)

    @property
    def words(self) -> TableWords:
        """Return all that is said of the columns."""
        given = self.given
        missing = given["missing_values"]
        return TableWords(
            names_in(given["categorical"]),
            names_in(given["dates"]),
            _numbers("--cyclic", given["cyclic"], "hour=24"),
            _pairs(given["latlon"]),
            _numbers("--column-weight", given["column_weight"], "spend=2"),
            *marks(given["decimal"], given["thousands"]),
            None if missing is None else names_in(missing),
            given["encoding"],
        )


def names_in(words: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for word in words or () for name in word.split(",") if name.strip())


def _numbers(flag: str, words: Iterable[str] | None, example: str) -> dict[str, float]:
    """Return the numbers of `name=number`."""
    found = dict[str, float]()
    for word in names_in(words):
        name, _, number = word.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise InputError(f"{flag} {word}: give a column and a number, e.g. {flag} {example}.")
    return found


def _pairs(words: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    names = names_in(words)
    if len(names) % 2:
        raise InputError(
            f"--latlon {','.join(names)}: give two columns, e.g. --latlon latitude,longitude."
        )
    return tuple(zip(names[::2], names[1::2], strict=True))


def marks(decimal: str | None, thousands: str | None) -> tuple[str | None, str | None]:
    """Return what stands before decimals and between thousands, checked."""
    return _mark("--decimal", decimal, ",."), _mark("--thousands", thousands)


def _mark(flag: str, mark: str | None, known: str = "") -> str | None:
    if mark is None or (len(mark) == 1 and not mark.isalnum() and (mark in known or not known)):
        return mark
    one_of = f"one of {' and '.join(known)}" if known else "one character that is no digit"
    raise InputError(f"{flag} {mark}: give {one_of}.")
