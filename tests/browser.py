"""A headless Chromium that tests talk to by its DevTools protocol, over two pipes: pages of any
width, and what went wrong in them."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUIET += [
    "--no-first-run",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0  # seconds for one answer
WRONG = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}


class Page:
    """A tab. `wrong`: errors and console messages; `fetched`: addresses that it asked for."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back, self._left, self._number, self._session = to, back, b"", 0, None
        self.wrong: list[Any] = []
        self.fetched: list[str] = []
        self._loaded = False
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **words: Any) -> Any:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": words}
        os.write(
            self._to,
            json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode()
            + b"\0",
        )
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, file: Path, width: int, scheme: str = "light") -> None:
        """Open a file on a screen of this width, a phone's below 600 pixels, whose system is light
        or dark."""
        self.open_address(file.as_uri(), width, scheme)

    def open_address(self, address: str, width: int, scheme: str = "light") -> None:
        """Open an address as `open` does a file."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self._loaded = False
        self.ask("Page.navigate", url=address)
        while not self._loaded:
            self._next()

    def value(self, script: str) -> Any:
        """Return what an expression of JavaScript gives, or what it promises."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, file: Path) -> None:
        """Write a picture of the whole page."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> Any:
        """Return the next message, after events have been kept."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._back], [], [], max(0.0, end - time.monotonic()))
            read = os.read(self._back, 1 << 16) if ready else b""
            assert read, "Chromium does not answer"
            self._left += read
        text, _, self._left = self._left.partition(b"\0")
        message = json.loads(text)
        method, words = message.get("method"), message.get("params")
        if method in WRONG:
            self.wrong.append(words)
        elif method == "Network.requestWillBeSent":
            self.fetched.append(words["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message


@contextmanager
def browsing(folder: Path) -> Iterator[Page]:
    """Provide a tab of a Chromium that keeps its profile in a folder."""
    (read, to), (back, write) = os.pipe(), os.pipe()
    words = [
        "bash",
        "-c",
        f'exec "$@" 3<&{read} 4>&{write}',
        "-",
        str(CHROMIUM),
        *QUIET,
        f"--user-data-dir={folder / 'profile'}",
    ]
    with subprocess.Popen(
        words, pass_fds=(read, write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        os.close(read)
        os.close(write)
        try:
            yield Page(to, back)
        finally:
            process.kill()
            os.close(to)
            os.close(back)
