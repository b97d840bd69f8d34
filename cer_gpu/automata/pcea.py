"""Parallelized complex event automata (PCEA) as frozen values: section 3 of the PCEA paper.

Runs of a PCEA start independently of each other, and a transition gathers one run in each of its source
states when it reads an event: the *run tree*. Its only condition on a gathered run is an equality between
attributes of the last event that the run has read and of the event that the transition reads. A chain complex
event automaton (CCEA) is a PCEA whose transitions gather at most one run.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from cer_gpu.automata.cea import AutomatonError, Predicate, UnknownStateError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Expression

Keys: TypeAlias = tuple[Expression, ...]
"""What an equality compares of one event, in order; empty compares nothing."""


class UnknownTypeError(AutomatonError):
    """The left side of an equality lacks an event type, or sides have different lengths."""


@dataclass(frozen=True, slots=True)
class Equality:
    """An equality predicate (class B_eq of the paper): the earlier event's `left` equals the later's `right`.

    The two partial functions are tuples of expressions over the attributes of one event; they are undefined
    where one of these is null or NaN. `(Tx, Sxy)` is ::

        Equality(left=(("T", (Attribute("x"),)),), right=(Attribute("x"),))

    Attributes
    ----------
    left : tuple of (str, Keys)
        For each event type that the earlier event may have, the values that are compared; undefined for other
        types. Sorted by type.
    right : Keys
    next : bool
        Whether the later event also has to be the one right after the earlier (contiguity, `:`).
    """

    left: tuple[tuple[str, Keys], ...]
    right: Keys
    next: bool = False

    def __post_init__(self) -> None:
        for name, keys in self.left:
            if len(keys) != len(self.right):
                raise UnknownTypeError(
                    f"{len(keys)} values of `{name}` cannot equal {len(self.right)} of the later event"
                )


@dataclass(frozen=True, slots=True)
class GatherTransition:
    """A transition (P, U, B, L, q): gather a run in each source, read an event, mark it, be in `target`.

    Attributes
    ----------
    sources : tuple of int
        P, ascending, each once; empty where a run starts.
    predicate : Predicate
        U, of the event that is read. It implies `event_type`.
    event_type : str
        The type of the event that is read.
    joins : tuple of Equality
        B, one for each source.
    label : frozenset
        L, not empty: variables of CEQL (str) or atoms of a rule (int).
    target : int
    """

    sources: tuple[int, ...]
    predicate: Predicate
    event_type: str
    joins: tuple[Equality, ...]
    label: frozenset[Hashable]
    target: int


@dataclass(frozen=True, slots=True)
class PCEA:
    """A parallelized complex event automaton; `C_0` of the paper's Example 2.1 has three of these: ::

        (), T --{0}--> 0        (0), S, (Tx, Sxy) --{1}--> 1        (1), R, (Sxy, Rxy) --{2}--> 2

    Attributes
    ----------
    names : tuple of str
        The states, for drawings: state k is `names[k]`.
    transitions : tuple of Gather
    final : frozenset of int

    Raises
    ------
    UnknownStateError, AutomatonError
        When a state does not exist, sources do not ascend, or a label is empty.
    """

    names: tuple[str, ...]
    transitions: tuple[GatherTransition, ...]
    final: frozenset[int]

    def __post_init__(self) -> None:
        states = range(len(self.names))
        for state in sorted(self.final):
            if state not in states:
                raise UnknownStateError(f"final state {state} is not among the {len(states)} states")
        for number, move in enumerate(self.transitions):
            for state in (*move.sources, move.target):
                if state not in states:
                    raise UnknownStateError(
                        f"transition {number} speaks of state {state}, not among the {len(states)} states"
                    )
            if list(move.sources) != sorted(set(move.sources)) or len(move.joins) != len(move.sources):
                raise AutomatonError(f"transition {number}: sources ascend, each with one equality")
            if not move.label:
                raise AutomatonError(f"transition {number} marks nothing")

    @property
    def size(self) -> int:
        """States, and for each transition its sources and its labels (the paper's |P|)."""
        return len(self.names) + sum(len(move.sources) + len(move.label) for move in self.transitions)
