"""Stores of files at addresses: S3, Google and Azure through PyArrow, the web through Python
itself, and others through fsspec."""

from __future__ import annotations

import http.client
import os
import re
import urllib.error
import urllib.request
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from stat import S_IFDIR, S_IFREG
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

Reader = Callable[[int, int], bytes]
_PIECE = 2**24  # bytes that are sent at a time
_PATIENCE = 30.0  # seconds without a word from a server of the web


@dataclass(frozen=True)
class KnownFile:
    """Size and time of a file, by the names that `os.stat` has."""

    st_size: int
    st_mtime_ns: int = 0
    st_ino: int = (
        0  # of what tells a file from another of the same name, where there is such a thing
    )
    st_mode: int = S_IFREG


FOLDER = KnownFile(0, st_mode=S_IFDIR)


class FinalError(OSError):
    """An error that a second try would not mend, such as a key that is not accepted."""


class ObjectStore(ABC):
    """Files by their paths, which are names to the letter."""

    @abstractmethod
    def info(self, path: str) -> KnownFile | None:
        """Return what is known of a file or a folder; None where there is neither."""

    @abstractmethod
    def below(self, path: str) -> Iterator[tuple[str, KnownFile]]:
        """Yield the files in a folder and the folders in it, by their paths from there on."""

    @abstractmethod
    def opened(self, path: str) -> Reader:
        """Return what gives bytes start ... stop - 1 of a file, or fewer where the file ends or the
        answer does."""

    @abstractmethod
    def put(self, path: str, file: Path) -> None:
        """Store a file of this machine, which is there whole or not at all."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file; FileNotFoundError where there is none."""


# what PyArrow calls that which fsspec and others call so
_SPELLINGS = {
    "key": "access_key",
    "aws_access_key_id": "access_key",
    "secret": "secret_key",
    "aws_secret_access_key": "secret_key",
    "token": "session_token",
    "aws_session_token": "session_token",
    "anon": "anonymous",
    "endpoint_url": "endpoint_override",
    "aws_endpoint_url": "endpoint_override",
    "aws_region": "region",
}
BY_ARROW = {"s3": "S3", "s3a": "S3", "gs": "Gcs", "gcs": "Gcs", "abfs": "Azure", "abfss": "Azure"}
# that may stand in a query behind an address
OPTIONS = {
    *_SPELLINGS,
    *_SPELLINGS.values(),
    *("scheme", "role_arn", "force_virtual_addressing", "allow_bucket_creation"),
    *("account_name", "account_key", "sas_token", "project_id"),
}
# of stores, in their errors, what a second try does not mend
_FINAL = re.compile(
    r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_SIGNATURE"
    r"|NO_SUCH_BUCKET|EXPIRED_TOKEN|code: 40[134]\b|HTTP status 40[13]\b"
    r"|Azure Error: \[\w+\] 40[134]\b|in Base64 encoded string"
)


class ArrowStore(ObjectStore):
    """S3, Google Cloud Storage and Azure, as PyArrow has them."""

    def __init__(
        self, scheme: str, root: str, user: str | None, options: Mapping[str, Any]
    ) -> None:
        """`root`: bucket or container; `user`: KEY:SECRET."""
        from ..arrow_library import file_systems

        self._fs = file_systems()
        words = {
            _SPELLINGS.get(name, name): value == "true" if value in ("true", "false") else value
            for name, value in options.items()
        }
        kind = BY_ARROW[scheme]
        if kind == "S3":
            words = _of_s3(self._fs, root, user, words)
        elif kind == "Gcs":  # who asks a store tries again; else it alone tries for 15 minutes
            words.setdefault("retry_time_limit", timedelta(seconds=1))
        elif kind == "Azure" and "@" in root:
            words = {"account_name": root.partition("@")[2].partition(".")[0], **words}
        if kind == "Azure" and "account_name" not in words:
            raise ValueError(
                f"no account is named: {scheme}://{root}@ACCOUNT.dfs.core.windows.net/..., or "
                "account_name in the options"
            )
        self._store: Any = getattr(self._fs, f"{kind}FileSystem")(**words)

    def info(self, path: str) -> KnownFile | None:
        with _final_errors():
            return self._found(self._store.get_file_info(path))

    def _found(self, info: Any) -> KnownFile | None:
        if info.type == self._fs.FileType.NotFound:
            return None
        if info.type == self._fs.FileType.Directory:
            return FOLDER
        # Some servers list parts of seconds, which their answers about one file have not.
        return KnownFile(info.size, (info.mtime_ns or 0) // 10**9 * 10**9)

    def below(self, path: str) -> Iterator[tuple[str, KnownFile]]:
        with _final_errors():
            every = self._store.get_file_info(self._fs.FileSelector(path, recursive=True))
        for info in every:
            found = self._found(info)
            if found is not None and found is not FOLDER:
                yield info.path.removeprefix(path).lstrip("/"), found

    def opened(self, path: str) -> Reader:
        def read(start: int, stop: int) -> bytes:
            with _final_errors():
                return bytes(file.read_at(stop - start, start))

        with _final_errors():
            file = self._store.open_input_file(path)  # which asks the store how long it is
        return read

    def put(self, path: str, file: Path) -> None:
        with (
            _final_errors(),
            file.open("rb") as opened,
            self._store.open_output_stream(path) as out,
        ):
            while piece := opened.read(_PIECE):
                out.write(piece)

    def remove(self, path: str) -> None:
        with _final_errors():
            self._store.delete_file(path)


@contextmanager
def _final_errors() -> Iterator[None]:
    """Make errors that a second try would not mend a FinalError."""
    try:
        yield
    except Exception as error:  # PyArrow has kinds of its own beside OSError
        if _FINAL.search(str(error)):
            raise FinalError(str(error)) from None
        raise


def _of_s3(fs: Any, bucket: str, user: str | None, words: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of PyArrow's S3: keys in the address, the server that the environment
    names, and the region where the bucket is."""
    if user is not None:
        key, _, secret = user.partition(":")
        words = {"access_key": unquote(key), "secret_key": unquote(secret), **words}
    told = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    server = words.pop("endpoint_override", told)
    if server:
        scheme, divider, host = server.rpartition("://")
        words["endpoint_override"] = host.rstrip("/")
        if divider:
            words.setdefault("scheme", scheme)
    elif not {"AWS_REGION", "AWS_DEFAULT_REGION"} & os.environ.keys() and "region" not in words:
        with suppress(OSError):  # what asks the store next meets it too
            words["region"] = fs.resolve_s3_region(bucket)
    # who asks a store tries again
    words.setdefault("retry_strategy", fs.AwsStandardS3RetryStrategy(max_attempts=1))
    return words


# where a file appears when all of it has come; elsewhere it takes its name afterwards
_PUT_WHOLE = {*BY_ARROW, "memory", "az", "adl", "hf", "oci", "oss", "b2", "r2"}


class FsspecStore(ObjectStore):
    """A store of any kind that fsspec knows."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        from fsspec import core  # type: ignore[import-untyped,unused-ignore]

        self._fsspec, self._options = core, dict(options)
        self._store: Any = core.url_to_fs(url, **options)[0]

    def info(self, path: str) -> KnownFile | None:
        self._store.invalidate_cache()
        try:
            found = self._store.info(path)
        except FileNotFoundError:
            return None
        return _of_fsspec(found)

    def below(self, path: str) -> Iterator[tuple[str, KnownFile]]:
        self._store.invalidate_cache()
        top = self._fsspec.url_to_fs(path, **self._options)[1].strip("/")
        for name, found in self._store.find(path, detail=True).items():
            yield name.lstrip("/").removeprefix(top).lstrip("/"), _of_fsspec(found)

    def opened(self, path: str) -> Reader:
        return lambda start, stop: bytes(self._store.cat_file(path, start=start, end=stop))

    def put(self, path: str, file: Path) -> None:
        if _PUT_WHOLE & {*np.atleast_1d(self._store.protocol)}:
            self._store.put_file(str(file), path)
            return
        place = f"{path}.cmeans-tmp-{os.getpid()}"
        try:
            self._store.put_file(str(file), place)
            self._store.mv(place, path)
        except BaseException:
            with suppress(Exception):  # what went wrong is the error
                self._store.rm_file(place)
            raise

    def remove(self, path: str) -> None:
        self._store.rm_file(path)


def _of_fsspec(found: Mapping[str, Any]) -> KnownFile:
    if found["type"] == "directory":
        return FOLDER
    told = [found.get(word) for word in ("mtime", "LastModified", "created", "ETag", "etag")]
    return KnownFile(int(found["size"] or 0), st_ino=zlib.crc32(repr(told).encode()))


_AS_GIVEN = "%/:=&?~#+!$,;'@()*[]"  # letters of addresses of the web; others are encoded

_OF_CODES: dict[int, type[Exception]] = {
    401: FinalError,
    403: FinalError,
    404: FileNotFoundError,
    410: FileNotFoundError,
    416: EOFError,
}


class WebStore(ObjectStore):
    """Files that a server of the web gives; there is no way to write one, nor to list them."""

    def info(self, path: str) -> KnownFile | None:
        # Signed addresses are signed for reading alone, so that a first byte is asked for.
        try:
            with self._asked(path, 0, 1) as answer:
                told = answer.headers
        except FileNotFoundError:
            return None
        except EOFError:  # there is no first byte
            return KnownFile(0)
        size = told.get("Content-Range", "").rpartition("/")[2] or told.get("Content-Length", "")
        if not size.isdecimal():
            raise FinalError("the server does not say how long the file is")
        when = parsedate_to_datetime(told["Last-Modified"]) if told["Last-Modified"] else None
        return KnownFile(
            int(size),
            0 if when is None else int(when.timestamp()) * 10**9,
            zlib.crc32((told["ETag"] or "").encode()),
        )

    def below(self, path: str) -> Iterator[tuple[str, KnownFile]]:
        return iter(())

    def opened(self, path: str) -> Reader:
        return partial(self._read, path)

    def _read(self, path: str, start: int, stop: int) -> bytes:
        with self._asked(path, start, stop) as answer:
            if answer.status == 206:
                return bytes(answer.read(stop - start))
            skipped = 0  # of a server that gives all of a file
            while skipped < start and (piece := answer.read(min(_PIECE, start - skipped))):
                skipped += len(piece)
            return bytes(answer.read(stop - start))

    def put(self, path: str, file: Path) -> None:
        raise FinalError("nothing can be written there")

    def remove(self, path: str) -> None:
        raise FinalError("nothing can be removed there")

    def _asked(self, path: str, start: int, stop: int) -> Any:
        request = urllib.request.Request(
            quote(path, safe=_AS_GIVEN),
            headers={"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"},
        )
        try:
            return urllib.request.urlopen(request, timeout=_PATIENCE)
        except urllib.error.HTTPError as error:
            with error:  # which holds the connection
                kind = _OF_CODES.get(error.code, OSError)
                raise kind(f"{error.code} {error.reason}") from None
        except http.client.InvalidURL as error:
            raise FinalError(f"it is no address of the web ({error})") from None
