"""The events that an aggregate of an expression takes together: every choice of one for each variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cer_gpu.language.tree import RepetitionEdge

Listed = tuple[np.ndarray, np.ndarray]
"""Where the events of each complex event begin, and the events."""


class EventChoices(NamedTuple):
    """Choices of one event for each variable, one complex event after another.

    Attributes
    ----------
    events : mapping of str to ndarray, shape (m,)
        For each variable the events that are chosen.
    offsets : ndarray, shape (n + 1,), int64
        Complex event k has the choices `offsets[k]` .. `offsets[k + 1] - 1`.
    """

    events: Mapping[str, np.ndarray]
    offsets: np.ndarray


def choices(marked: Mapping[str, Listed], marks: Listed | None, edge: RepetitionEdge | None) -> EventChoices:
    """Every choice of events of one repetition of a complex event.

    Parameters
    ----------
    marked : mapping of str to (offsets, events)
        What each variable marks in each complex event, ascending.
    marks : (offsets, events) or None
        What the edge marks; None where a complex event is one repetition.
    edge : RepetitionEdge or None
    """
    (name, (offsets, first)), *others = marked.items()
    if not others:
        return EventChoices({name: first}, offsets.astype(np.int64))
    count = len(offsets) - 1
    owner = np.repeat(np.arange(count), np.diff(offsets))
    chosen, repetition = {name: first}, _repetition(marked[name], marks, edge)
    for other, (begins, events) in others:
        theirs = np.repeat(np.arange(count), np.diff(begins))
        number = _repetition((begins, events), marks, edge)
        # Both are ascending by complex event and repetition: the partners of a choice lie side by side.
        most = int(max(repetition.max(initial=0), number.max(initial=0))) + 1
        key, asked = theirs * most + number, owner * most + repetition
        low, high = np.searchsorted(key, asked, "left"), np.searchsorted(key, asked, "right")
        times = high - low
        place = np.repeat(low - np.append(0, np.cumsum(times)[:-1]), times) + np.arange(int(times.sum()))
        chosen = {own: np.repeat(rows, times) for own, rows in chosen.items()}
        chosen[other] = events[place]
        owner, repetition = np.repeat(owner, times), np.repeat(repetition, times)
    return EventChoices(chosen, np.searchsorted(owner, np.arange(count + 1)).astype(np.int64))


def edges(marked: Mapping[str, Listed], edge: RepetitionEdge, none: Listed) -> Listed:
    """The events with which repetitions begin (end); parameters as for `choices`, `none` of no events."""
    begins, at = marked.get(edge.variable, none)
    if not edge.after or not len(at):
        return begins, at
    ends, later = marked.get(edge.after, none)
    span = int(max(at.max(), later.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    theirs = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    passed = np.searchsorted(theirs * span + later, owner * span + at)
    kept = np.append(True, (passed[1:] > passed[:-1]) | (owner[1:] != owner[:-1]))
    return np.append(0, np.cumsum(kept))[begins], at[kept]


def _repetition(listed: Listed, marks: Listed | None, edge: RepetitionEdge | None) -> np.ndarray:
    """The number of the repetition of each event of a variable, within its complex event."""
    offsets, events = listed
    if marks is None or edge is None:
        return np.zeros(len(events), np.int64)
    begins, at = marks
    span = int(max(events.max(initial=0), at.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    theirs = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    keys, asked = theirs * span + at, owner * span + events
    before = np.searchsorted(keys, asked, "right") if edge.first else np.searchsorted(keys, asked, "left")
    return np.asarray(before - begins[owner], np.int64)
