"""The automaton of a query as nodes and edges, which `explain` draws in any format.

`A AS a ; B` becomes ::

    * ----> (0) --A / A, a--> (1) --B / B--> ((2))        and   (1) --any event--> (1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto

from cer_gpu.automata.bisimulation import coarsest
from cer_gpu.automata.cea import CEA, DeterministicCEA, Predicate, Transition, closures, identity
from cer_gpu.automata.comparisons import PairAutomaton, PairStep
from cer_gpu.automata.construct import trim
from cer_gpu.automata.pcea import PCEA, GatherTransition
from cer_gpu.automata.position_walk import PositionStep
from cer_gpu.automata.step_positions import PlaceAutomaton
from cer_gpu.automata.timed.clocks import checks_of
from cer_gpu.automata.timed.timed_cea import TimedCEA, disjunction_free
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.lookups import LookupPlan
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language.printer import interval_text, to_text
from cer_gpu.language.words import written
from cer_gpu.plan.drawing_text import EventSets, check_text, equality_text, marks_text, one_of, predicate_text

STATE_BUDGET = 100
"""States that are drawn at most: 30 are easy to read, and more than these cannot be told apart."""

MOST_LINES, LONGEST_LINE = 4, 44
"""What is shown of the text of an edge."""

MARKED = " / "
"""The separator between the predicate of an edge and its marks."""


class Kind(Enum):
    """What a node stands for."""

    START = auto()  # the dot from which the arrow to the initial state comes
    STATE = auto()
    FINAL = auto()
    JUNCTION = auto()  # where the runs meet that one transition gathers


@dataclass(frozen=True, slots=True)
class Node:
    """A state or a node beside the states; `name` is empty if nothing is written in it."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow; nodes are given by their place in the drawing.

    Attributes
    ----------
    source, target : int
    lines : tuple of str
        One for each set of marks, `predicate / marks`, or one for an equality.
    """

    source: int
    target: int
    lines: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The first few lines, long ones cut short."""
        cut = [_cut(line) for line in self.lines]
        if len(cut) > MOST_LINES:
            cut = [*cut[: MOST_LINES - 1], f"and {len(cut) - MOST_LINES + 1} more"]
        return tuple(cut)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and edges; no two edges have one source and one target."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def of_nondeterministic(cea: CEA) -> Drawing:
    """The drawing of a CEA: trimmed, without epsilon transitions, bisimilar states merged."""
    drawn = merged(without_epsilon(cea))
    edges = _Edges()
    for move in drawn.transitions:
        edges.add(move.source, move.target, predicate_text(move.predicate), marks_text(move.label))
    return _with_start(drawn.n_states, drawn.final, edges)


def of_deterministic(machine: DeterministicCEA, described: Callable[[frozenset[int]], str]) -> Drawing:
    """A deterministic automaton over symbols.

    Parameters
    ----------
    machine : DeterministicCEA
    described : callable
        Returns the text that describes the events of a set of symbols.
    """
    symbols: dict[tuple[int, int, int], set[int]] = {}
    for step in machine.transitions:
        symbols.setdefault((step.source, step.target, step.label), set()).add(step.symbol)
    edges = _Edges()
    for (source, target, label), found in symbols.items():
        edges.add(source, target, described(frozenset(found)), marks_text(machine.labels[label]))
    return _with_start(machine.n_states, machine.final, edges)


def of_composed(
    machine: DeterministicCEA,
    rows: Sequence[Sequence[int]],
    symbol_of: Sequence[int],
    outcomes: Sequence[frozenset[int]],
    tests: Sequence[Predicate],
) -> Drawing:
    """The drawing of a deterministic automaton, with sets of symbols described by predicates.

    Parameters
    ----------
    machine : DeterministicCEA
    rows : sequence of sequence of int
        For each state of the monitor, the symbol that each symbol becomes; one row without a monitor.
    symbol_of : sequence of int
        For each class of events the symbol that the monitor reads.
    outcomes : sequence of frozenset of int
        For each class of events the indices of the predicates that hold.
    tests : sequence of Predicate
    """
    _refuse_large(machine.n_states)
    # By symbol the classes of events that give it, with the prefixes of the stream after which they do.
    given: list[set[tuple[int, int]]] = [set() for _ in range(machine.n_symbols)]
    for prefix, row in enumerate(rows):
        for event_class, symbol in enumerate(symbol_of):
            given[row[symbol]].add((event_class, prefix))
    sets = EventSets(outcomes, tests)

    def described(symbols: frozenset[int]) -> str:
        prefixes = Counter(event_class for symbol in symbols for event_class, _ in given[symbol])
        always = {event_class for event_class, found in prefixes.items() if found == len(rows)}
        texts = [sets.text(always)] if always else []
        if sometimes := prefixes.keys() - always:
            texts.append(f"{sets.text(sometimes)} (after some prefixes)")
        return one_of(texts)

    return of_deterministic(machine, described)


def of_parallelized(pcea: PCEA, body: ConjunctiveQuery | None) -> Drawing:
    """The drawing of a PCEA; `body` is that of a rule, whose atoms the labels name.

    The start is drawn once, with an edge for each transition that gathers no run. A transition that gathers
    several runs goes through a junction, where the edges that lead into it say what has to be equal.
    """
    _refuse_large(len(pcea.names))
    nodes = _states(pcea.names, pcea.final)
    start = len(nodes)
    nodes.append(Node("", Kind.START))
    edges = _Edges()
    junctions: dict[tuple[object, ...], int] = {}
    for move in pcea.transitions:
        read, marked = predicate_text(move.predicate), _marks(move, body)
        equal = [equality_text(one, move, body) for one in move.joins]
        match move.sources:
            case ():
                edges.add(start, move.target, read, marked)
            case (source,):
                edges.add(source, move.target, read, marked, equal[0])
            case _:
                # Transitions that differ in what they mark, or in their predicate, share a junction.
                key = (move.sources, move.joins, move.target)
                if key not in junctions:
                    junctions[key] = len(nodes)
                    nodes.append(Node("", Kind.JUNCTION))
                for source, text in zip(move.sources, equal, strict=True):
                    edges.add(source, junctions[key], text)
                edges.add(junctions[key], move.target, read, marked)
    return Drawing(tuple(nodes), edges.built())


def of_places(automaton: PlaceAutomaton) -> Drawing:
    """The automaton of a timed pattern: a state is the last event matched, an edge says how long ago."""
    asked = [(step, sorted(interval_text(gap) for gap in step.gaps)) for step in automaton.steps]
    entered = [(place.predicate, place.label) for place in automaton.places]
    return _of_steps(entered, automaton.first, automaton.last, asked)


def of_pairs(automaton: PairAutomaton) -> Drawing:
    """The automaton of compared steps: a state is the last event matched, an edge says what is compared."""
    asked = [
        (step, sorted(f"{to_text(one.old)} {one.op} {to_text(one.new)}" for one in step.tests))
        for step in automaton.steps
    ]
    entered = zip(automaton.predicates, (filter(None, label) for label in automaton.labels))
    return _of_steps(list(entered), automaton.first, automaton.last, asked)


def _of_steps(
    entered: Sequence[tuple[Predicate, Iterable[str]]],
    first: Iterable[int],
    last: Iterable[int],
    steps: Iterable[tuple[PositionStep | PairStep, Sequence[str]]],
) -> Drawing:
    """States that events enter, each with its predicate and its marks, and steps with what they ask."""
    _refuse_large(len(entered))
    nodes = _states([str(state) for state in range(len(entered))], last)
    nodes.append(Node("", Kind.START))
    edges = _Edges()
    texts = [(predicate_text(predicate), marks_text(label)) for predicate, label in entered]
    for state in first:
        edges.add(len(entered), state, *texts[state])
    for step, asked in steps:
        edges.add(step.source, step.target, *texts[step.target], *([":"] if step.contiguous else []), *asked)
    return Drawing(tuple(nodes), edges.built())


def of_timed(timed: TimedCEA, units: bool) -> Drawing:
    """A timed automaton of one clock; an edge also says what it asks of the clock, and whether it resets it.

    Parameters
    ----------
    timed : TimedCEA
    units : bool
        Whether its constants are in nanoseconds; else they are plain numbers.
    """
    _refuse_large(timed.n_states)
    edges = _Edges()
    for move in disjunction_free(timed).transitions:
        asked = [check_text(check, units) for check in checks_of(move.condition)]
        resets = ["reset z"] if move.resets else []
        marks = marks_text(move.label)
        edges.add(move.source, move.target, predicate_text(move.predicate), marks, *asked, *resets)
    return _with_start(timed.n_states, timed.final, edges)


def without_epsilon(cea: CEA) -> CEA:
    """An automaton of the same runs in which every transition reads an event; trimmed."""
    reached = closures(cea)
    leaving: list[list[Transition]] = [[] for _ in range(cea.n_states)]
    for move in cea.transitions:
        leaving[move.source].append(move)
    return trim(
        CEA(
            cea.n_states,
            cea.initial,
            frozenset(state for state, closure in enumerate(reached) if closure & cea.final),
            tuple(
                Transition(state, move.predicate, move.label, move.target)
                for state, closure in enumerate(reached)
                for between in sorted(closure)
                for move in leaving[between]
            ),
        )
    )


def merged(cea: CEA) -> CEA:
    """Merge states with the same continuations, by the coarsest forward bisimulation; no epsilon allowed."""
    read = [identity(move.predicate) for move in cea.transitions]
    leaving: list[list[tuple[object, ...]]] = [[] for _ in range(cea.n_states)]
    for move, test in zip(cea.transitions, read):
        leaving[move.source].append((test, move.label, move.target))
    block = coarsest([state in cea.final for state in range(cea.n_states)], leaving)
    moves = (Transition(block[m.source], m.predicate, m.label, block[m.target]) for m in cea.transitions)
    kept = {(m.source, test, m.label, m.target): m for m, test in zip(moves, read)}
    return trim(
        CEA(
            max(block) + 1,
            block[cea.initial],
            frozenset(block[state] for state in cea.final),
            tuple(kept.values()),
        )
    )


class _Edges:
    """The edges of a drawing, gathered transition by transition."""

    def __init__(self) -> None:
        # For each pair of nodes and each set of marks, or equality, the predicates.
        self._found: dict[tuple[int, int], dict[tuple[str, ...], dict[str, None]]] = {}

    def add(self, source: int, target: int, read: str, *after: str) -> None:
        """Add a transition on `read`; each non-empty text of `after` is written behind a slash."""
        rest = tuple(filter(None, after))
        self._found.setdefault((source, target), {}).setdefault(rest, {})[read] = None

    def bare(self, source: int, target: int) -> None:
        """Add an arrow without text."""
        self._found[source, target] = {}

    def built(self) -> tuple[Edge, ...]:
        return tuple(
            Edge(*ends, tuple(filter(None, (_line(list(read), rest) for rest, read in texts.items()))))
            for ends, texts in sorted(self._found.items())
        )


def _cut(line: str) -> str:
    """A line without the end of its predicate where it is too long; its marks stay."""
    read, slash, rest = line.rpartition(MARKED)
    if not slash:
        read, rest = line, ""
    room = max(LONGEST_LINE - len(slash) - len(rest), LONGEST_LINE // 2)
    return (read if len(read) <= room else f"{read[: room - 1].rstrip()}…") + slash + rest


def _line(read: Sequence[str], rest: Sequence[str]) -> str:
    return MARKED.join((one_of(read), *rest))


def _with_start(n_states: int, final: Iterable[int], edges: _Edges) -> Drawing:
    _refuse_large(n_states)
    nodes = _states([str(state) for state in range(n_states)], final)
    edges.bare(len(nodes), 0)
    return Drawing((*nodes, Node("", Kind.START)), edges.built())


def _states(names: Sequence[str], final: Iterable[int]) -> list[Node]:
    ends = frozenset(final)
    return [Node(name, Kind.FINAL if state in ends else Kind.STATE) for state, name in enumerate(names)]


def _refuse_large(n_states: int) -> None:
    if n_states > STATE_BUDGET:
        raise LimitError(
            f"the automaton has {n_states:,} states, and at most {STATE_BUDGET} can be drawn: "
            "draw a part of the pattern, or read `explain` as text"
        )


def _marks(move: GatherTransition, body: ConjunctiveQuery | None) -> str:
    if body is None:
        return marks_text(str(mark) for mark in move.label)
    return ", ".join(atom.text for atom in body.atoms if atom.id in move.label)


def of_rule(body: ConjunctiveQuery, lookups: LookupPlan) -> Drawing:
    """The atoms of a rule, with an arrow between two that share a variable or that a comparison reads."""
    lines: dict[tuple[int, int], list[str]] = {}
    for joined in lookups.joined:
        first, *others = joined.attribute_of
        for other in others:
            lines.setdefault((first, other), []).append(f"same {written(joined.name)}")
    read = [(frozenset(one.atoms), one.source) for one in lookups.compared]
    read += [(one.atoms, one.source) for one in lookups.checked]
    for atoms, source in read:
        first, *others = sorted(atoms)
        for other in others:
            lines.setdefault((first, other), []).append(to_text(source))
    nodes = tuple(Node(atom.text, Kind.FINAL) for atom in body.atoms)
    return Drawing(nodes, tuple(Edge(*ends, tuple(said)) for ends, said in sorted(lines.items())))
