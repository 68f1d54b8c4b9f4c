"""`Address`: a file in a store, which answers what is asked of a path on this machine."""

from __future__ import annotations

import errno
import io
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial, total_ordering
from glob import has_magic
from pathlib import Path, PurePosixPath
from stat import S_ISDIR
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from ...runtime.shown_addresses import USER, for_people
from ...runtime.user_warnings import one_line
from ..row_source import RowsError
from .fetched import Fetched, FetchedBlocks, FetchedFile
from .stores import (
    BY_ARROW,
    OPTIONS,
    ArrowStore,
    FinalError,
    FsspecStore,
    KnownFile,
    ObjectStore,
    Reader,
    WebStore,
)

_WEB = ("http", "https")
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between tries
_FRESH = 1.0  # seconds for which what is known of a file is believed
_LISTED = 60.0  # for which a list is until a file of it is opened, as to open many takes long
_BUFFER = 2**17
_fetched: weakref.WeakValueDictionary[Any, Fetched] = weakref.WeakValueDictionary()
Answer = TypeVar("Answer")


@total_ordering
class Address(os.PathLike[str]):
    """A file or a folder in a store: S3, Google Cloud Storage and Azure through PyArrow, the web,
    and what else fsspec knows. It is taken wherever a path is, and so is its text alone.

    Names are taken to the letter: nothing in them is decoded. What people are shown of an address,
    in messages, logs, models and reports, has no user, password or query.

    Parameters
    ----------
    url : str
        Such as ``"s3://bucket/folder/rows.parquet"``. A user and password before the host are keys
        to S3; a query is a part of addresses of the web, and holds options elsewhere
        (``?region=eu-west-1&endpoint_override=localhost:9000``).
    storage_options : dict, default None
        For what opens the store: PyArrow's arguments (`access_key`, `secret_key`, `region`,
        `endpoint_override`, `anonymous` ...; the names that s3fs has are known too) or those of
        fsspec. None: what the environment says, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL.

    Raises
    ------
    ValueError
        When it is used: for a store that is not known, whose answer is no, or that does not answer
        in several tries.
    ImportError
        When it is used: where what opens the store is not installed.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.Address("s3://KEY:SECRET@bucket/rows.parquet", {"region": "eu-west-1"})
    Address('s3://bucket/rows.parquet')
    """

    def __init__(self, url: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self.url, self.storage_options = url, dict(storage_options or {})
        self.scheme, _, rest = url.partition("://")
        user = USER.match(url)
        rest = rest if user is None else url[user.end() :]
        self._user = None if user is None else user["user"]
        self._options, self._query = self.storage_options, ""
        path, mark, query = rest.rpartition("?")
        if mark and self.scheme in _WEB:
            path, _, query = rest.partition("?")
            self._query, rest = f"?{query}", path
        elif mark and {word.partition("=")[0] for word in query.split("&")} <= OPTIONS:
            self._query, rest = f"?{query}", path
            self._options = {**dict(parse_qsl(query)), **self.storage_options}
        self._root, _, self._key = rest.partition("/")
        self._store: ObjectStore | None = None
        self._known: tuple[float, KnownFile] | None = None  # since when it is believed
        self._opening = threading.Lock()
        # what it was when it was listed, and its place among the files that were listed with it
        self._listed: KnownFile | None = None
        self._place: tuple[FetchedBlocks | None, int] = None, 0

    def _with_key(self, key: str, known: KnownFile | None = None) -> Address:
        user = "" if self._user is None else f"{self._user}@"
        url = f"{self.scheme}://{user}{self._root}/{key}{self._query}"
        other = Address(url, self.storage_options)
        other._store = self._store
        if known is not None:
            other._known = (time.monotonic() + _LISTED, known)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url, self.storage_options)

    def __str__(self) -> str:
        return for_people(self.url.removesuffix(self._query))

    __fspath__ = __str__

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def _identity(self) -> tuple[str, str]:
        return self.url, repr(sorted(self.storage_options.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self._identity() == other._identity()

    def __lt__(self, other: Address) -> bool:
        return self._identity() < other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    # What a path of this machine answers, by its names.

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self._key or self._root)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._pure.name

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return self._pure.suffix

    @property
    def suffixes(self) -> list[str]:
        """The endings of the name."""
        return self._pure.suffixes

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the path."""
        return self._pure.parts

    @property
    def parent(self) -> Address:
        """The folder."""
        return self._with_key(self._key.rstrip("/").rpartition("/")[0])

    parents: tuple[Address, ...] = ()  # that one might have to make: a store makes folders itself

    def __truediv__(self, name: str) -> Address:
        return self._with_key(f"{self._key.rstrip('/')}/{name}".lstrip("/"))

    def with_name(self, name: str) -> Address:
        """Return the file of another `name` beside this one."""
        return self.parent / name

    def is_symlink(self) -> bool:
        """Return False."""
        return False

    def is_fifo(self) -> bool:
        """Return False."""
        return False

    def stat(self) -> KnownFile:
        """Return what is known of the file, which is asked for anew a second after it was first
        believed; what a list says may be up to a minute old then."""
        known = self._found()
        if known is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        return known

    def _found(self) -> KnownFile | None:
        now = time.monotonic()
        if self._known is not None:
            since, known = self._known
            since = min(since, now)
            self._known = since, known
            if now - since < _FRESH:
                return known
        found = self._tried("read", lambda store: store.info(self._path))
        self._known = None if found is None else (time.monotonic(), found)
        return found

    def exists(self) -> bool:
        """Return True where there is such a file or folder."""
        return self._found() is not None

    def is_dir(self) -> bool:
        """Return True of a folder."""
        found = self._found()
        return found is not None and S_ISDIR(found.st_mode)

    def is_file(self) -> bool:
        """Return True of a file."""
        return self.exists() and not self.is_dir()

    def open(self, mode: str = "rb", buffering: int = -1, encoding: str | None = None) -> Any:
        """Open the file to read its bytes, which is the only `mode`, with some `buffering` or none;
        there is no `encoding`."""
        found = self.stat()
        if mode != "rb":
            raise OSError(
                errno.EROFS, "it is written whole, from a file of this machine", str(self)
            )
        key = (self._identity(), found)
        with self._opening:
            fetched = _fetched.get(key)
            if fetched is None:
                blocks, start = self._place if found == self._listed else (None, 0)
                fetched = _fetched[key] = Fetched(self._reading(), found.st_size, blocks, start)
            self._kept = fetched  # for as long as the address is there
        raw = FetchedFile(fetched)
        return raw if buffering == 0 else io.BufferedReader(raw, _BUFFER)

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the text in the file, of an `encoding`."""
        with self.open() as opened:
            return str(opened.read().decode(encoding))

    def iterdir(self) -> Iterator[Address]:
        """Yield the files in the folder."""
        return (file for name, file in self._files() if "/" not in name)

    def below(self) -> Iterator[Address]:
        """Yield the files in the folder and the folders in it that are not hidden."""
        for name, file in self._files():
            if not any(_is_hidden(part) for part in name.split("/")):
                yield file

    def matching(self) -> Iterator[Address]:
        """Yield the files that the address means as a pattern, by the rules of `glob`."""
        parts = self._key.split("/")
        fixed = next(at for at, part in enumerate(parts) if has_magic(part))
        for name, file in self._with_key("/".join(parts[:fixed]))._files():
            if _fits(name.split("/"), parts[fixed:]):
                yield file

    def _files(self) -> Iterator[tuple[str, Address]]:
        """Yield the files below a folder, and their paths from there on; stores mark a folder by a
        file of no bytes whose name ends as that of a folder."""
        folder = self._with_key(self._key.rstrip("/"))
        files = self._tried("read", lambda store: list(store.below(folder._path)))
        start, blocks = 0, FetchedBlocks(sum(found.st_size for _, found in files))
        for name, found in files:
            if name and not name.endswith("/"):
                file = folder._with_key(f"{folder._key}/{name}".lstrip("/"), found)
                file._listed, file._place = found, (blocks, start)
                start += found.st_size
                yield name, file

    def mkdir(self, parents: bool = True, exist_ok: bool = True) -> None:
        """Do nothing: a store makes its folders itself, whatever `parents` and `exist_ok` say."""

    def rmdir(self) -> None:
        """Do nothing: a folder is gone with its last file."""

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file; an error where there is none, but with `missing_ok`."""
        self._known = None
        try:
            self._written(lambda store: store.remove(self._path))
        except FileNotFoundError:
            if not missing_ok:
                raise

    def put(self, file: Path) -> None:
        """Store a file of this machine under the address: it is there whole, or as it was before;
        OSError where it cannot be."""
        size = file.stat().st_size

        def stored(store: ObjectStore) -> None:
            store.put(self._path, file)
            found = store.info(self._path)
            if found is None or found.st_size != size:
                there = "none" if found is None else f"{found.st_size:,}"
                raise OSError(f"of {size:,} bytes {there} arrived")

        self._known = None
        self._written(stored)

    @property
    def _path(self) -> str:
        """The name that the store has for it."""
        if self.scheme in BY_ARROW:
            return f"{self._root.partition('@')[0]}/{self._key}".rstrip("/")
        return self.url if self.scheme in _WEB else self.url.removesuffix(self._query)

    def _reading(self) -> Reader:
        """Return what reads bytes of the file, which is opened once."""
        opened = list[Reader]()

        def read(start: int, stop: int, store: ObjectStore) -> bytes:
            if not opened:
                opened.append(store.opened(self._path))
            data = opened[0](start, stop)
            if len(data) != stop - start:
                raise OSError(f"of {stop - start:,} bytes {len(data):,} came")
            return data

        return lambda start, stop: self._tried("read", partial(read, start, stop))

    def _written(self, ask: Callable[[ObjectStore], object]) -> None:
        """Ask the store to change something; an OSError where that fails."""
        try:
            self._tried("written", ask)
        except RowsError as error:
            reason = str(error).removeprefix(f"{self}: cannot be written").strip(", ().")
            raise OSError(reason) from None

    def _tried(self, done: str, ask: Callable[[ObjectStore], Answer]) -> Answer:
        """Ask the store, several times where it does not answer; RowsError in one line."""
        for pause in (*_PAUSES, None):
            try:
                if self._store is None:
                    self._store = self._opened()
                return ask(self._store)
            except (RowsError, FileNotFoundError, ImportError):
                raise
            except (FinalError, ValueError, TypeError, LookupError, PermissionError) as error:
                raise RowsError(f"{self}: cannot be {done} ({self._said(error)}).") from None
            except Exception as error:  # each store has its own
                if pause is None:
                    tries = f"tried {len(_PAUSES) + 1} times"
                    raise RowsError(
                        f"{self}: cannot be {done}, {tries} ({self._said(error)})."
                    ) from None
            time.sleep(pause)
        raise AssertionError("the last try has no pause")

    def _said(self, error: BaseException) -> str:
        """Return what an error says, without keys."""
        text = one_line(error, most=300) or type(error).__name__
        secrets = [self._query, self._user, *(self._user or "").split(":")]
        secrets += [value for value in self._options.values() if isinstance(value, str)]
        for secret in sorted((word for word in secrets if word), key=len, reverse=True):
            text = text.replace(secret, "...") if len(secret) > 3 else text
        return for_people(text)

    def _opened(self) -> ObjectStore:
        if self.scheme in _WEB:
            return WebStore()
        if self.scheme in BY_ARROW:
            return ArrowStore(self.scheme, self._root, self._user, self._options)
        try:
            return FsspecStore(self.url.removesuffix(self._query), self._options)
        except ImportError as error:
            first = (error.name or "").partition(".")[0]
            if first == "fsspec":
                advice = "is read through fsspec; run: python -m pip install fsspec"
            else:
                advice = f"cannot be read as something is not installed ({self._said(error)})"
            raise ModuleNotFoundError(f"{self}: {advice}", name=error.name) from None


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def _fits(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """True where the parts of a path are those of a pattern; `**` stands for any number of them."""
    if not patterns or not names:
        return not names and not patterns
    first, *others = patterns
    if first == "**":
        return any(_fits(names[at:], others or ["*"]) for at in range(len(names)))
    hidden = names[0].startswith(".") and not first.startswith(".")
    return not hidden and fnmatchcase(names[0], first) and _fits(names[1:], others)
