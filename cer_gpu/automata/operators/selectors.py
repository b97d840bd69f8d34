"""Selectors on match automata (thesis, Theorems 7.3 to 7.5).

All compare the sets M of marked positions of the runs that begin to read at one position and end at another.
A run is followed together with the states of other runs: those whose M equals its own so far, and those that
are preferred to it (or may become so). A run is dropped as soon as a preferred one is in its state, and
accepts only if no preferred one does.

The thesis orders all states by a total preorder for NXT. Only the sets of states of preferred and of equal
runs matter to a run, so they replace the preorder: at most |Q| * 3^|Q| states instead of |Q| times the number
of preorders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.determinise import members_of
from cer_gpu.automata.match import Budget, MatchAutomaton, build, marks
from cer_gpu.language.tree import Strategy

Sets: TypeAlias = tuple[int, int, int]
"""The states of preferred runs, of equal ones, and of others that may become preferred, as bits."""

Stepped: TypeAlias = tuple[int, int]
"""The states that a set of states reaches by transitions that mark, and by those that do not."""


def select(strategy: Strategy, operand: MatchAutomaton, budget: Budget, what: str) -> MatchAutomaton:
    """`NXT(operand)`, `LAST(operand)`, `MAX(operand)`.

    Theorem 7.3 for NXT and Theorem 7.5 for MAX; LAST as NXT, with the last difference in place of the first.

    Raises
    ------
    LimitError
        When the automaton is over the budget.
    """
    leaving, final = operand.leaving(), operand.automaton.final
    accepting = sum(1 << state for state in final)
    update = {Strategy.NEXT: _next, Strategy.LAST: _last, Strategy.MAX: _max}[strategy]
    meets, meets_alike = _meeting(operand)
    reached: dict[tuple[int, int], Stepped] = {}

    def stepped(members: int, symbol: int) -> Stepped:
        found = reached.get((members, symbol))
        if found is None:
            marking = others = 0
            for state in members_of(members):
                for label, target in leaving[state][symbol]:
                    if marks(label):
                        marking |= 1 << target
                    else:
                        others |= 1 << target
            found = reached[members, symbol] = marking, others
        return found

    def follow(state: tuple[int, Sets], symbol: int) -> Iterator[tuple[Label, tuple[int, Sets]]]:
        at, sets = state
        preferred, equal, other = (stepped(members, symbol) for members in sets)
        for label, target in leaving[at][symbol]:
            now = update(marks(label), preferred, equal, other)
            if now[0] >> target & 1:
                continue
            near, alike = meets[target], meets_alike[target]
            better, same, rest = now[0] & near, now[1] & near, now[2] & near
            if strategy is Strategy.LAST:
                # Compared again at the next mark that only one of the two makes: all others are alike.
                rest |= (better | same) & ~alike
                better, same = better & alike, same & alike
            same &= ~better
            yield label, (target, (better, same, rest & ~better & ~same))

    return build(
        [(0, (0, 1, 0))],
        follow,
        lambda state: state[0] in final and not state[1][0] & accepting,
        operand.class_of,
        operand.automaton.n_symbols,
        budget,
        what,
    )


def _meeting(operand: MatchAutomaton) -> tuple[list[int], list[int]]:
    """With which states another run can come to compete with a run.

    Two runs compete when they are in one state, or both accept. Only what can matter is remembered of the
    other runs; where finding that out takes long, all of it.

    Returns
    -------
    meets : list of int
        For each state the others, as bits, from which some events lead both to where they compete.
    meets_alike : list of int
        The same where both mark the same of these events.
    """
    leaving, final = operand.leaving(), operand.automaton.final
    states = range(operand.automaton.n_states)
    accepting = sum(1 << state for state in final)
    entering: list[dict[tuple[int, bool], int]] = [{} for _ in states]
    for source in states:
        for symbol, column in enumerate(leaving[source]):
            for label, target in column:
                key = source, marks(label)
                entering[target][key] = entering[target].get(key, 0) | 1 << symbol

    def closed(alike: bool) -> list[int]:
        found = [1 << state | (accepting if state in final else 0) for state in states]
        pending = [(one, two) for one in states for two in members_of(found[one])]
        steps = 0
        while pending:
            one, two = pending.pop()
            steps += len(entering[one]) * len(entering[two])
            if steps > _STEPS:
                return [(1 << len(states)) - 1 for _ in states]
            for (source, marked), symbols in entering[one].items():
                for (other, too), of_other in entering[two].items():
                    if found[source] >> other & 1 or (alike and marked != too) or not symbols & of_other:
                        continue
                    found[source] |= 1 << other
                    pending.append((source, other))
        return found

    return closed(alike=False), closed(alike=True)


_STEPS = 300_000
"""Steps of a search for what competes: about a tenth of a second."""


def _next(marked: bool, preferred: Stepped, equal: Stepped, other: Stepped) -> Sets:
    """NEXT: the first difference decides, so a preferred run stays preferred."""
    if marked:
        return preferred[0] | preferred[1], equal[0], 0
    return preferred[0] | preferred[1] | equal[0], equal[1], 0


def _last(marked: bool, preferred: Stepped, equal: Stepped, other: Stepped) -> Sets:
    """LAST: the last difference decides, so any run may become preferred by what it marks later."""
    if marked:
        return preferred[0], equal[0], other[0] | preferred[1] | equal[1] | other[1]
    return preferred[1] | preferred[0] | equal[0] | other[0], equal[1], other[1]


def _max(marked: bool, preferred: Stepped, equal: Stepped, other: Stepped) -> Sets:
    """MAX: a run that marks the same positions and more is preferred."""
    if marked:
        return preferred[0], equal[0], 0
    return preferred[0] | preferred[1] | equal[0], equal[1], 0


def is_single(operand: MatchAutomaton) -> bool:
    """Whether no two complex events with one end have the same M, on any stream.

    Follows pairs of runs that mark the same positions. Two runs that differ in a label or in their start must
    never both accept.
    """
    leaving, final = operand.leaving(), operand.automaton.final
    pending = [(0, 0, False)]
    seen = set(pending)
    while pending:
        one, two, differ = pending.pop()
        for symbol in range(operand.automaton.n_symbols):
            for label, target in leaving[one][symbol]:
                for other, reached in leaving[two][symbol]:
                    if marks(label) != marks(other):
                        continue
                    now = (target, reached, differ or label != other)
                    if now[2] and target in final and reached in final:
                        return False
                    if now not in seen:
                        seen.add(now)
                        pending.append(now)
    return True
