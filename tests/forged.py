"""Files of ours as somebody changes them who knows the format."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save_file

from cmeans.storage.codec import DIGEST, digest_of

Parts = tuple[Any, dict[str, np.ndarray]]


def key_of(data: bytes) -> str:
    """The key of the metadata that holds our header."""
    [(key, _)] = _metadata(data).items()
    return key


def parts_of(data: bytes) -> Parts:
    """The header (JSON), without the digest that would refuse every change, and the arrays."""
    header = json.loads(_metadata(data)[key_of(data)])
    header.pop(DIGEST, None)
    return header, load(data)


def digest_in(data: bytes) -> Any:
    """The digest that a file says it has."""
    return json.loads(_metadata(data)[key_of(data)]).get(DIGEST)


def forge(file: Path, header: Any, arrays: dict[str, np.ndarray], key: str = "cmeans") -> None:
    """Write a file with the digest that these have."""
    arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    text = json.dumps(header)
    if isinstance(header, dict):
        text = json.dumps({**header, DIGEST: digest_of(text, arrays)})
    save_file(arrays, file, {key: text})


def _metadata(data: bytes) -> dict[str, str]:
    return json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])["__metadata__"]
