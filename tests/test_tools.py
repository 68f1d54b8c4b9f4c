"""What tools/ writes is what stands, and what a release names is one version."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from pathlib import Path

from tools import capabilities, provenance

import cmeans

ROOT = Path(__file__).resolve().parents[1]


def test_the_table_of_capabilities_is_what_attempts_show() -> None:
    assert capabilities.PAGE.read_text(encoding="utf-8") == capabilities.page()


def test_everything_names_the_same_version() -> None:
    version = cmeans.__version__.removesuffix(".dev0")
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{version}}}," in (ROOT / "docs" / "index.md").read_text()
    assert f'set version = "{version}"' in (ROOT / "conda" / "meta.yaml").read_text()


def test_the_conda_recipe_asks_for_what_the_package_needs() -> None:
    """The package's own requirements, and those of the command."""
    text = (ROOT / "pyproject.toml").read_text()
    needed = [
        *re.findall(
            r'^    "(\S+)",$', text.partition("dependencies = [")[2].partition("]")[0], flags=re.M
        )
    ]
    needed += re.findall(r'"([^"]+)"', re.search(r"^cli = \[(.*)\]", text, flags=re.M)[1])
    asked = {
        line.replace(" ", "")
        for line in re.findall(
            r"^    - (.*)$", (ROOT / "conda" / "meta.yaml").read_text(), flags=re.M
        )
    }
    assert set(needed) <= asked, set(needed) - asked


def test_weight_counts_code_alone() -> None:
    from tools.weight import code_lines

    source = (
        '"""A module."""\n\n# a comment\nx = 1  # one\n\n\n'
        'def f():\n    """It says."""\n    return (\n        2\n    )\n'
    )
    assert code_lines(source) == 5
    assert code_lines('"""Nothing else."""\n') == 0


def test_provenance_names_what_a_wheel_is_and_asks_for(tmp_path: Path) -> None:
    told = "Name: cmeans\nVersion: 1.2.3\nLicense-Expression: BSD-3-Clause\n"
    told += "Requires-Dist: numpy>=1.26\nRequires-Dist: dask[array]>=2024.12; extra == 'dask'\n"
    with zipfile.ZipFile(tmp_path / "cmeans-1.2.3-py3-none-any.whl", "w") as wheel:
        wheel.writestr("cmeans-1.2.3.dist-info/METADATA", told)
    (tmp_path / "cmeans-1.2.3.tar.gz").write_bytes(b"sources")
    sums, bill = provenance.write(tmp_path, tmp_path / "out")
    digests = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
    assert digests["cmeans-1.2.3.tar.gz"] == hashlib.sha256(b"sources").hexdigest()
    made = json.loads(bill.read_text())
    own = made["metadata"]["component"]
    assert own["hashes"] == [
        {"alg": "SHA-256", "content": digests["cmeans-1.2.3-py3-none-any.whl"]}
    ]
    assert own["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    asked = [(each["name"], each["scope"]) for each in made["components"]]
    assert asked == [("dask", "optional"), ("numpy", "required")]
