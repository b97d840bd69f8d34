"""Words that several parts of `explain` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cer_gpu.language.printer import to_text

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


def counted(number: int, what: str) -> str:
    """A number of things: `1 state`, `2 states`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def lanes_told(lane: Mapping[str, Keys] | None) -> str | None:
    """The key that all events of an answer share, given the attributes of each event type."""
    if lane is None:
        return None
    keys = {event_type: ", ".join(map(to_text, keys)) for event_type, keys in lane.items()}
    distinct = list(dict.fromkeys(keys.values()))
    each = ", ".join(f"{name} of {event_type}" for event_type, name in keys.items())
    key = distinct[0] if len(distinct) == 1 else each
    return f"one lane for each value of {key}, which all events of an answer share"
