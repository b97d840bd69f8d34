"""The scopes that bind the variables of filters, as automata that are stepped lazily.

A scope keeps registers of the variables that it binds, and evaluates debts at its end, or as soon as they are
decided. The body of an iteration hands its registers to the next repetition, for PRIOR
and BEFORE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.conditions import Comparisons, names_in
from cer_gpu.automata.configurations.debts import (
    NOTHING_OWED,
    Debts,
    Formula,
    Owed,
)
from cer_gpu.automata.configurations.member import BETWEEN, END, INSIDE, Member, PatternWrapper, Step
from cer_gpu.automata.configurations.registers import (
    EMPTY,
    EventFacts,
    Owner,
    Register,
    begun,
    folded,
    marked,
)
from cer_gpu.automata.configurations.sequences import Joint, PatternRepetition, inside
from cer_gpu.automata.configurations.slots import State
from cer_gpu.automata.match import BEFORE


class _Bound(NamedTuple):
    """A register that a scope keeps: for a choice of a comparison, or for an aggregate in it."""

    number: int
    choice: bool
    place: int
    owner: Owner


class Binding:
    """The registers of the variables that a scope binds.

    Parameters
    ----------
    comparisons : Comparisons
    inside : iterable of int
        The comparisons that may be owed inside.
    names : frozenset of str
    prior : bool
        Whether these are the variables in PRIOR and BEFORE.
    """

    def __init__(
        self, comparisons: Comparisons, inside: Iterable[int], names: frozenset[str], prior: bool
    ) -> None:
        self._comparisons = comparisons.all
        self.names = names
        self.prior = prior
        self.bound: list[_Bound] = []
        for number in sorted(set(inside)):
            one = comparisons.all[number]
            for place, owner in enumerate(one.choices):
                if bool(owner.prior) == prior and owner.variable in names:
                    self.bound.append(_Bound(number, True, place, owner))
            for place, fold in enumerate(one.folds):
                if bool(fold.owner.prior) == prior and fold.owner.variable in names:
                    self.bound.append(_Bound(number, False, place, fold.owner))
        self._place = {(own.number, own.choice, own.place): at for at, own in enumerate(self.bound)}
        self.first: tuple[Register, ...] = tuple(
            [
                EMPTY if own.choice else begun(self._comparisons[own.number].folds[own.place])
                for own in self.bound
            ]
        )

    def kept_on(self, registers: tuple[Register, ...]) -> tuple[Register, ...]:
        """The registers that the next repetition begins with: those of BEFORE go on."""
        parts = zip(self.bound, registers, self.first, strict=True)
        return tuple([one if own.owner.prior == "BEFORE" else first for own, one, first in parts])

    def binds(self, owner: Owner) -> bool:
        """Whether a variable is bound here."""
        return bool(owner.prior) == self.prior and owner.variable in self.names

    def marked(
        self, registers: tuple[Register, ...], label: Label, event: EventFacts
    ) -> tuple[Register, ...]:
        """The registers after an event with a label."""
        if self.names.isdisjoint(label):
            return registers
        found = []
        for own, one in zip(self.bound, registers, strict=True):
            comparison = self._comparisons[own.number]
            if own.choice:
                if own.owner.variable in label:
                    one = marked(comparison, own.place, one, event, own.number)
            elif not comparison.folds[own.place].names.isdisjoint(label):
                one = folded(comparison.folds[own.place], one, label, event)
            found.append(one)
        return tuple(found)

    def register(
        self, registers: tuple[Register, ...], number: int, choice: bool, place: int
    ) -> Register | None:
        """The register of a choice or an aggregate; None where it is bound elsewhere."""
        at = self._place.get((number, choice, place))
        return None if at is None else registers[at]


class ScopeMember(PatternWrapper):
    """Binds variables of a pattern for the filters inside it.

    A state is (state of the pattern, registers, what is owed, registers of the repetition before).

    Parameters
    ----------
    operand : Member
    debts : Debts
    binding : Binding
    before : Binding or None
        The binding of PRIOR and BEFORE; None unless this is the body of an iteration with one of them.
    """

    def __init__(
        self, operand: Member, debts: Debts, binding: Binding, before: Binding | None = None
    ) -> None:
        self._operand = operand
        self._debts = debts
        self._binding = binding
        self._before = before

    def begin(self) -> list[State]:
        return self.begin_after(() if self._before is None else self._before.first)

    def begin_after(self, before: tuple[Register, ...]) -> list[State]:
        """The states before the first event, after earlier repetitions that have left some registers."""
        own = self._binding.first, () if self._before is None else self._before.kept_on(before)
        return [(state, own, NOTHING_OWED, before) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        for label, target, owed in self.follow_on(state, event):
            yield label, END if target[0] == END else target, owed

    def follow_on(self, state: State, event: EventFacts) -> Iterator[Step]:
        """The transitions; at the end the target is (`END`, what PRIOR and BEFORE stand for from now on)."""
        inner, registers, owed, before = state
        binding, prior = self._binding, self._before
        for label, target, more in self._operand.follow(inner, event):
            if label == BEFORE:
                yield label, (target, registers, owed, before), more
                continue
            here = binding.marked(registers[0], label, event)
            repeated = registers[1] if prior is None else prior.marked(registers[1], label, event)
            mine, others = self._parted(owed | more)
            if target == END:
                left = self._filled(mine, here, before, None, event)
                if left is not None:
                    yield label, (END, repeated), others | left
                continue
            if mine:
                ahead = names_in(self._operand.ahead(target))
                left = self._filled(mine, here, before, ahead, event)
                if left is None:
                    continue
                mine, passed = self._parted(left)
                others |= passed
            yield label, (target, (here, repeated), mine, before), others

    def _parted(self, owed: Owed) -> tuple[Owed, Owed]:
        """What is owed to this scope, and what to one around it alone."""
        if not owed:
            return owed, owed
        mine = frozenset(one for one in owed if any(map(self._binds, self._debts.waits_for(one))))
        return mine, owed - mine

    def _binds(self, owner: Owner) -> bool:
        return self._binding.binds(owner) or (self._before is not None and self._before.binds(owner))

    def _filled(
        self,
        owed: Owed,
        here: tuple[Register, ...],
        before: tuple[Register, ...],
        ahead: frozenset[str] | None,
        event: EventFacts,
    ) -> Owed | None:
        """What is left of what is owed; None where some of it does not hold. At the end `ahead` is None."""
        binding, prior = self._binding, self._before

        def fill(number: int, choice: bool, place: int, waits: bool = ahead is not None) -> Register | None:
            if prior is not None:
                found = prior.register(before, number, choice, place)
                if found is not None:
                    return found
            found = binding.register(here, number, choice, place)
            if found is None or not waits:
                return found
            assert ahead is not None
            owners = self._debts.owners(number, choice, place)
            return None if any(one.variable in ahead for one in owners) else found

        def fill_all(number: int, choice: bool, place: int) -> Register | None:
            return fill(number, choice, place, False)

        left: set[Formula] = set()
        for one in owed:
            now = self._debts.filled(one, fill, event)
            if now is False or (ahead is not None and self._debts.broken(now, fill_all, event)):
                return None
            if now is not True:
                left.add(now)
        return self._debts.together(left, event) if left else NOTHING_OWED


class DebtKeeper(PatternWrapper):
    """Keeps debts until the end of a pattern whose states are compared with each other.

    A state is (state of the pattern, what is owed).
    """

    def __init__(self, operand: Member) -> None:
        self._operand = operand

    def begin(self) -> list[State]:
        return [(state, NOTHING_OWED) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        inner, owed = state
        for label, target, more in self._operand.follow(inner, event):
            if target == END:
                yield label, END, owed | more
            else:
                yield label, (target, owed | more), NOTHING_OWED


class PriorIteration(PatternRepetition):
    """An iteration whose filters compare a repetition with earlier ones, by PRIOR or BEFORE.

    Parameters
    ----------
    body : ScopeMember
    joint, least, most
        As for `PatternRepetition`.
    """

    def __init__(self, body: ScopeMember, joint: Joint, least: int, most: int | None) -> None:
        super().__init__(body, joint, least, most)
        self._scope = body

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        ended, inner = state[0], state[-1]
        steps = self._scope.follow_on(inner, event)
        for label, reached, owed in inside(steps, self._joint, state, event):
            _, phase, _, target = reached
            if phase != INSIDE or target[0] != END:
                yield label, reached, owed
                continue
            if ended + 1 >= self._least:
                yield label, END, owed
            if self._goes_on(ended):
                after = self._joint.reset()
                for again in self._scope.begin_after(target[1]):
                    yield label, (min(ended + 1, self._enough), BETWEEN, after, again), owed
