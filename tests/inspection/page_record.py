"""The record of facts in a page, read as the page's script reads it."""

import base64
import json
import re
import zlib

import numpy as np


class Record:
    """What stands in a page of `report` or `explore` for its script."""

    def __init__(self, text):
        pattern = r'<script id="rows" type="application/json">(.*?)</script>'
        self.facts = json.loads(re.search(pattern, text, re.DOTALL)[1], parse_constant=_refuse)

    def partition(self, at=None):
        return self.facts["partitions"][self.facts["chosen"] if at is None else at]

    def labels(self, at=None):
        packed = self.partition(at)["labels"]
        codes, none = _codes(packed)
        return np.where(codes == none, -1, codes)

    def memberships(self):
        return _codes(self.partition()["memberships"])[0] / 250

    def ids(self):
        packed = self.facts["ids"]
        return None if packed is None else json.loads(_inflated(packed))

    def columns(self):
        return {one["name"]: _numbers(one["values"]) for one in self.facts["columns"]}

    def plane(self, at=0):
        plane = self.facts["planes"][at]
        return np.stack([_numbers(plane["x"]), _numbers(plane["y"])], axis=1)


def _refuse(word):
    raise AssertionError(f"{word} is no JSON")


def _inflated(text):
    return zlib.decompress(base64.b64decode(text))


def _codes(packed):
    wide = packed["bits"] == 16
    codes = np.frombuffer(_inflated(packed["data"]), "<u2" if wide else "u1").astype(int)
    return codes, 65535 if wide else 255


def _numbers(packed):
    codes, none = _codes(packed)
    return np.where(codes == none, np.nan, packed["low"] + packed["step"] * codes)
