"""The command reads from addresses and writes to them, and shows no key of any."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.command import Command
from cmeans.data.addresses import address as addresses
from object_server import ObjectServer, serving


@pytest.fixture
def server(table: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """A bucket with the groups, as the environment names it."""
    with serving() as one:
        one.objects["bucket/d/_SUCCESS"] = b""
        one.objects["bucket/d/x.parquet"] = table.read_bytes()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{one.host}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEY")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        yield one


def test_all_lies_in_a_bucket(cmeans: Command, server: ObjectServer) -> None:
    fit = ("fit", "s3://bucket/d", "-c", 3, "--columns", "a,b,c,d", "--out", "s3://bucket/run")
    ended = cmeans(*fit, "--checkpoint", "s3://bucket/kept")
    assert ended.summary["outputs"]["labels"] == "s3://bucket/run/labels.parquet"
    assert "reading s3://bucket/d\n" in ended.err
    model, out = "s3://bucket/run/model.safetensors", "s3://bucket/new.parquet"
    assert cmeans("predict", model, "s3://bucket/d/x.parquet", "--out", out).code == 0
    new, old = (
        pq.read_table(io.BytesIO(server.objects[f"bucket/{name}"]))["label"].to_pylist()
        for name in ("new.parquet", "run/labels.parquet")
    )
    assert new == old
    assert not any(b"SECRET" in data for data in server.objects.values())
    refused = cmeans("fit", "s3://bucket/run", *fit[2:])
    assert refused.code == 2
    assert refused.err == (
        "cmeans: --out s3://bucket/run: lies in s3://bucket/run, all of which is read as rows; "
        "choose a folder outside.\n"
    )


KILLED = """
import os, signal, sys
from cmeans.cli import main
from cmeans.data.addresses import address
from cmeans.solvers.checkpoints import CheckpointLog

address._PAUSES = (0.0,) * 9
write, written = CheckpointLog.write, []

def killed(log):
    write(log)
    written.append(log)
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

CheckpointLog.write = killed
main(sys.argv[1:])
"""


@pytest.mark.minutes
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_killed_fit_goes_on_in_a_bucket_that_fails(
    cmeans: Command, server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ["fit", "s3://bucket/d", "-c", "3", "--columns", "a,b,c,d", "--tol", "1e-12"]
    whole = cmeans(*fit, "--out", tmp_path / "whole")
    kept = ["--checkpoint", "s3://bucket/kept", "--checkpoint-minutes", "0"]
    monkeypatch.setattr(addresses, "_PAUSES", (0.0,) * 9)
    server.faults = 0.1
    words = [sys.executable, "-c", KILLED, *fit, *kept, "--out", str(tmp_path / "run")]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    resumed = cmeans(*fit, *kept, "--resume", "--out", tmp_path / "run")
    assert resumed.code == 0, resumed.err
    assert resumed.summary["objective"] == whole.summary["objective"]
    old, new = (pq.read_table(tmp_path / name / "labels.parquet") for name in ("whole", "run"))
    assert new.equals(old)


def test_a_stream_reads_a_bucket_and_grows_here(
    cmeans: Command, server: ObjectServer, tmp_path: Path
) -> None:
    words = ("stream", "s3://bucket/d", "-c", 3, "--columns", "a,b,c,d", "--chunk-size", 50)
    kept = ("--checkpoint", "s3://bucket/state.safetensors")
    ended = cmeans(*words, *kept, "--out", tmp_path / "labels.csv")
    assert ended.code == 0, ended.err
    assert "bucket/state.safetensors" in server.objects
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 151
    refused = cmeans(*words, "--out", "s3://bucket/labels.csv")
    assert refused.code == 2
    assert (
        "--out s3://bucket/labels.csv: is written row by row, and files in a store" in refused.err
    )


@pytest.mark.parametrize(
    "address",
    [
        "s3://KEY:SECRET@bucket/{}.parquet?endpoint_override={}&scheme=http",
        "s3://bucket/{}.parquet?access_key=KEY&secret_key=SECRET&endpoint_override={}&scheme=http",
    ],
)
def test_keys_are_seen_nowhere(
    address: str,
    cmeans: Command,
    server: ObjectServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses, "_PAUSES", ())
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    out, kept = tmp_path / "run", address.format("kept", server.host)
    words = (
        "--columns",
        "a,b,c,d",
        "-c",
        3,
        "--out",
        out,
        "--checkpoint",
        kept,
        "--report",
        "--debug",
    )
    said = [cmeans("fit", address.format("d/x", server.host), *words)]
    assert said[0].code == 0, said[0].err
    for wrong in (("d/no", server.host), ("x", "localhost:9")):
        said.append(cmeans("fit", address.format(*wrong), *words))
    assert [one.code for one in said] == [0, 2, 2]
    assert "s3://bucket/d/no.parquet: no such file." in said[1].err
    texts = [one.out + one.err for one in said]
    files = [*out.iterdir(), tmp_path / "blobs.parquet"]
    stored = [*server.objects.values(), *(file.read_bytes() for file in files)]
    assert not any("SECRET" in text for text in texts)
    assert not any(b"SECRET" in data for data in stored)
