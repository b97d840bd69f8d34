"""The extras of the package, which install what only some of its users need."""

from __future__ import annotations


def to_install(extra: str) -> str:
    """How to install an extra, for the end of a message. The package is on no index, but in a clone."""
    return f"install the extra `{extra}`: in a clone of cer-gpu, `pip install '.[{extra}]'`"
