"""From a formula of timed CEL to a timed CEA, operator by operator (timed CEL paper, Proposition 4.3).

Besides the paper's operators it builds those of the language that need no further idea: `NOT (T)`, ALL,
counted repetitions, optional elements, STRICT, and what has to follow an event. UNLESS and the selectors that
compare complex events are beyond timed CEA, which are not closed under complement.
"""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.automata.cea import Predicate, both, complement, outlook
from cer_gpu.automata.construct import (
    atom,
    check_repetitions,
    on_event,
    relabelled,
    type_test,
    with_optional,
)
from cer_gpu.automata.timed.clocks import (
    ALWAYS,
    NEVER,
    ClockCondition,
    Terms,
    conjunction,
    holds_zero,
    in_nanoseconds,
    lies_in,
)
from cer_gpu.automata.timed.parts import (
    TIMED_BUDGET,
    BeyondTimedCELError,
    TimedPart,
    beside,
    each_alone,
    either,
    entering,
    filtered,
    in_product,
    in_step,
    labelled,
    shifted,
    single,
    strict,
    waits,
)
from cer_gpu.automata.timed.timed_cea import TimedCEA, TimedTransition, merged_states, timed_trim
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.scope import variables
from cer_gpu.language.tree import Interval, Strategy
from cer_gpu.language.walk import condition_variables


def timed_cea(formula: tree.Pattern, terms: Terms = in_nanoseconds) -> TimedCEA:
    """The timed CEA of a formula (Proposition 4.3): a new clock for each timed operator.

    `(A ;[<= 1 s] B) WITHIN [<= 5 s]` has two clocks, of the gap and of the window, both reset at the A.

    Parameters
    ----------
    formula : Pattern
    terms : callable
        The constant that a bound stands for.

    Returns
    -------
    TimedCEA
        Trimmed; nothing enters its initial state, 0.

    Raises
    ------
    BeyondTimedCELError
        When it has UNLESS, NXT, LAST or MAX, or a filter that no single event decides.
    LimitError
        When it is larger than `TIMED_BUDGET`.
    """
    return constructed(formula, terms).timed


@dataclass(frozen=True, slots=True)
class FormulaCEA:
    """A timed CEA, and the operator of each of its clocks.

    Attributes
    ----------
    timed : TimedCEA
    operators : tuple of Pattern
        For each clock the sequence, iteration or window.
    """

    timed: TimedCEA
    operators: tuple[tree.Pattern, ...]


def constructed(formula: tree.Pattern, terms: Terms) -> FormulaCEA:
    """As `timed_cea`, with the operator of each clock."""
    check_repetitions(formula)
    made = _Construction(terms)
    part = made.of(formula)
    timed = TimedCEA(part.n_states, len(made.operators), 0, part.final, part.moves)
    return FormulaCEA(merged_states(timed_trim(timed)), tuple(made.operators))


class _Construction:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.operators: list[tree.Pattern] = []

    def of(self, node: tree.Pattern) -> TimedPart:
        part = self.made(node)
        if part.n_states + len(part.moves) > TIMED_BUDGET:
            raise LimitError(
                f"the timed automaton of this pattern takes more than {TIMED_BUDGET:,} states and "
                "transitions: use fewer AND and ALL, or count fewer repetitions"
            )
        return part

    def made(self, node: tree.Pattern) -> TimedPart:
        match node:
            case tree.EventType():
                return single(type_test(node), frozenset(node.variables))
            case tree.OtherEvent(event_type, condition):
                read = type_test(event_type)
                if condition is not None:
                    read = both(read, on_event(condition, event_type))
                return single(complement(read), frozenset())
            case tree.As(inner) | tree.Project(inner):
                return labelled(self.of(inner), lambda label: relabelled(label, (node, None)))
            case tree.Filter() if (event := _filtered_event(node)) is not None:
                event_type, predicate = event
                return single(predicate, frozenset(event_type.variables))
            case tree.Filter(inner, condition):
                return filtered(self.of(inner), node, condition)
            case tree.Optional(inner) | tree.Selector(Strategy.ALL, inner):
                return self.of(inner)
            case tree.Sequence() if has_optional(node):
                return with_optional(
                    node, self.of, lambda joint, left, right: self.sequence(left, right, joint), either
                )
            case tree.Sequence(left, right):
                return self.sequence(self.of(left), self.of(right), node)
            case tree.Iteration():
                return self.iteration(self.of(node.pattern), node)
            case tree.Or(left, right):
                return either(self.of(left), self.of(right))
            case tree.And(left, right):
                return in_product(self.of(left), self.of(right), in_step)
            case tree.All(left, right):
                return in_product(self.of(left), self.of(right), each_alone)
            case tree.Beside(left):
                return beside(self.of(left), outlook(node), node.before)
            case tree.Timed(inner, interval):
                return self.window(self.of(inner), interval, node)
            case tree.Selector(Strategy.STRICT, inner):
                return strict(self.of(inner))
        named = node.strategy.selector if isinstance(node, tree.Selector) else type(node).__name__.upper()
        raise BeyondTimedCELError(f"timed complex event automata do not express `{named}`")

    def clock(self, node: tree.Pattern) -> int:
        """A new clock for an operator."""
        self.operators.append(node)
        return len(self.operators) - 1

    def window(self, part: TimedPart, interval: Interval, node: tree.Pattern) -> TimedPart:
        """`(p) WITHIN [I]`: a clock that the first transition resets and the last one asks.

        A run of one transition has lasted no time, so that 0 has to be in I.
        """
        clock = self.clock(node)
        lasts = lies_in(clock, interval, self.terms)
        at_once = ALWAYS if holds_zero(interval, self.terms) else NEVER
        moves = []
        for move in part.moves:
            condition, resets = move.condition, move.resets
            if move.source == 0:
                resets |= {clock}
            if move.target in part.final:
                condition = conjunction(condition, at_once if move.source == 0 else lasts)
            moves.append(replace(move, condition=condition, resets=resets))
        return part._replace(moves=tuple(moves))

    def sequence(self, left: TimedPart, right: TimedPart, node: tree.Sequence) -> TimedPart:
        """`p ;[I] q`, `p :[I] q`: a clock that the end of p resets and the first transition of q asks.

        Between them is a state in which the run waits; for `:` it cannot.
        """
        condition, reset = self.gap(node)
        between, offset = left.n_states, left.n_states
        moves = [*entering(left, between, reset), *left.moves]
        moves += [
            replace(
                move,
                source=between if move.source == 0 else move.source + offset,
                target=move.target + offset,
                condition=conjunction(move.condition, condition) if move.source == 0 else move.condition,
            )
            for move in right.moves
        ]
        if not node.contiguous:
            moves.append(waits(between))
        return TimedPart(
            offset + right.n_states, frozenset(state + offset for state in right.final), tuple(moves)
        )

    def gap(self, node: tree.Sequence | tree.Iteration) -> tuple[ClockCondition, frozenset[int]]:
        """The condition of a gap, and the clock that its beginning resets."""
        if node.gap is None:
            return ALWAYS, frozenset()
        clock = self.clock(node)
        return lies_in(clock, node.gap, self.terms), frozenset({clock})

    def iteration(self, body: TimedPart, node: tree.Iteration) -> TimedPart:
        """`p +[I]`, `p :+[I]`, `p {n,m}[I]`: a copy of p for each repetition that is counted.

        The end of a repetition resets a clock and the first transition of the next asks it. The paper asks of
        a repetition of one event that 0 be in I; its semantics, the time since the one before.
        """
        condition, reset = self.gap(node)
        copies = node.most or node.least
        size = body.n_states
        moves: list[TimedTransition] = []
        for number in range(copies):
            # State 0 of a copy is where its repetition begins: for all but the first, where the run waits.
            asked = condition if number else ALWAYS
            own = shifted(body, number * size, asked)
            moves += own.moves
            last = number == copies - 1
            if not last:
                moves += entering(own, (number + 1) * size, reset)
            elif node.most is None:
                # From the last copy on everything repeats, from a further copy that follows itself.
                again = shifted(body, copies * size, condition)
                moves += [*entering(own, copies * size, reset), *again.moves]
                moves += entering(again, copies * size, reset)
            if number and not node.contiguous:
                moves.append(waits(number * size))
        if node.most is None and not node.contiguous:
            moves.append(waits(copies * size))
        enough = range(node.least - 1, copies + (node.most is None))
        final = frozenset(number * size + state for number in enough for state in body.final)
        return TimedPart((copies + 1) * size, final, tuple(moves))


def _filtered_event(node: tree.Filter) -> tuple[tree.EventType, Predicate] | None:
    """The event type and predicate of filters on one event; None for another pattern."""
    inner: tree.Pattern = node
    while isinstance(inner, tree.Filter):
        if condition_variables(inner.condition) - variables(inner.pattern):
            return None
        inner = inner.pattern
    return atom(node) if isinstance(inner, tree.EventType) else None
