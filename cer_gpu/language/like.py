"""Patterns of SQL's LIKE, which here are regular expressions."""

from __future__ import annotations

import re

# A per cent sign that no backslash stands before.
_PER_CENT = re.compile(r"(?<!\\)(?:\\\\)*%")


def looks_like_sql(pattern: str) -> bool:
    """Whether a regular expression has a `%` that no backslash makes an ordinary character."""
    return _PER_CENT.search(pattern) is not None


def regex_of(pattern: str) -> str:
    """The regular expression for a pattern of SQL's LIKE: `^AB` for `AB%`."""
    begins, ends = pattern.startswith("%"), pattern.endswith("%")
    parts = [
        re.escape(part).replace("\\ ", " ").replace("\\-", "-") for part in pattern.strip("%").split("%")
    ]
    inner = ".*".join(part for part in parts if part)
    return ("" if begins else "^") + inner + ("" if ends else "$")
