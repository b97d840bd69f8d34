"""Phrases that several parts of `explain` use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import Pattern, SelectQuery
from cer_gpu.plan.outline import unlisted

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.compiled_query import CompiledQuery


def counted(number: int, what: str) -> str:
    """A number of things: `1 state`, `2 states`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def widest(symbols: Iterable[int]) -> int:
    """How many transitions an event may take at most, given the symbol of each."""
    return max(Counter(symbols).values(), default=0)


def formula_told(formula: Pattern, query: SelectQuery) -> tuple[str, str]:
    """The line with the formula of a query, without its SELECT list."""
    return "formula", to_text(unlisted(formula, query))


def sizes_told(before: str, deterministic: str, ends: bool) -> Iterator[tuple[str, str]]:
    """The lines about an automaton.

    Parameters
    ----------
    before, deterministic : str
        Its sizes before it was made deterministic, and after; `before` is empty where it has none.
    ends : bool
        Whether it has a final state.
    """
    yield (
        "automaton",
        f"{before}; deterministic: {deterministic}" if before else f"deterministic: {deterministic}",
    )
    if not ends:
        yield "answers", "none: no match is possible, whatever the events"


def lanes_told(lane: Mapping[str, Keys] | None) -> str | None:
    """The key that all events of an answer share, given the attributes of each event type."""
    if lane is None:
        return None
    keys = {event_type: ", ".join(map(to_text, keys)) for event_type, keys in lane.items()}
    distinct = list(dict.fromkeys(keys.values()))
    each = ", ".join(f"{name} of {event_type}" for event_type, name in keys.items())
    key = distinct[0] if len(distinct) == 1 else each
    return f"one lane for each value of {key}, which all events of an answer share"


def shared_key_told(lane: Mapping[str, Keys] | None) -> str | None:
    """The same in the words of a user."""
    told = lanes_told(lane)
    if told is None:
        return None
    return told.replace("one lane for each value of", "by").replace("an answer", "a match")


def lanes_cut(lane: Mapping[str, Keys] | None, query: CompiledQuery) -> str:
    """How the work is cut, where a window makes segments of long lanes."""
    cut = "each lane runs on its own" if lane or query.reading.partition else "one lane"
    return cut if query.window is None else f"{cut}, long ones in segments that start one window early"
