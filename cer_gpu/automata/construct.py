"""From a formula in LP-normal form to a CEA of linear size (thesis, Theorem 7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from cer_gpu.automata.cea import (
    CEA,
    Label,
    Predicate,
    Transition,
    TypeTest,
    both,
    closures,
    complement,
    outlook,
)
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.errors import LimitError
from cer_gpu.language.printer import abridged
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.tree import (
    As,
    Beside,
    Both,
    Condition,
    Either,
    EventType,
    Every,
    Filter,
    Iteration,
    Not,
    Optional,
    Or,
    OtherEvent,
    Pattern,
    Project,
    Sequence,
    Truth,
)
from cer_gpu.language.walk import children, nodes, rebuild

REPETITIONS = 20_000
"""How many steps the counts of a pattern may stand for: `(A ; B) {5,}` are ten."""

Part = TypeVar("Part")

Relabelling: TypeAlias = "tuple[As | Project, Relabelling] | None"
"""The AS and PROJECT around a subformula, the innermost first."""


def construct(pattern: Pattern) -> CEA:
    """The CEA of a formula in LP-normal form.

    Every subformula becomes transitions between two states that its context gives it, none of which enters
    the first or leaves the second. So OR shares both, a sequence needs one state more, in which `;` waits,
    and an iteration three for each repetition that is counted. A sequence with optional elements may leave
    out each of them in two ways: with an element before it, or with none. The relabellings of AS and PROJECT
    are carried down to the atoms.

    Parameters
    ----------
    pattern : Pattern
        Made of event types (filtered ones as `Filter(T, Every("T", ...))`), NOT, AS, PROJECT, OR, FOLLOWED
        BY, PRECEDED BY and untimed sequences and iterations.

    Returns
    -------
    CEA
        Initial state 0, final state 1, and size at most 2 + 9 times the nodes of the formula, each as often
        as repetitions of it are counted.

    Raises
    ------
    TypeError
        For any other node, naming it.
    LimitError
        When it counts more repetitions than `REPETITIONS`.
    """
    check_repetitions(pattern)
    n_states = 2
    transitions: list[Transition] = []
    epsilon: list[tuple[int, int]] = []
    pending: list[tuple[Pattern, int, int, Relabelling]] = [(pattern, 0, 1, None)]
    atoms: dict[int, tuple[EventType, Predicate]] = {}

    def waiting(state: int) -> None:
        transitions.append(Transition(state, Truth(True), frozenset(), state))

    def fresh(count: int) -> range:
        nonlocal n_states
        n_states += count
        return range(n_states - count, n_states)

    def joined(before: int, after: int, contiguous: bool) -> None:
        if contiguous:
            epsilon.append((before, after))
        else:
            (between,) = fresh(1)
            waiting(between)
            epsilon.extend([(before, between), (between, after)])

    while pending:
        node, source, target, around = pending.pop()
        match node:
            case EventType() | Filter():
                # A normal form shares its atoms; so its predicates are few objects.
                if id(node) not in atoms:
                    atoms[id(node)] = atom(node)
                event_type, predicate = atoms[id(node)]
                label = relabelled(frozenset(event_type.variables), around)
                transitions.append(Transition(source, predicate, label, target))
            case OtherEvent():
                transitions.append(Transition(source, complement(excluded(node)), frozenset(), target))
            case As() | Project():
                pending.append((node.pattern, source, target, (node, around)))
            case Or(left, right):
                pending += [(right, source, target, around), (left, source, target, around)]
            case Optional(inner):  # a whole formula: as an element its sequence goes past it
                pending.append((inner, source, target, around))
            case Sequence() if has_optional(node):
                elements = leaning_elements(node)
                # Before each element: nothing has been taken yet, something has.
                empty, some = fresh(len(elements) + 1), fresh(len(elements) + 1)
                epsilon += [(source, empty[0]), (some[-1], target)]
                for place, (element, joint) in enumerate(elements):
                    first, last = fresh(2)
                    epsilon += [(empty[place], first), (last, some[place + 1])]
                    if joint is not None:
                        joined(some[place], first, joint.contiguous)
                    if isinstance(element, Optional):
                        skipped = [(side[place], side[place + 1]) for side in (empty, some)]
                        epsilon += skipped
                    pending.append((element, first, last, around))
            case Sequence(left, right, contiguous, None):
                (between,) = fresh(1)
                if not contiguous:
                    waiting(between)
                pending += [(right, between, target, around), (left, source, between, around)]
            case Iteration(body, contiguous, None):
                before = None
                for number in range(1, (node.most or node.least) + 1):
                    first, last = fresh(2)
                    if before is None:
                        epsilon.append((source, first))
                    else:
                        joined(before, first, contiguous)
                    if number >= node.least:
                        epsilon.append((last, target))
                    pending.append((body, first, last, around))
                    before = last
                if node.most is None:
                    joined(last, first, contiguous)
            case Beside(left):
                part = restricted(construct(left), outlook(node), node.before)
                offset = n_states
                transitions += [
                    Transition(offset + move.source, move.predicate, relabelled(move.label, around),
                               offset + move.target)
                    for move in part.transitions
                ]  # fmt: skip
                epsilon += [(offset + one, offset + other) for one, other in part.epsilon]
                epsilon.append((source, offset + part.initial))
                epsilon += [(offset + state, target) for state in part.final]
                n_states += part.n_states
            case _:
                raise TypeError(f"no automaton is built for {type(node).__name__}{_timed(node)}")
    return CEA(n_states, 0, frozenset({1}), tuple(transitions), tuple(epsilon))


def restricted(cea: CEA, predicate: Predicate, first: bool) -> CEA:
    """Restrict a CEA to complex events whose last event (`first`: first event) satisfies a predicate.

    `A ; B FOLLOWED BY C` becomes `A ; (B and C follows)`: every transition into a final state gets a copy
    with the predicate, into the one final state of the result. With `first`, the transitions that leave the
    initial state are copied in this way from a new one.
    """
    closed, new = closures(cea), cea.n_states
    if first:
        more = [
            Transition(new, both(move.predicate, predicate), move.label, move.target)
            for move in cea.transitions
            if move.source in closed[cea.initial]
        ]
        return CEA(new + 1, new, cea.final, (*cea.transitions, *more), cea.epsilon)
    more = [
        Transition(move.source, both(move.predicate, predicate), move.label, new)
        for move in cea.transitions
        if not cea.final.isdisjoint(closed[move.target])
    ]
    return CEA(new + 1, cea.initial, frozenset({new}), (*cea.transitions, *more), cea.epsilon)


def leaning_elements(pattern: Sequence) -> list[tuple[Pattern, Sequence | None]]:
    """The elements of a sequence with optional ones, each with the node whose operator stands before it."""
    found: list[tuple[Pattern, Sequence | None]] = []
    rest: Pattern = pattern
    while isinstance(rest, Sequence):
        found.append((rest.right, rest))
        rest = rest.left
    return [(rest, None), *reversed(found)]


def with_optional(
    node: Sequence,
    of: Callable[[Pattern], Part],
    joined: Callable[[Sequence, Part, Part], Part],
    either: Callable[[Part, Part], Part],
) -> Part:
    """The automaton of a sequence with optional elements: leaving one out is an alternative.

    Parameters
    ----------
    node : Sequence
    of, joined, either : callable
        Return the automaton of an element, of two in sequence, and of alternatives.
    """
    (first, _), *others = leaning_elements(node)
    found = of(first)
    empty = isinstance(first, Optional)
    for element, joint in others:
        assert joint is not None
        right = of(element)
        ways = [joined(joint, found, right)]
        if isinstance(element, Optional):
            ways.append(found)
        if empty:
            ways.append(right)
        empty = empty and isinstance(element, Optional)
        found = ways[0]
        for way in ways[1:]:
            found = either(found, way)
    return found


def check_repetitions(pattern: Pattern) -> None:
    """Raise LimitError for counts `{n,m}` that stand for more than `REPETITIONS` steps."""

    def steps(node: Pattern) -> int:
        inside = sum(map(steps, children(node))) if children(node) else 1
        if isinstance(node, Iteration):
            inside *= node.most or node.least
            if inside > REPETITIONS and node.times is not None:
                raise LimitError(
                    f"`{abridged(node)}` stands for {inside:,} steps, and at most {REPETITIONS:,} are "
                    "allowed: repeat fewer times, or write `+` and filter by COUNT"
                )
        return inside

    if any(isinstance(node, Iteration) and node.times is not None for node in nodes(pattern)):
        steps(pattern)


def relabelled(label: Label, around: Relabelling) -> Label:
    while around is not None:
        node, around = around
        if isinstance(node, Project):
            label = label.intersection(node.variables)
        elif label:  # AS names what is marked, so not what NOT matched or PROJECT unmarked
            label = label | {node.variable}
    return label


def is_atom(node: Pattern) -> bool:
    """Whether a formula is an event type, filtered or not."""
    while isinstance(node, Filter):
        node = node.pattern
    return isinstance(node, EventType)


def atom(node: EventType | Filter) -> tuple[EventType, Predicate]:
    conditions: list[Condition] = []
    inner: Pattern = node
    while isinstance(inner, Filter):
        conditions.append(inner.condition)
        inner = inner.pattern
    if not isinstance(inner, EventType):
        raise TypeError(f"no automaton is built for Filter over {type(inner).__name__}: not LP-normal")
    predicate: Predicate = type_test(inner)
    for condition in reversed(conditions):
        predicate = both(predicate, on_event(condition, inner))
    return inner, predicate


def excluded(node: OtherEvent) -> Predicate:
    """The predicate of the events that `NOT (T FILTER c)` excludes."""
    predicate = type_test(node.type)
    return predicate if node.condition is None else both(predicate, on_event(node.condition, node.type))


def type_test(event_type: EventType) -> Predicate:
    return TypeTest(event_type.name, event_type.stream)


def on_event(condition: Condition, event_type: EventType) -> Condition:
    """A condition on the variables of one event as a predicate of that event."""
    match condition:
        case Every(variable, predicate) if variable in event_type.variables:
            return predicate
        case Truth():
            return condition
        case Not() | Both() | Either():
            made: Condition = rebuild(condition, lambda part: on_event(part, event_type))
            return made
        case Every(variable, _):
            raise TypeError(
                f"no automaton is built for Filter of {variable!r} on {event_type.name!r}: not LP-normal"
            )
    raise TypeError(f"no automaton is built for {type(condition).__name__} in a filter: not LP-normal")


def _timed(node: Pattern) -> str:
    return " with a gap" if isinstance(node, Sequence | Iteration) else ""


def trim(cea: CEA) -> CEA:
    """The states that are reached from the initial state and reach a final one, numbered breadth-first.

    Transitions on `Truth(False)` never fire and are dropped. The initial state stays, as state 0, also when
    no run accepts.
    """
    moves: list[list[tuple[tuple[Predicate, Label] | None, int]]] = [[] for _ in range(cea.n_states)]
    for move in cea.transitions:
        if move.predicate != Truth(False):
            moves[move.source].append(((move.predicate, move.label), move.target))
    for source, target in cea.epsilon:
        moves[source].append((None, target))

    arcs = ((source, target) for source, leaving in enumerate(moves) for _, target in leaving)
    useful = coreachable(cea.n_states, arcs, cea.final)
    found = explore(
        cea.initial,
        lambda state: [(edge, target) for edge, target in moves[state] if target in useful],
        cea.final.__contains__,
        None,
        "trimming",
    )
    return CEA(
        len(found.states),
        0,
        found.final,
        tuple(Transition(source, *edge, target) for source, edge, target in found.edges if edge is not None),
        tuple((source, target) for source, edge, target in found.edges if edge is None),
    )
