"""Registers: the values of marked events that a partial match keeps for comparisons.

A **comparison** is a leaf of a condition that no single event decides: `y.p > x.p`, `COUNT(x) >= 3`,
`PRIOR(x)[p > 1]`. Its **owners** are the variables that it speaks of. For each owner a register keeps only
what the comparison can still need: for `y.p > x.p` the greatest value of x and the least of y, for an
equality the one value, for any other comparison the distinct values. `BAD` stands for an event that makes the
comparison false whatever the others are: a null, or a second value of an equality. Aggregates keep running
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.slots import Ages
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates, attributes

ALL, LEAST, MOST, SAME, TRUE_OF = "all", "least", "most", "same", "true of"
"""What is kept of the events of an owner: all values, the least, the greatest, the only one; or whether each
satisfies a predicate."""

EMPTY: tuple[Any, ...] = ()
"""The register of an owner that has marked nothing."""

BAD = "bad"
"""The register of an owner with an event for which the comparison is false, whatever the others are."""

Register: TypeAlias = Any
"""`EMPTY`, `BAD`, or rows: the values of the columns of some events; of an aggregate what it has by now."""


class Owner(NamedTuple):
    """A variable that a comparison speaks of; `prior`: which earlier repetitions' events of it."""

    variable: str
    prior: tree.Earlier


class FoldPart(NamedTuple):
    """A variable of an expression over several, and the columns that it reads of an event."""

    owner: Owner
    columns: tuple[int, ...]


COUNTED = -1
"""In the place of a column: the events themselves."""


@dataclass(frozen=True, slots=True)
class Fold:
    """An aggregate in a comparison.

    Attributes
    ----------
    owner : Owner
    function : str
    column : int
        The column that is aggregated, or `COUNTED`; below it stand the values of expressions over several
        variables.
    distinct : bool
    most : int
        Counts from this one on make no difference to any comparison; 0: every count does.
    parts : tuple of FoldPart
        For an expression over several variables: these.
    edge : RepetitionEdge or None
        The event that tells the repetitions apart in which these are taken together.
    aggregate : Aggregate or None
        The aggregate of such an expression.
    """

    owner: Owner
    function: str
    column: int
    distinct: bool
    most: int = 0
    parts: tuple[FoldPart, ...] = ()
    edge: tree.RepetitionEdge | None = None
    aggregate: tree.Aggregate | None = None

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The variables whose events it takes, all bound in one place."""
        return tuple(part.owner for part in self.parts) or (self.owner,)

    def waits(self, place: int) -> bool:
        """Whether events of a part may meet later ones of another part in the same repetition."""
        others = {part.owner.variable for at, part in enumerate(self.parts) if at != place}
        if self.edge is None:
            return True
        if self.edge.first:  # it comes before all others, which wait for no more of it
            return bool(others - {self.edge.variable})
        return self.parts[place].owner.variable != self.edge.variable

    @property
    def names(self) -> frozenset[str]:
        """The variables whose events change it."""
        found = frozenset(owner.variable for owner in self.owners)
        return found if self.edge is None else found.union(self.edge.variables)


@dataclass(frozen=True, slots=True)
class ComparedEvents:
    """A comparison.

    Attributes
    ----------
    condition : Comparison or Every
    choices : tuple of Owner
        The variables of whose events every choice of one each is compared.
    columns : tuple of tuple of int
        For each choice the columns that the comparison reads of its event.
    keeps : tuple of str
        For each choice what its register keeps.
    folds : tuple of Fold
    """

    condition: tree.Comparison | tree.Every
    choices: tuple[Owner, ...]
    columns: tuple[tuple[int, ...], ...]
    keeps: tuple[str, ...]
    folds: tuple[Fold, ...]

    @property
    def is_of_two(self) -> bool:
        """Whether each side is a value of one of two variables."""
        condition = self.condition
        return isinstance(condition, tree.Comparison) and owners_of_sides(condition) == self.choices

    @property
    def owners(self) -> frozenset[Owner]:
        """All variables that it speaks of."""
        return frozenset((*self.choices, *(owner for fold in self.folds for owner in fold.owners)))


class EventFacts(Ages, Protocol):
    """Answers questions about the event that is being read and the values in registers."""

    def value(self, column: int) -> Any:
        """The value that the event has in a column; None for a null."""

    def missing(self, value: Any) -> bool:
        """Whether a value compares to nothing: a null or a NaN."""

    def less(self, column: int, one: Any, other: Any) -> bool:
        """Whether one value of a column is less than another one; none is missing."""

    def same(self, column: int, one: Any, other: Any) -> bool:
        """Whether two values of a column are the same."""

    def spans(self, column: int, first: Any, last: Any, size: int | float) -> bool:
        """Whether two values of a column differ by at most `size`."""

    def satisfies(self, comparison: int) -> bool:
        """Whether the event satisfies the predicate of a comparison `x[...]`."""

    def increased(self, count: Register) -> Register:
        """A count plus one."""

    def added(self, column: int, total: Register, value: Any) -> Register:
        """A sum plus one more value of a column; `EMPTY` is the sum of none."""

    def joint(self, column: int, choice: tuple[Any, ...]) -> Any:
        """The value of an expression over several variables, of an event of each; None if it is missing."""

    def holds_of(self, comparison: int, rows: tuple[Any, ...], folded: tuple[Any, ...]) -> bool:
        """Whether a comparison holds for one event of each choice, given the values of its aggregates."""


def marked(
    comparison: ComparedEvents, choice: int, register: Register, event: EventFacts, number: int
) -> Register:
    """The register of a choice that marks the event."""
    keep, columns = comparison.keeps[choice], comparison.columns[choice]
    if register == BAD:
        return BAD
    if keep == TRUE_OF:
        return register if event.satisfies(number) else BAD
    row = tuple([event.value(column) for column in columns])
    if keep == ALL:
        return register if _known(row, register, columns, event) else frozenset((*register, row))
    (value,), (column,) = row, columns
    if event.missing(value):
        return BAD
    if not register:
        return (row,)
    return _merged(keep, column, register, (row,), event)


def _merged(keep: str, column: int, one: Register, other: Register, event: EventFacts) -> Register:
    """What is kept of two values."""
    ((old,),), ((new,),) = one, other
    if keep == SAME:
        return one if event.same(column, old, new) else BAD
    first, second = (new, old) if keep == LEAST else (old, new)
    return other if event.less(column, first, second) else one


def joined(
    comparison: ComparedEvents, choice: int, one: Register, other: Register, event: EventFacts
) -> Register:
    """The register of all events of two registers."""
    keep, columns = comparison.keeps[choice], comparison.columns[choice]
    if BAD in (one, other):
        return BAD
    if not one or not other:
        return one or other
    if keep == ALL:
        return frozenset((*one, *(row for row in other if not _known(row, one, columns, event))))
    return _merged(keep, columns[0], one, other, event)


def _known(row: tuple[Any, ...], rows: Register, columns: Sequence[int], event: EventFacts) -> bool:
    """Whether a row is one of some rows."""
    if row in rows:
        return True
    return any(
        all(
            (mine is None) == (theirs is None) and (mine is None or event.same(column, mine, theirs))
            for column, mine, theirs in zip(columns, row, other, strict=True)
        )
        for other in rows
    )


def begun(fold: Fold) -> Register:
    """The register of an aggregate of nothing."""
    if fold.parts:
        return (EMPTY,) * len(fold.parts), EMPTY, False
    if fold.function != "COUNT":
        return EMPTY
    return frozenset() if fold.distinct else 0


def folded(fold: Fold, register: Register, label: Label, event: EventFacts) -> Register:
    """The register of an aggregate after an event that has a label with a variable of it."""
    if fold.parts:
        return _gathered(fold, register, label, event)
    if fold.column == COUNTED:
        return _counted(fold, register, event)
    value = event.value(fold.column)
    return register if event.missing(value) else _with(fold, register, value, event)


def _gathered(fold: Fold, register: Register, label: Label, event: EventFacts) -> Register:
    """The events of a repetition, what all choices of them have given, and whether it may be over."""
    rows, total, turned = register
    edge = fold.edge
    edged = edge is not None and edge.variable in label
    if edged and edge is not None and edge.first and (turned or not edge.after):
        rows, turned = begun(fold)[0], False
    for place, part in enumerate(fold.parts):
        if part.owner.variable not in label:
            continue
        row = tuple([event.value(column) for column in part.columns])
        for choice in product(*rows[:place], (row,), *rows[place + 1 :]):
            value = event.joint(fold.column, choice)
            if value is not None:
                total = _with(fold, total, value, event)
        rows = (*rows[:place], (*rows[place], row), *rows[place + 1 :])
    if edged and edge is not None and not edge.first:
        return begun(fold)[0], total, False
    kept = tuple([own if fold.waits(place) else EMPTY for place, own in enumerate(rows)])
    return kept, total, turned or (edge is not None and edge.after in label)


def awaited(fold: Fold, register: Register, ahead: frozenset[str]) -> Register:
    """The register without events that can meet no more, if it is known which variables lie ahead."""
    if not fold.parts or fold.edge is not None:
        return register
    rows, total, turned = register
    names = [part.owner.variable for part in fold.parts]
    kept = [
        own if any(name in ahead for at, name in enumerate(names) if at != place) else EMPTY
        for place, own in enumerate(rows)
    ]
    return tuple(kept), total, turned


def _given(fold: Fold, register: Register) -> Register:
    """What an aggregate has by now, as that of one variable."""
    return register[1] if fold.parts else register


def _with(fold: Fold, register: Register, value: Any, event: EventFacts) -> Register:
    """The register with one more value, which is not missing."""
    match fold.function:
        case "COUNT" if fold.distinct:
            return _distinct(fold, register, value, event)
        case "COUNT":
            return _counted(fold, register, event)
        case "FIRST":
            return register or (value,)
        case "LAST":
            return (value,)
        case "SUM":
            return event.added(fold.column, register, value)
        case "AVG":
            total, count = register or (EMPTY, 0)
            return event.added(fold.column, total, value), event.increased(count)
    if not register:
        return (value,)
    least = fold.function == "MIN"
    first, second = (value, register[0]) if least else (register[0], value)
    return (value,) if event.less(fold.column, first, second) else register


def _counted(fold: Fold, register: Register, event: EventFacts) -> Register:
    return min(register + 1, fold.most) if fold.most else event.increased(register)


def _distinct(fold: Fold, register: Register, value: Any, event: EventFacts) -> Register:
    if fold.most and len(register) >= fold.most:
        return register
    if any(event.same(fold.column, one, value) for one in register):
        return register
    if fold.most == len(register) + 1:
        return frozenset(range(fold.most))  # which values they are is asked no more
    return register | {value}


def truth(
    comparison: ComparedEvents,
    number: int,
    registers: Sequence[Register],
    folds: Sequence[Register],
    event: EventFacts,
) -> bool:
    """Whether a comparison holds for the events that its registers stand for.

    Parameters
    ----------
    comparison : ComparedEvents
    number : int
        Its number.
    registers, folds : sequence of Register
        Of its choices, and of its aggregates.
    event : Seen
    """
    if not all(registers):
        return True
    if BAD in registers:
        return False
    known = tuple([_given(fold, one) for fold, one in zip(comparison.folds, folds, strict=True)])
    return all(event.holds_of(number, rows, known) for rows in product(*registers))


# ---------------------------------------------------------------------------------- what is kept


def owners_of_sides(condition: tree.Comparison) -> tuple[Owner, Owner] | None:
    """The variables of the two sides of a comparison, if each side has one of its own; else None."""
    if any(aggregates(condition)):
        return None
    left, right = (
        {Owner(one.variable or "", one.prior) for one in attributes(side)}
        for side in (condition.left, condition.right)
    )
    if len(left) != 1 or len(right) != 1 or left == right:
        return None
    return next(iter(left)), next(iter(right))


def keeps_of(condition: tree.Comparison) -> tuple[str, str]:
    """What the registers of a comparison keep if each side is a value of one variable.

    For `left < right` the greatest left and the least right decide, for an equality the one value.
    """
    match condition.op:
        case "=":
            return SAME, SAME
        case "<" | "<=":
            return MOST, LEAST
        case ">" | ">=":
            return LEAST, MOST
    return ALL, ALL


class DecidingSide(NamedTuple):
    """A side of a comparison that is a value of one variable, of which the least or the greatest decides."""

    side: tree.Expression
    keeps: str


def extremes_of(condition: tree.Comparison) -> dict[Owner, DecidingSide]:
    """The variables that have a side of a comparison by order to themselves: `c.p` in `a.p + b.p < c.p`."""
    found: dict[Owner, DecidingSide] = {}
    if condition.op in ("=", "!="):
        return found
    sides = condition.left, condition.right
    owners = [{Owner(one.variable or "", one.prior) for one in attributes(side)} for side in sides]
    for side, own, others, keeps in zip(sides, owners, reversed(owners), keeps_of(condition), strict=True):
        if len(own) == 1 and not own & others and not any(aggregates(side)):
            found[next(iter(own))] = DecidingSide(side, keeps)
    return found


def sides_of(
    expressions: Sequence[tree.Expression], whole: Sequence[tree.Expression] = ()
) -> Iterator[tree.Expression]:
    """The largest parts of expressions that are values of one event of one variable, each once.

    Those of `whole` are not taken apart.
    """
    found: dict[tree.Expression, None] = {}
    waiting: list[tree.Expression] = [*reversed(expressions)]
    while waiting:
        match waiting.pop():
            case one if one in whole:
                found[one] = None
            case tree.Attribute() | tree.Previous() as one:
                found[one] = None
            case tree.Call(arguments=arguments) as call:
                if len({(one.variable, one.prior) for one in attributes(call)}) == 1 and not any(
                    aggregates(call)
                ):
                    found[call] = None
                else:
                    waiting += reversed(arguments)
            case tree.Arithmetic(left=left, right=right):
                waiting += (right, left)
            case tree.Negation(operand=operand):
                waiting.append(operand)
    yield from found
