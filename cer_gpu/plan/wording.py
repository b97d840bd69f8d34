"""Phrases that several parts of `explain` use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cer_gpu.language.printer import to_text

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.compiled import CompiledQuery


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


def lanes_cut(lane: Mapping[str, Keys] | None, query: CompiledQuery) -> str:
    """How the work is cut, where a window makes segments of long lanes."""
    cut = "each lane runs on its own" if lane or query.reading.partition else "one lane"
    return cut if query.window is None else f"{cut}, long ones in segments that start one window early"
