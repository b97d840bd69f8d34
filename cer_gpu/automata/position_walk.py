"""A walk over a formula that finds its positions and the steps between them (Glushkov's construction).

A **position** is an atom of the formula: a place where an event is matched. `A AS a ; (B AS b)+` has two, and
the steps 0 -> 1 and 1 -> 1, the second of which takes the iteration's loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from cer_gpu.automata.cea import Predicate, both, outlook
from cer_gpu.automata.construct import atom, leaning_elements
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.repetitions import has_optional

STEPS = 200_000
"""Steps of a formula at most."""


@dataclass(frozen=True, slots=True)
class PositionStep:
    """From the event of one position to that of the next.

    Attributes
    ----------
    source, target : int
    contiguous : bool
        Whether the events are neighbours in the stream.
    loop : int or None
        The iteration whose next repetition begins.
    gaps : frozenset of Interval
        Intervals that must all contain the time between the two.
    """

    source: int
    target: int
    contiguous: bool
    loop: int | None
    gaps: frozenset[t.Interval] = frozenset()


class Fragment(NamedTuple):
    """A subformula.

    Attributes
    ----------
    first, last : tuple of int
        The positions with which it begins and ends.
    marked : mapping of int to frozenset of str
        The variables that mark each of its positions at this level.
    steps : tuple of PositionStep
    """

    first: tuple[int, ...]
    last: tuple[int, ...]
    marked: Mapping[int, frozenset[str]]
    steps: tuple[PositionStep, ...]


class PositionWalk:
    """Walks over event types with filters, AS, PROJECT, OR, sequences, iterations, FOLLOWED BY.

    Attributes
    ----------
    types : list of str
        The event type of each position.
    predicates : list of Predicate
        The predicate of its event.
    loops : list of int
        The iterations that are being walked over.
    """

    def __init__(self) -> None:
        self.types: list[str] = []
        self.predicates: list[Predicate] = []
        self.loops: list[int] = []
        self.n_loops = 0
        self._n_steps = 0

    def of(self, node: t.Pattern) -> Fragment:
        """The fragment of a formula.

        Raises
        ------
        LimitError
            When there are more than `STEPS` steps.
        TypeError
            For any other node.
        """
        match node:
            case t.EventType() | t.Filter():
                event_type, predicate = atom(node)
                place = self.place(event_type.name, predicate)
                return Fragment((place,), (place,), {place: frozenset(event_type.variables)}, ())
            case t.As(pattern=inner, variable=name):
                part = self.of(inner)
                named = {place: names | {name} if names else names for place, names in part.marked.items()}
                return part._replace(marked=named)
            case t.Project(pattern=inner, variables=kept):
                part = self.scope(node, inner)
                shown = {place: names.intersection(kept) for place, names in part.marked.items()}
                return part._replace(marked=shown)
            case t.Or(left=left, right=right):
                one, other = self.of(left), self.of(right)
                return Fragment(
                    one.first + other.first,
                    one.last + other.last,
                    {**one.marked, **other.marked},
                    one.steps + other.steps,
                )
            case t.Beside(left=left):
                return self._restricted(self.of(left), outlook(node), node.before)
            case t.Optional(pattern=inner):
                return self.of(inner)
            case t.Sequence():
                return self._elements(
                    leaning_elements(node) if has_optional(node) else [(node.left, None), (node.right, node)]
                )
            case t.Iteration():
                return self.iteration(node)
        raise TypeError(f"no automaton is built for {type(node).__name__} from positions")

    def scope(self, node: t.Project | t.Iteration, body: t.Pattern) -> Fragment:
        """The fragment of what a node binds variables for."""
        return self.of(body)

    def iteration(self, node: t.Iteration) -> Fragment:
        """Each repetition that is counted is a fragment of its own."""
        number = self.n_loops
        self.n_loops += 1
        self.loops.append(number)
        parts: list[Fragment] = []
        steps: list[PositionStep] = []
        for _ in range(node.most or node.least):
            part = self.scope(node, node.pattern)
            steps += part.steps
            if parts:
                steps += self._joint(parts[-1].last, part.first, node, number)
            parts.append(part)
        self.loops.pop()
        if node.most is None:
            steps += self._joint(parts[-1].last, parts[-1].first, node, number)
        return Fragment(
            parts[0].first,
            tuple(place for one in parts[node.least - 1 :] for place in one.last),
            {place: names for one in parts for place, names in one.marked.items()},
            tuple(steps),
        )

    def place(self, event_type: str, predicate: Predicate) -> int:
        """A new position."""
        self.types.append(event_type)
        self.predicates.append(predicate)
        return len(self.types) - 1

    def stricter(self, places: Iterable[int], predicate: Predicate) -> dict[int, int]:
        """For each of some positions a new one, whose event satisfies a predicate too."""
        return {
            place: self.place(self.types[place], both(self.predicates[place], predicate))
            for place in dict.fromkeys(places)
        }

    def count(self, steps: int, said: str) -> None:
        """Count steps that are made; `said` is the message of the error."""
        self._n_steps += steps
        if self._n_steps > STEPS:
            raise LimitError(said)

    def _joint(
        self,
        sources: tuple[int, ...],
        targets: tuple[int, ...],
        node: t.Sequence | t.Iteration,
        loop: int | None = None,
    ) -> list[PositionStep]:
        self.count(
            len(sources) * len(targets),
            f"the pattern has more than {STEPS:,} steps from one event to the next: count fewer repetitions, "
            "or use fewer alternatives",
        )
        gaps = frozenset[t.Interval]() if node.gap is None else frozenset({node.gap})
        return [
            PositionStep(source, target, node.contiguous, loop, gaps)
            for source in sources
            for target in targets
        ]

    def _elements(self, elements: list[tuple[t.Pattern, t.Sequence | None]]) -> Fragment:
        """A sequence, some elements of which may be optional: each follows the last ones before it."""
        first: tuple[int, ...] = ()
        last: tuple[int, ...] = ()
        marked: dict[int, frozenset[str]] = {}
        steps: list[PositionStep] = []
        empty = True
        for element, joint in elements:
            part = self.of(element)
            steps += part.steps
            if joint is not None:
                steps += self._joint(last, part.first, joint)
            optional = isinstance(element, t.Optional)
            first += part.first if empty else ()
            last = last + part.last if optional else part.last
            empty = empty and optional
            marked |= part.marked
        return Fragment(first, last, marked, tuple(steps))

    def _restricted(self, part: Fragment, predicate: Predicate, first: bool) -> Fragment:
        """Where the last event satisfies a predicate; where the first does, if `first`.

        The positions of these events are there once more, with the predicate, and end (begin) the part.
        """
        copy = self.stricter(part.first if first else part.last, predicate)
        steps = list(part.steps)
        for step in part.steps:
            if first and step.source in copy:
                steps.append(replace(step, source=copy[step.source]))
            elif not first and step.target in copy:
                steps.append(replace(step, target=copy[step.target]))
        marked = {**part.marked, **{new: part.marked[old] for old, new in copy.items()}}
        ends = tuple(copy.values())
        # A position that is the first and the last one is a match of one event, its copy too.
        alone = tuple(copy[place] for place in (part.last if first else part.first) if place in copy)
        if first:
            return Fragment(ends, part.last + alone, marked, tuple(steps))
        return Fragment(part.first + alone, ends, marked, tuple(steps))
