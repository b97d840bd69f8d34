"""Complex event automata (CEA), nondeterministic and I/O-deterministic, as frozen values.

A run reads the events at positions start, start + 1, ..., end, takes one transition for each of them and
marks each with the transition's label, a set of variables; an empty label leaves the event unmarked. Every
accepting run gives the complex event (start, end, marks), whether or not its first and last event are marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, cast

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import (
    Beside,
    Both,
    Condition,
    Either,
    Every,
    Filter,
    Interval,
    Members,
    Not,
    Pattern,
    Truth,
)
from cer_gpu.language.walk import leaves_of


class AutomatonError(ValueError):
    """An automaton is not well-formed: base of the classes below."""


class UnknownStateError(AutomatonError):
    """A state lies outside `0 .. n_states - 1`."""


class UnknownSymbolError(AutomatonError):
    """A symbol lies outside `0 .. n_symbols - 1`, or names a predicate that does not exist."""


class UnknownLabelError(AutomatonError):
    """A label index lies outside the labels, or the labels are not in their order."""


class UnknownPredicateError(AutomatonError):
    """A transition's predicate is not among the predicates that define the symbols."""


class NotDeterministicError(AutomatonError):
    """Two transitions leave a state on one symbol with one label, or the transitions are not sorted."""


class InitialStateError(AutomatonError):
    """The initial state of a deterministic automaton is entered again, or final."""


@dataclass(frozen=True, slots=True)
class TypeTest:
    """The predicate "the event has type `name` (and comes from `stream`, where one is named)"."""

    name: str
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class OutlookTest:
    """The predicate "a complex event of `pattern` lies within reach after the event (`before`: before it)".

    It depends only on the event's place in the stream, so it is read like any other predicate of an event.
    """

    pattern: Pattern
    before: bool
    interval: Interval | None


Predicate: TypeAlias = "TypeTest | OutlookTest | Condition"
"""A condition on one event: `TypeTest`, `OutlookTest`, the predicates of `tree`, and Both, Either, Not, Truth
over them."""

Label: TypeAlias = frozenset[str]


def both(left: Predicate, right: Predicate) -> Predicate:
    """The conjunction of two predicates; `Truth` is simplified away."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Truth):
            return other if one.value else Truth(False)
    return Both(cast(Condition, left), cast(Condition, right))


def complement(operand: Predicate) -> Predicate:
    """The complement of a predicate; `Truth` is simplified away."""
    return Truth(not operand.value) if isinstance(operand, Truth) else Not(cast(Condition, operand))


def outlook(node: Beside) -> Predicate:
    """The predicate that `p FOLLOWED BY q` puts on the last event of p (PRECEDED BY: on the first)."""
    test = OutlookTest(node.right, node.before, node.interval)
    return complement(test) if node.negated else test


def leaf_tests(predicate: Predicate) -> Iterator[Any]:
    """The predicates that AND, OR and NOT combine in a predicate, from left to right."""
    return leaves_of(cast(Condition, predicate))


@cache
def _compared(kind: type) -> tuple[str, ...]:
    """The names of the fields by which values of a type are compared, the last first."""
    if not is_dataclass(kind):
        return ()
    return tuple(field.name for field in reversed(fields(kind)) if field.compare)


def identity(predicate: Predicate) -> tuple[object, ...]:
    """A flat, hashable key that two predicates share iff they are written alike, spans aside.

    This is stricter than `==`, which takes the literals `1` and `1.0`, or `0.0` and `-0.0`, for equal: `a +
    1` and `a + 1.0` differ on large integers.
    """
    key: list[object] = []
    pending: list[Any] = [predicate]
    while pending:
        item = pending.pop()
        if isinstance(item, Members):  # compared as a whole: its members may be very many
            key.append(item)
        elif compared := _compared(item.__class__):
            key.append(type(item).__name__)
            pending.extend(getattr(item, name) for name in compared)
        elif isinstance(item, tuple):
            key.append(len(item))
            pending.extend(reversed(item))
        else:
            key.extend((type(item).__name__, str(item)))
    return tuple(key)


class Identities:
    """Caches the identities of predicates by object: subformulas share their predicates."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Predicate, tuple[object, ...]]] = {}  # keeps them alive

    def of(self, predicate: Predicate) -> tuple[object, ...]:
        """`identity(predicate)`."""
        found = self._known.get(id(predicate))
        if found is None:
            found = self._known[id(predicate)] = predicate, identity(predicate)
        return found[1]


def distinct(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """The predicates, each once, in the order of its first occurrence."""
    first: dict[tuple[object, ...], Predicate] = {}
    known = Identities()
    for predicate in predicates:
        first.setdefault(known.of(predicate), predicate)
    return tuple(first.values())


def literals(node: Pattern) -> list[Every]:
    """The distinct conditions `x[p]` of a filter; empty for any other node."""
    if not isinstance(node, Filter):
        return []
    found: dict[tuple[object, ...], Every] = {}
    for leaf in leaves_of(node.condition):
        if isinstance(leaf, Every):
            found.setdefault(identity(leaf), leaf)
        elif not isinstance(leaf, Truth):
            raise TypeError(f"no automaton is built for a filter on {type(leaf).__name__}")
    return list(found.values())


def evaluated(condition: Condition, place: Mapping[tuple[object, ...], int], held: Sequence[bool]) -> bool:
    """Whether a condition holds, given which of its literals do, by the place of each one's identity."""
    match condition:
        case Every():
            return held[place[identity(condition)]]
        case Both(left, right):
            return evaluated(left, place, held) and evaluated(right, place, held)
        case Either(left, right):
            return evaluated(left, place, held) or evaluated(right, place, held)
        case Not(operand):
            return not evaluated(operand, place, held)
        case Truth(value):
            return value
    raise TypeError(f"no automaton is built for a filter on {type(condition).__name__}")


@dataclass(frozen=True, slots=True)
class Transition:
    """From `source`, read an event that satisfies `predicate`, mark it with `label`, be in `target`."""

    source: int
    predicate: Predicate
    label: Label
    target: int


def checked_states(n_states: int, initial: int, final: Iterable[int]) -> range:
    """The states of an automaton.

    Raises
    ------
    UnknownStateError
        If the initial or a final state is none of them.
    """
    states = range(n_states)
    if initial not in states:
        raise UnknownStateError(f"initial state {initial} is not among the {n_states} states")
    for state in sorted(final):
        if state not in states:
            raise UnknownStateError(f"final state {state} is not among the {n_states} states")
    return states


@dataclass(frozen=True, slots=True)
class CEA:
    """A complex event automaton with epsilon transitions (thesis chapter 6, with sets as labels).

    `A ; B AS b` becomes ::

        0 --A/{A}--> 2 --B/{B,b}--> 1      and   2 --TRUE/{}--> 2

    Attributes
    ----------
    n_states : int
        States are `0 .. n_states - 1`.
    initial : int
    final : frozenset of int
    transitions : tuple of Transition
    epsilon : tuple of (int, int)
        Moves that read nothing.

    Raises
    ------
    UnknownStateError
        If a state lies outside `0 .. n_states - 1`.
    """

    n_states: int
    initial: int
    final: frozenset[int]
    transitions: tuple[Transition, ...]
    epsilon: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        states = checked_states(self.n_states, self.initial, self.final)
        for move in self.transitions:
            if move.source not in states or move.target not in states:
                raise UnknownStateError(
                    f"transition from state {move.source} to state {move.target} on {move.predicate}: "
                    f"not both are among the {self.n_states} states"
                )
        for source, target in self.epsilon:
            if source not in states or target not in states:
                raise UnknownStateError(
                    f"epsilon transition from state {source} to state {target}: "
                    f"not both are among the {self.n_states} states"
                )

    @property
    def size(self) -> int:
        """States, transitions and epsilon transitions together."""
        return self.n_states + len(self.transitions) + len(self.epsilon)


class Step(NamedTuple):
    """One transition of a deterministic automaton; `label` is an index into its labels."""

    source: int
    symbol: int
    label: int
    target: int


@dataclass(frozen=True, slots=True)
class DeterministicCEA:
    """An I/O-deterministic CEA: from a state, a symbol and a label lead to at most one state.

    Distinct accepting runs on a stream therefore give distinct complex events. `A ; B`, where the symbols
    are 0 (neither), 1 (an A) and 2 (a B) and the labels {}, {A} and {B}, is ::

        0 --1/{A}--> 1 --2/{B}--> 2      and   1 --0,1,2/{}--> 1

    Attributes
    ----------
    n_states : int
        States are `0 .. n_states - 1`; state 0 is initial, never entered again and never final.
    n_symbols : int
        Symbols are `0 .. n_symbols - 1`.
    labels : tuple of frozenset of str
        `labels[0]` is the empty one; the others follow in the order of their sorted variables.
    transitions : tuple of Step
        Sorted by (symbol, source, label).
    final : frozenset of int

    Raises
    ------
    UnknownStateError, UnknownSymbolError, UnknownLabelError
        If a part of a transition does not exist.
    NotDeterministicError
        If two transitions share source, symbol and label, or the transitions are not sorted.
    InitialStateError
        If state 0 is entered or final.
    """

    n_states: int
    n_symbols: int
    labels: tuple[Label, ...]
    transitions: tuple[Step, ...]
    final: frozenset[int]

    def __post_init__(self) -> None:
        states = range(self.n_states)
        names = [sorted(label) for label in self.labels]
        if not names or names[0] or any(low >= high for low, high in pairwise(names)):
            raise UnknownLabelError(f"labels {names} do not begin with the empty one and ascend")
        for state in sorted(self.final):
            if state not in states:
                raise UnknownStateError(f"final state {state} is not among the {self.n_states} states")
        if 0 in self.final or 0 not in states:
            raise InitialStateError("state 0 is initial: it has to exist and cannot be final")
        before = (-1, -1, -1)
        for step in self.transitions:
            order = (step.symbol, step.source, step.label)
            if step.source not in states or step.target not in states:
                raise UnknownStateError(f"{_named(step)}: not both are among the {self.n_states} states")
            if step.symbol not in range(self.n_symbols):
                raise UnknownSymbolError(f"{_named(step)}: there are {self.n_symbols} symbols")
            if step.label not in range(len(self.labels)):
                raise UnknownLabelError(f"{_named(step)}: there are {len(self.labels)} labels")
            if step.target == 0:
                raise InitialStateError(f"{_named(step)}: the initial state is entered again")
            if order <= before:
                raise NotDeterministicError(f"{_named(step)}: not after symbol, source and label {before}")
            before = order

    @property
    def size(self) -> int:
        """States and transitions together."""
        return self.n_states + len(self.transitions)


def _named(step: Step) -> str:
    return (
        f"transition from state {step.source} on symbol {step.symbol} with label {step.label} "
        f"to state {step.target}"
    )


def closures(cea: CEA) -> tuple[frozenset[int], ...]:
    """For each state the states that epsilon transitions reach from it, itself included."""
    follow: list[list[int]] = [[] for _ in range(cea.n_states)]
    for source, target in cea.epsilon:
        follow[source].append(target)
    closed = []
    for state in range(cea.n_states):
        reached = {state}
        pending = [state]
        while pending:
            new = [target for target in follow[pending.pop()] if target not in reached]
            reached.update(new)
            pending += new
        closed.append(frozenset(reached))
    return tuple(closed)
