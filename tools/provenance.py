"""What packages are made of, and their digests: python -m tools.provenance FOLDER [--out DIR].

Writes for each wheel in the folder a bill of materials in CycloneDX's JSON, which names the wheel,
its digest and licence, and what it asks pip for; and `SHA256SUMS` of all packages, for `sha256sum
--check`. Both depend on the packages alone, so that everyone who has these can write the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import uuid
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import quote

ENDINGS = (".whl", ".tar.gz")


def digest(package: Path) -> str:
    return hashlib.sha256(package.read_bytes()).hexdigest()


def metadata(wheel: Path) -> Message:
    """Return what a wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def requirement(text: str) -> dict[str, Any]:
    """Return a component for what a wheel asks for; which release comes, pip decides."""
    found = re.match(r"([\w.-]+)\s*(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;\s*(.*))?$", text)
    assert found, text
    name, versions, marker = found.groups()
    properties = [("cmeans:versions", versions), ("cmeans:where", marker)]
    return {
        "type": "library",
        "bom-ref": text,
        "name": name,
        "purl": f"pkg:pypi/{name.lower().replace('_', '-')}",
        "scope": "optional" if marker and "extra" in marker else "required",
        "properties": [{"name": key, "value": value} for key, value in properties if value],
    }


def bill(wheel: Path) -> dict[str, Any]:
    """Return the bill of materials of a wheel, in CycloneDX 1.6."""
    told, sha = metadata(wheel), digest(wheel)
    name, version = told["Name"], told["Version"]
    own = f"pkg:pypi/{name}@{version}?file_name={quote(wheel.name)}"
    needed = [requirement(text) for text in sorted(set(told.get_all("Requires-Dist", [])))]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, sha)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
                "licenses": [{"license": {"id": told["License-Expression"]}}],
                "hashes": [{"alg": "SHA-256", "content": sha}],
            }
        },
        "components": needed,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in needed]}],
    }


def write(folder: Path, out: Path) -> list[Path]:
    """Write the bills and the digests of the packages in a folder; return their paths."""
    packages = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS))
    if not packages:
        sys.exit(f"{folder} holds no packages")
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "SHA256SUMS"]
    lines = [f"{digest(package)}  {package.name}\n" for package in packages]
    written[0].write_text("".join(lines), encoding="utf-8")
    for wheel in (package for package in packages if package.suffix == ".whl"):
        written.append(out / f"{wheel.name}.cdx.json")
        written[-1].write_text(json.dumps(bill(wheel), indent=1) + "\n", encoding="utf-8")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder itself by default")
    words = parser.parse_args()
    for path in write(words.folder, words.out or words.folder):
        print(path)


if __name__ == "__main__":
    main()
