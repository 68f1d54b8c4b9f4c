"""Addresses as people see them: users, passwords and queries of an address are keys to what lies
there, and no message, log, file or page shows them."""

from __future__ import annotations

import re

# Up to the `@` before the host. Passwords that were not encoded may hold slashes; a host with its
# port looks like a user with a password, and is none. Addresses of Azure (abfs://) name a container
# where others name a user.
USER = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?![^/@\s:]+:\d+(?:/|$))"
    r"(?P<user>[^/@\s:]*:[^@\s]*|(?<!abfs://)(?<!abfss://)[^/@\s:]*)@"
)
_QUERY = re.compile(r"(?<=\S)\?(?=[^\s/?]*=)[^\s'\"<>]*[^\s'\"<>.,;:)]")


def for_people(text: str) -> str:
    """Return a text in which no address shows a user, a password or a query."""
    if "://" not in text:
        return text
    return _QUERY.sub("", USER.sub(r"\g<scheme>://", text))
