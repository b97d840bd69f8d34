"""Tells SQL with MATCH_RECOGNIZE from CEQL; imports nothing that reads either."""

from __future__ import annotations

import re

_BEGINNING = re.compile(r"\bMATCH_RECOGNIZE\s*\(", re.IGNORECASE)


def is_statement(text: str) -> bool:
    """Whether a text is SQL with MATCH_RECOGNIZE, and no CEQL."""
    return _BEGINNING.search(text) is not None
