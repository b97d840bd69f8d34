"""The operators of patterns on match automata (thesis, Theorems 7.1 and 7.2), each one exploration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.match import BEFORE, UNMARKED, Budget, MatchAutomaton, bits, build, joint
from cer_gpu.language.tree import Iteration

Pair: TypeAlias = tuple[int, int]

DONE = -1
"""The state of a side of ALL whose complex event has ended."""


def either(left: MatchAutomaton, right: MatchAutomaton, budget: Budget, what: str) -> MatchAutomaton:
    """`left OR right`: the union (Proposition 6.1)."""
    class_of, parts = joint(left.class_of, right.class_of)
    sides = (left.leaving(), right.leaving())

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        side, at = state
        for label, target in sides[side][at][parts[symbol][side]]:
            yield label, (side, target)

    def final(state: Pair) -> bool:
        return state[1] in (left, right)[state[0]].automaton.final

    return build([(0, 0), (1, 0)], follow, final, class_of, len(parts), budget, what)


def sequence(
    left: MatchAutomaton, right: MatchAutomaton, contiguous: bool, budget: Budget, what: str
) -> MatchAutomaton:
    """`left ; right`, `left : right`: the right side begins to read after the end of the left one.

    Events that the right side reads before its start lie inside the whole and are unmarked; for `:` there are
    none.
    """
    class_of, parts = joint(left.class_of, right.class_of)
    sides = (left.leaving(), right.leaving())

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        side, at = state
        for label, target in sides[side][at][parts[symbol][side]]:
            if side == 0:
                yield label, (0, target)
                if target in left.automaton.final:
                    yield label, (1, 0)
            elif label != BEFORE:
                yield label, (1, target)
            elif not contiguous:
                yield UNMARKED, (1, target)

    def final(state: Pair) -> bool:
        return state[0] == 1 and state[1] in right.automaton.final

    return build([(0, 0)], follow, final, class_of, len(parts), budget, what)


def iteration(body: MatchAutomaton, node: Iteration, budget: Budget, what: str) -> MatchAutomaton:
    """`body+`, `body:{n,m}`: each repetition begins to read after the end of the one before it.

    A state is a state of the body and the number of repetitions that have ended, as far as that matters.
    """
    leaving, accepting = body.leaving(), body.automaton.final
    least, most = node.least, node.most
    enough = max(least - 1, 1) if most is None else most - 1

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        ended, at = state
        for label, target in leaving[at][symbol]:
            if ended and label == BEFORE:
                if node.contiguous:
                    continue
                label = UNMARKED
            yield label, (ended, target)
            if target in accepting and (most is None or ended < enough):
                yield label, (min(ended + 1, enough), 0)

    return build(
        [(0, 0)],
        follow,
        lambda state: state[1] in accepting and state[0] + 1 >= least,
        body.class_of,
        body.automaton.n_symbols,
        budget,
        what,
    )


def conjunction(left: MatchAutomaton, right: MatchAutomaton, budget: Budget, what: str) -> MatchAutomaton:
    """`left AND right`: the product, at most |left| * |right| (Theorem 7.2, variables being sets)."""
    class_of, parts = joint(left.class_of, right.class_of)
    ours, theirs = left.leaving(), right.leaving()

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        others = dict(theirs[state[1]][parts[symbol][1]])
        for label, target in ours[state[0]][parts[symbol][0]]:
            if label in others:
                yield label, (target, others[label])

    def final(state: Pair) -> bool:
        return state[0] in left.automaton.final and state[1] in right.automaton.final

    return build([(0, 0)], follow, final, class_of, len(parts), budget, what)


def both_anywhere(left: MatchAutomaton, right: MatchAutomaton, budget: Budget, what: str) -> MatchAutomaton:
    """`left ALL right`: the product in which either side may end first (Theorem 7.2).

    The product has at most (|left| + 1) * (|right| + 1) states; several of its runs may give one complex
    event, so that the deterministic one may be larger.
    """
    class_of, parts = joint(left.class_of, right.class_of)
    ours, theirs = left.leaving(), right.leaving()

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        one, two = state
        if one == DONE or two == DONE:
            leaving = theirs[two][parts[symbol][1]] if one == DONE else ours[one][parts[symbol][0]]
            for label, target in leaving:
                shown = UNMARKED if label == BEFORE else label
                yield shown, ((DONE, target) if one == DONE else (target, DONE))
            return
        for label, target in ours[one][parts[symbol][0]]:
            for other, reached in theirs[two][parts[symbol][1]]:
                shown = _together(label, other)
                yield shown, (target, reached)
                if target in left.automaton.final:
                    yield shown, (DONE, reached)
                if reached in right.automaton.final:
                    yield shown, (target, DONE)

    def final(state: Pair) -> bool:
        one, two = state
        return (one == DONE or one in left.automaton.final) and (two == DONE or two in right.automaton.final)

    return build([(0, 0)], follow, final, class_of, len(parts), budget, what)


def _together(label: Label, other: Label) -> Label:
    if label == BEFORE and other == BEFORE:
        return BEFORE
    return (label | other) - BEFORE


def unless(left: MatchAutomaton, right: MatchAutomaton, budget: Budget, what: str) -> MatchAutomaton:
    """`left UNLESS right`: the product of left and the boolean automaton of right (Theorem 7.2).

    A state is a state of left, the state of a run of right that has not started yet, and the set of states of
    runs of right that have started since left did; if that set has a final state, the run ends. So there are
    at most |left| * |right| * 2^|right| states.
    """
    class_of, parts = joint(left.class_of, right.class_of)
    ours, theirs = left.leaving(), right.leaving()
    forbidden = sum(1 << state for state in right.automaton.final)

    # For each state and class where right goes from there, as bits, and where it goes without starting.
    goes = [[_targets(column) for column in row] for row in theirs]
    waits = [[next((to for label, to in column if label == BEFORE), -1) for column in row] for row in theirs]
    known: dict[tuple[int, int, int], Pair] = {}

    def advanced(waiting: int, running: int, symbol: int) -> Pair:
        """Where right is after an event: if it has still not started (-1: it never will), and if it has."""
        found = known.get((waiting, running, symbol))
        if found is None:
            reached = goes[waiting][symbol] if waiting >= 0 else 0
            for state in bits(running):
                reached |= goes[state][symbol]
            found = known[waiting, running, symbol] = waits[waiting][symbol] if waiting >= 0 else -1, reached
        return found

    def follow(state: tuple[int, int, int], symbol: int) -> Iterator[tuple[Label, tuple[int, int, int]]]:
        at, waiting, running = state
        mine, other = parts[symbol]
        still, reached = advanced(waiting, running, other)
        for label, target in ours[at][mine]:
            if label == BEFORE:
                yield label, (target, still, 0)
            elif not reached & forbidden:
                yield label, (target, still, reached)

    return build(
        [(0, 0, 0)],
        follow,
        lambda state: state[0] in left.automaton.final,
        class_of,
        len(parts),
        budget,
        what,
    )


def _targets(leaving: list[tuple[Label, int]]) -> int:
    """Where the transitions of runs that have started lead, as bits."""
    reached = 0
    for label, target in leaving:
        if label != BEFORE:
            reached |= 1 << target
    return reached


def beside(
    operand: MatchAutomaton, holds: Sequence[bool], first: bool, budget: Budget, what: str
) -> MatchAutomaton:
    """`operand FOLLOWED BY q`: those complex events whose last event (`first`: first one) has a property.

    Parameters
    ----------
    operand : MatchAutomaton
    holds : sequence of bool
        For each symbol whether its events have the property.
    first : bool
    """
    class_of, parts = joint(operand.class_of, tuple(map(int, holds)))
    leaving, accepting = operand.leaving(), operand.automaton.final

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        phase, at = state
        own, held = parts[symbol]
        if phase == DONE:
            return
        for label, target in leaving[at][own]:
            if not first:
                yield label, (0, target)
                if held and target in accepting:
                    yield label, (DONE, 0)
            elif label == BEFORE:
                yield label, (0, target)
            elif phase or held:
                yield label, (1, target)

    def final(state: Pair) -> bool:
        return state[1] in accepting if first else state[0] == DONE

    return build([(0, 0)], follow, final, class_of, len(parts), budget, what)


def relabelled(
    operand: MatchAutomaton, relabel: Callable[[Label], Label], budget: Budget, what: str
) -> MatchAutomaton:
    """AS and PROJECT: the same runs with other labels; runs that become the same complex event are merged."""
    leaving = operand.leaving()

    def follow(state: int, symbol: int) -> Iterator[tuple[Label, int]]:
        for label, target in leaving[state][symbol]:
            yield (label if label == BEFORE else relabel(label)), target

    return build(
        [0],
        follow,
        operand.automaton.final.__contains__,
        operand.class_of,
        operand.automaton.n_symbols,
        budget,
        what,
    )


def filtered(
    operand: MatchAutomaton,
    literals: Sequence[tuple[str, Sequence[bool]]],
    holds: Callable[[Sequence[bool]], bool],
    budget: Budget,
    what: str,
) -> MatchAutomaton:
    """`operand FILTER c` where c combines conditions on all events that a variable marks.

    Parameters
    ----------
    operand : MatchAutomaton
    literals : sequence of (str, sequence of bool)
        A variable, and for each symbol whether its events satisfy the predicate.
    holds : callable
        Whether the condition holds, given which of the literals hold for all events that were marked.
    """
    truths = [tuple(int(truth) for truth in satisfied) for _, satisfied in literals]
    class_of, parts = joint(operand.class_of, *truths)
    leaving = operand.leaving()

    def follow(state: Pair, symbol: int) -> Iterator[tuple[Label, Pair]]:
        at, violated = state
        own, *satisfied = parts[symbol]
        for label, target in leaving[at][own]:
            now = violated
            for number, (variable, _) in enumerate(literals):
                if variable in label and not satisfied[number]:
                    now |= 1 << number
            yield label, (target, now)

    def final(state: Pair) -> bool:
        at, violated = state
        return at in operand.automaton.final and holds(
            [not violated >> number & 1 for number in range(len(literals))]
        )

    return build([(0, 0)], follow, final, class_of, len(parts), budget, what)
