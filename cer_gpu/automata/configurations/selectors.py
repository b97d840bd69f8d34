"""The selectors STRICT, NEXT, LAST and MAX, as automata that are stepped lazily.

As in `cer_gpu.automata.operators.selectors`, a run is followed together with the states of other runs: those
that mark the same events, those that are preferred, and those that may become preferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.debts import NOTHING_OWED, Formula, Owed, all_of, any_of, negated
from cer_gpu.automata.configurations.member import END, Member, PatternWrapper, Step, all_aged
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.slots import State, best
from cer_gpu.automata.match import marks
from cer_gpu.language.tree import Strategy

FINISHED = "finished"
"""In the place of the end: (`FINISHED`, what is owed)."""

FRESH, MARKING, AFTER = range(3)
"""Where a run of STRICT is: before its first mark, in the interval of marks, or behind it."""


class StrictSelector(PatternWrapper):
    """`STRICT(p)`: the marked events are neighbours. A state is (phase, state of p)."""

    _at = 1

    def __init__(self, operand: Member) -> None:
        self._operand = operand

    def begin(self) -> list[State]:
        return [(FRESH, state) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        phase, inner = state
        for label, target, owed in self._operand.follow(inner, event):
            if marks(label):
                if phase == AFTER:
                    continue
                now = MARKING
            else:
                now = FRESH if phase == FRESH else AFTER
            yield label, target if target == END else (now, target), owed


class PreferenceSelector(Member):
    """`NXT(p)`, `LAST(p)`, `MAX(p)`.

    A state is four sets of states of p: the run's own (all that its labels may have led to), those of
    preferred runs, of runs that mark the same events, and of others that may become preferred.
    """

    def __init__(self, operand: Member, strategy: Strategy) -> None:
        self._operand = operand
        self._strategy = strategy

    def begin(self) -> list[State]:
        own = frozenset(self._operand.begin())
        none: frozenset[State] = frozenset()
        return [(own, none, own, none)]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        own, better, equal, rest = state
        followed = {
            one: list(self._operand.follow(one, event))
            for one in sorted(own | better | equal | rest, key=repr)
        }

        def stepped(states: Iterable[State]) -> tuple[frozenset[State], frozenset[State]]:
            marking: set[State] = set()
            others: set[State] = set()
            for one in states:
                for label, target, owed in followed[one]:
                    (marking if marks(label) else others).add(_reached(target, owed))
            return frozenset(marking), frozenset(others)

        sets = [stepped(states) for states in (better, equal, rest)]
        reached: dict[Label, set[State]] = {}
        for one in own:
            for label, target, owed in followed[one]:
                reached.setdefault(label, set()).add(_reached(target, owed))
        for label, targets in reached.items():
            preferred, alike, others = self._updated(marks(label), *sets)
            ending = any_of(_finished(targets))
            if ending is not False:
                chosen = all_of((ending, negated(any_of(_finished(preferred)))))
                if chosen is not False:
                    yield label, END, NOTHING_OWED if chosen is True else frozenset([chosen])
            left = _going_on(targets) - preferred
            if left:
                preferred, alike = _going_on(preferred), _going_on(alike) - preferred
                others = _going_on(others) - preferred - alike
                yield label, (frozenset(left), preferred, alike, others), NOTHING_OWED

    def _updated(
        self,
        marked: bool,
        better: tuple[frozenset[State], frozenset[State]],
        equal: tuple[frozenset[State], frozenset[State]],
        rest: tuple[frozenset[State], frozenset[State]],
    ) -> tuple[frozenset[State], frozenset[State], frozenset[State]]:
        """The sets after an event that the run marks or not; of each set what marks it, and what does not."""
        if self._strategy is Strategy.NEXT:  # the first difference decides
            if marked:
                return better[0] | better[1], equal[0], frozenset()
            return better[0] | better[1] | equal[0], equal[1], frozenset()
        if self._strategy is Strategy.LAST:  # the last one does
            if marked:
                return better[0], equal[0], rest[0] | better[1] | equal[1] | rest[1]
            return better[1] | better[0] | equal[0] | rest[0], equal[1], rest[1]
        if marked:  # MAX: a preferred run marks the same events and more
            return better[0], equal[0], frozenset()
        return better[0] | better[1] | equal[0], equal[1], frozenset()

    def aged(self, state: State, event: EventFacts) -> State | None:
        own, better, equal, rest = (all_aged(self._operand, states, event) for states in state)
        # A preferred run that can do whatever the own one can leaves nothing of it.
        own = frozenset(one for one in own if one not in better and _left(one, better))
        return (own, better, equal, rest) if own else None

    def labels(self) -> frozenset[Label]:
        return self._operand.labels()

    def relaxed(self) -> Member:
        return self._operand.relaxed()

    def relaxing(self, state: State) -> Iterator[State]:
        for one in state[0]:
            yield from self._operand.relaxing(one)


def _reached(target: State, owed: Owed) -> State:
    """A target, with what is owed where it is the end."""
    return (FINISHED, all_of(owed)) if target == END else target


def _is_end(state: State) -> bool:
    return type(state) is tuple and state[0] == FINISHED


def _finished(states: Iterable[State]) -> list[Formula]:
    """What is owed by those that have ended."""
    return [state[1] for state in states if _is_end(state)]


def _going_on(states: Iterable[State]) -> frozenset[State]:
    """Those that have not ended."""
    return frozenset(state for state in states if not _is_end(state))


def _left(state: State, better: frozenset[State]) -> bool:
    """Whether a state can do what none of the better ones can."""
    return not better or state in best([*better, state])
