"""Classifies a timed formula: its fragment, its clocks, whether resets are synchronous, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from cer_gpu.automata.cea import Predicate, TypeTest
from cer_gpu.automata.timed.agreement import MergedClocks, merged_clocks
from cer_gpu.automata.timed.clocks import Terms, in_nanoseconds
from cer_gpu.automata.timed.construction import FormulaCEA, constructed
from cer_gpu.automata.timed.monotonicity import MonotonicCEA, NotMonotonicError, monotonic
from cer_gpu.automata.timed.subsets import DeterministicTimedCEA, determinise_timed
from cer_gpu.automata.timed.synchrony import TimedWitness, asked_later, asynchronous
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, is_deterministic
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.printer import interval_text, to_text
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.language.walk import is_one_event, nodes

Classes = Callable[[TimedCEA], EventClasses]
"""The classes of events that an automaton tells apart."""

CLASS_BUDGET = 1_000
"""Transitions of an automaton that is looked at: `explain` is to take no second."""

NAMED_CLOCKS = 6
"""So many clocks are named in words."""


@dataclass(frozen=True, slots=True)
class TimedClass:
    """What is known of a timed formula.

    Attributes
    ----------
    is_swg : bool
        Whether it is a swg-query: single events one after another, gaps, and windows over all (section 3).
    is_windowed : bool
        Whether Theorem 5.5 applies.
    merged : MergedClocks
        The timed CEA with its clocks merged.
    clocks_before : int
        How many clocks Proposition 4.3 uses.
    clocks : tuple of str
        The clocks that are left, in words.
    witness : TimedWitness or None
        Two runs that show that the resets are not synchronous; None if they are, or if it is undecided.
    undecided : str
        Why it is undecided; empty if it is decided.
    is_deterministic : bool
        Whether the timed CEA is deterministic as it is made.
    determinised : DeterministicTimedCEA or None
        By Theorem 5.3; None where the resets are not synchronous, or it would be too large.
    one_clock : MonotonicCEA or None
        The deterministic monotonic automaton with one clock of Theorem 6.1.
    not_one_clock : str
        Why there is none; empty if there is, or if no clock is asked.
    """

    is_swg: bool
    is_windowed: bool
    merged: MergedClocks
    clocks_before: int
    clocks: tuple[str, ...]
    witness: TimedWitness | None
    undecided: str
    is_deterministic: bool
    determinised: DeterministicTimedCEA | None
    one_clock: MonotonicCEA | None
    not_one_clock: str


def timed_class(formula: tree.Pattern, classes: Classes, terms: Terms = in_nanoseconds) -> TimedClass:
    """Classify a formula with time operators.

    Parameters
    ----------
    formula : Pattern
        With windows and projections of the query around it.
    classes : callable
        Returns the classes of events that an automaton tells apart.
    terms : callable
        The constant that a bound stands for.

    Raises
    ------
    BeyondTimedCELError
        For UNLESS, NXT, LAST and MAX, and for a filter that compares events.
    LimitError
        When its timed CEA is too large.
    """
    made = constructed(formula, terms)
    if len(made.timed.transitions) > CLASS_BUDGET:
        raise LimitError(f"its timed automaton has more than {CLASS_BUDGET:,} transitions")
    merged = merged_clocks(made.timed)
    events = classes(merged.timed)
    given = any(
        bound is not None and bound.parameter is not None
        for interval in intervals(formula)
        for bound in (interval.low, interval.high)
    )
    witness, undecided = None, ""
    if not merged.follows_marks:
        if given:
            undecided = "it depends on the bounds that come with the call"
        else:
            witness, undecided = _decided(merged.timed, events)
    determinised = None
    if witness is None and not undecided and not given:
        determinised = _determinised(merged.timed, events)
    return TimedClass(
        swg_query(formula) is not None,
        is_windowed(formula),
        merged,
        made.timed.n_clocks,
        tuple(_clock_words(made, merged)),
        witness,
        undecided,
        is_deterministic(merged.timed, events),
        determinised,
        *_one_clock(merged.timed, determinised),
    )


def _one_clock(
    timed: TimedCEA, determinised: DeterministicTimedCEA | None
) -> tuple[MonotonicCEA | None, str]:
    """What Theorem 6.1 evaluates, or why there is none (section 6)."""
    if timed.n_clocks != 1:
        return None, f"it needs {timed.n_clocks} clocks" if timed.n_clocks else ""
    if determinised is None:
        return None, "it is not determinised"
    try:
        return monotonic(determinised), ""
    except NotMonotonicError as error:
        return None, str(error)


def _decided(timed: TimedCEA, events: EventClasses) -> tuple[TimedWitness | None, str]:
    try:
        return asynchronous(timed, events, asked_later(timed)), ""
    except LimitError as error:
        return None, str(error)


def _determinised(timed: TimedCEA, events: EventClasses) -> DeterministicTimedCEA | None:
    try:
        return determinise_timed(timed, events, checked=True)
    except LimitError:
        return None


def _clock_words(made: FormulaCEA, merged: MergedClocks) -> Iterator[str]:
    for clock, origin in enumerate(merged.origins):
        if clock == merged.since_start:
            yield "since the start"
        elif clock == merged.since_mark:
            yield "since the last marked event"
        else:
            yield f"of `{operator_words(made.operators[origin])}`"


def operator_words(node: tree.Pattern) -> str:
    """A time operator as it is written, without its operands: `;[<= 1 s]`."""
    match node:
        case tree.Sequence(contiguous=contiguous, gap=tree.Interval() as gap):
            return f"{':' if contiguous else ';'}{interval_text(gap)}"
        case tree.Iteration(contiguous=contiguous, gap=tree.Interval() as gap):
            return f"{':' if contiguous else ''}+{interval_text(gap)}"
        case tree.Timed(interval=interval):
            return f"WITHIN {interval_text(interval)}"
    raise TypeError(f"{type(node).__name__} is no time operator")


# -------------------------------------------------------------------------------------- in words


def class_lines(found: TimedClass, unit: str | None = "ns") -> list[str]:
    """The class in words, one line for each fact; `unit` is that of the constants."""
    lines = [_form(found), _clocks(found), _resets(found, unit)]
    if found.is_deterministic:
        lines.append("its timed automaton is deterministic as it is")
    elif found.determinised is not None:
        made = found.determinised
        lines.append(
            f"determinised (Theorem 5.3): {made.n_states} states, {len(made.steps)} transitions over "
            f"{made.n_symbols} classes of events"
        )
    elif found.witness is not None:
        lines.append("not determinised: what is open carries the times of its resets")
    if found.one_clock is not None:
        asked = "<=" if found.one_clock.upper else ">="
        lines.append(
            f"one clock, monotonic: when determinised, it is compared by `{asked}` only (Theorem 6.1)"
        )
    elif found.not_one_clock:
        lines.append(f"not one-clock monotonic (Theorem 6.1): {found.not_one_clock}")
    return lines


def _form(found: TimedClass) -> str:
    if found.is_swg:
        return "a swg-query: single events one after another, with gaps and windows over all"
    if found.is_windowed:
        return "windowed (Theorem 5.5)"
    return "timed CEL"


def _clocks(found: TimedClass) -> str:
    before, after = found.clocks_before, len(found.clocks)
    if not after:
        return "no clock is compared"
    clocks, operators = ("" if number == 1 else "s" for number in (after, before))
    named = list(found.clocks[:NAMED_CLOCKS])
    if after > NAMED_CLOCKS:
        named.append(f"and {after - NAMED_CLOCKS} more")
    return f"{after} clock{clocks} ({', '.join(named)}) for {before} operator{operators} of time"


def _resets(found: TimedClass, unit: str | None) -> str:
    if found.undecided:
        return f"synchronous resets: not decided, {found.undecided}"
    if found.witness is None:
        said = "the marks say when a clock is reset" if found.merged.follows_marks else "Theorem 5.4"
        return f"synchronous resets: {said}"
    return f"no synchronous resets: {witness_words(found.witness, found.clocks, unit)}"


def witness_words(witness: TimedWitness, clocks: tuple[str, ...], unit: str | None = "ns") -> str:
    """A witness as a sentence: the events with their times, the marks, and the clock.

    Parameters
    ----------
    witness : TimedWitness
    clocks : tuple of str
        Each clock in words.
    unit : str or None
        Of the times.
    """
    read = ", ".join(
        f"{_event_words(one.predicate, other.predicate)} at {duration_words(time, unit)}"
        for one, other, time in zip(witness.one, witness.other, witness.times)
    )
    marked = [number for number, move in enumerate(witness.one, 1) if move.label]
    marks = f"event{'s' if len(marked) > 1 else ''} {_listed(marked)} marked" if marked else "no marks"
    return (
        f"on {read}, two runs with {marks} differ:\n"
        f"at the last event one restarts its clock {clocks[witness.clock]}, the other does not"
    )


def _listed(numbers: list[int]) -> str:
    first, last = ", ".join(map(str, numbers[:-1])), str(numbers[-1])
    return f"{first} and {last}" if first else last


def _event_words(*predicates: Predicate) -> str:
    """What is known of an event that satisfies predicates."""
    kinds: dict[str, None] = {}
    conditions: dict[str, None] = {}
    pending = list(predicates)[::-1]
    while pending:
        match predicate := pending.pop():
            case TypeTest(name, stream):
                kinds.setdefault(name if stream is None else f"{stream}>{name}")
            case tree.Both(left, right):
                pending += [right, left]
            case tree.Comparison() | tree.Like() | tree.InSet() | tree.InRange() | tree.IsNull():
                conditions.setdefault(to_text(predicate))
    kind = next(iter(kinds), "an event")
    return f"{kind} with {' and '.join(conditions)}" if conditions else kind


def duration_words(time: Fraction, unit: str | None) -> str:
    """A time in the largest unit in which it is at least one: `1.5 s`."""
    if unit is None:
        return _decimal(time)
    exact = time * NANOSECONDS[unit]
    if not exact:
        return "0 s"
    fitting = [(name, size) for name, size in NANOSECONDS.items() if exact >= size] or [("ns", 1)]
    name, size = fitting[-1]
    return f"{_decimal(exact / size)} {name}"


def _decimal(number: Fraction) -> str:
    return str(int(number)) if number.denominator == 1 else f"{float(number):.6g}"


def is_timed(formula: tree.Pattern) -> bool:
    """Whether a formula has a time operator: an interval on a sequence or an iteration, or WITHIN."""
    return any(_interval(node) is not None for node in nodes(formula))


def _interval(node: tree.Pattern) -> tree.Interval | None:
    match node:
        case tree.Sequence(gap=gap) | tree.Iteration(gap=gap):
            return gap
        case tree.Timed(interval=interval):
            return interval
    return None


def intervals(formula: tree.Pattern) -> Iterable[tree.Interval]:
    """The intervals of all time operators of a formula."""
    return (found for node in nodes(formula) if (found := _interval(node)) is not None)


def is_standard(formula: tree.Pattern) -> bool:
    """Whether a formula is one of CEL: no time operators."""
    return not is_timed(formula)


SIMPLE = (
    tree.EventType,
    tree.As,
    tree.Filter,
    tree.Or,
    tree.And,
    tree.Sequence,
    tree.Iteration,
    tree.Optional,
)


def is_simple(formula: tree.Pattern) -> bool:
    """Whether a formula uses neither projection nor a time window (section 5).

    `NOT (T)` matches an event without a mark, which the paper's operators do not, and so counts as a
    projection; ALL, STRICT, UNLESS and FOLLOWED BY are no operators of the paper.
    """
    return all(isinstance(node, SIMPLE) for node in nodes(formula))


def is_windowed(formula: tree.Pattern) -> bool:
    """Whether a formula is windowed (section 5).

    At the bottom there are standard formulas and simple ones; above them AS, FILTER, OR, AND and windows.
    """
    if is_simple(formula) or is_standard(formula):
        return True
    match formula:
        case tree.As(inner) | tree.Filter(inner) | tree.Timed(inner):
            return is_windowed(inner)
        case tree.Or(left, right) | tree.And(left, right):
            return is_windowed(left) and is_windowed(right)
    return False


@dataclass(frozen=True, slots=True)
class SwgQuery:
    """A subsequence-query with wildcards and gap-size constraints: `(s, w, c)` (section 3).

    Attributes
    ----------
    steps : tuple of Pattern
        Each a pattern of one event: the predicates s.
    gaps : tuple of Interval or None
        One less than steps: the constraints c; None is any time.
    windows : tuple of Interval
        The intervals for the duration of the whole: w, and lower bounds if they are written; empty if
        unbounded.
    """

    steps: tuple[tree.Pattern, ...]
    gaps: tuple[tree.Interval | None, ...]
    windows: tuple[tree.Interval, ...]


def swg_query(formula: tree.Pattern) -> SwgQuery | None:
    """The swg-query that a formula is, or None: `(P1 ;[I1] ... ;[Ik] Pk) WITHIN [<= w]` (form (*)).

    A step is an event type or alternatives of event types, named and filtered as one likes: the paper's
    `(R1 OR ... OR Rm) AS X FILTER X[P]`.
    """
    windows: list[tree.Interval] = []
    while isinstance(formula, tree.Timed):
        windows.append(formula.interval)
        formula = formula.pattern
    steps: list[tree.Pattern] = []
    gaps: list[tree.Interval | None] = []
    if not _chain(formula, steps, gaps):
        return None
    return SwgQuery(tuple(steps), tuple(gaps), tuple(windows))


def _chain(formula: tree.Pattern, steps: list[tree.Pattern], gaps: list[tree.Interval | None]) -> bool:
    if not isinstance(formula, tree.Sequence):
        steps.append(formula)
        return is_one_event(formula)
    if formula.contiguous or not _chain(formula.left, steps, gaps):
        return False
    gaps.append(formula.gap)
    return _chain(formula.right, steps, gaps)
