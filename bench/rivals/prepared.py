"""Statements of DuckDB, prepared once: planning is no part of what is timed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any


def prepared(connection: Any) -> Callable[[str], str]:
    """A function from a statement to the one that executes it, prepared on a connection when first asked."""

    @cache
    def executed(text: str) -> str:
        name = f"asked_{sha256(text.encode()).hexdigest()}"
        connection.execute(f"PREPARE {name} AS {text}")
        return f"EXECUTE {name}"

    return executed
