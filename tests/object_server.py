"""A server of files on this machine: of the web, and of S3 as far as PyArrow asks. It throttles,
drops and truncates as a seed says, and counts what it was asked."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape


class ObjectServer(ThreadingHTTPServer):
    """Objects by their names, "bucket/key"; `objects` may be looked at and changed."""

    daemon_threads = True

    def __init__(self, faults: float = 0.0, seed: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.objects = dict[str, bytes]()
        self.parts = dict[str, dict[int, bytes]]()
        self.faults, self.random, self.asked = faults, random.Random(seed), list[str]()
        self.host = f"127.0.0.1:{self.server_address[1]}"

    @property
    def options(self) -> dict[str, str]:
        """Storage options of addresses in S3."""
        return {
            "access_key": "KEY",
            "secret_key": "SECRET",
            "endpoint_override": self.host,
            "scheme": "http",
            "region": "us-east-1",
        }

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of connections that a client gave up."""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = 2**16, True  # else each answer waits for 40 ms
    server: ObjectServer
    cut = False

    def log_message(self, *words: object) -> None:
        pass

    def handle_expect_100(self) -> bool:
        done = super().handle_expect_100()
        self.wfile.flush()
        return done

    def _reply(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if self.cut else body)

    def _is_faulty(self) -> bool:
        """Throttle, drop or truncate some of the requests."""
        server = self.server
        server.asked.append(f"{self.command} {self.path}")
        if server.random.random() >= server.faults:
            return False
        fault = server.random.choice(["throttle", "drop", "truncate"])
        if fault == "throttle":
            self._reply(503, b"<Error><Code>SlowDown</Code></Error>")
        elif fault == "truncate" and self.command == "GET":
            self.cut = self.close_connection = True
            return False
        self.close_connection = True
        return True

    def _name(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/")

    def _query(self) -> dict[str, str]:
        asked = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        return {name: values[0] for name, values in asked.items()}

    def do_GET(self) -> None:
        if self._is_faulty():
            return
        query = self._query()
        if "list-type" in query:
            self._list(query)
            return
        data = self.server.objects.get(self._name())
        if data is None:
            self._reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        tag = {"ETag": f'"{hash(data):x}"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        asked = self.headers.get("Range")
        if asked is None or self.command == "HEAD":
            self._reply(200, data, **tag)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        if int(first) >= len(data):
            self._reply(416)
            return
        part = data[int(first) : int(last) + 1]
        stop = int(first) + len(part) - 1
        self._reply(206, part, Content_Range=f"bytes {first}-{stop}/{len(data)}", **tag)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _list(self, query: dict[str, str]) -> None:
        bucket, prefix = self._name(), query.get("prefix", "")
        names = [
            name.removeprefix(f"{bucket}/")
            for name in sorted(self.server.objects)
            if name.startswith(f"{bucket}/{prefix}")
        ]
        names = names[: int(query.get("max-keys", "1000"))]
        rows = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>"
            f"{len(self.server.objects[f'{bucket}/{name}'])}</Size>"
            "<LastModified>2026-01-01T00:00:00.123Z</LastModified></Contents>"
            for name in names
        )
        body = (
            f"<ListBucketResult><Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
            f"<KeyCount>{len(names)}</KeyCount><IsTruncated>false</IsTruncated>{rows}"
            "</ListBucketResult>"
        )
        self._reply(200, body.encode(), Content_Type="application/xml")

    def do_PUT(self) -> None:
        data = self._body()
        if self._is_faulty():
            return
        query = self._query()
        if "partNumber" in query:
            self.server.parts.setdefault(self._name(), {})[int(query["partNumber"])] = data
        else:
            self.server.objects[self._name()] = data
        self._reply(200, ETag=f'"{hashlib.md5(data).hexdigest()}"')

    def do_POST(self) -> None:
        self._body()
        if self._is_faulty():
            return
        name, kind = self._name(), "CompleteMultipartUpload"
        bucket, _, key = name.partition("/")
        if "uploads" in self._query():
            kind = "InitiateMultipartUpload"
        else:
            parts = self.server.parts.pop(name, {})
            self.server.objects[name] = b"".join(parts[at] for at in sorted(parts))
        body = (
            f"<{kind}Result><Bucket>{bucket}</Bucket><Key>{escape(quote(key))}</Key>"
            f'<UploadId>1</UploadId><ETag>"1"</ETag></{kind}Result>'
        )
        self._reply(200, body.encode(), Content_Type="application/xml")

    def do_DELETE(self) -> None:
        if not self._is_faulty():
            self.server.objects.pop(self._name(), None)
            self._reply(204)

    def _body(self) -> bytes:
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return data
        whole = b""  # each chunk follows a line that begins with its length
        while data:
            head, _, data = data.partition(b"\r\n")
            size = int(head.partition(b";")[0] or b"0", 16)
            if not size:
                break
            whole, data = whole + data[:size], data[size + 2 :]
        return whole


@contextmanager
def serving(faults: float = 0.0, seed: int = 0) -> Iterator[ObjectServer]:
    """Provide a server, which ends with the block."""
    with ObjectServer(faults, seed) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
