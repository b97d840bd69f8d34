"""The automaton of a row pattern, whose choices are ordered: `automaton_of`.

A state is a place of the pattern at which a row is taken, a *slot*: `A+ B` has two, `A{2} B` three. Behind
each slot stands the list of what may come next, the preferred first: another slot, or the end of the match.
The lists are those of the position automaton (Glushkov), in the order in which SQL prefers matches (SQL:2016,
part 5: row pattern recognition). Since a row is taken at each step, no list leads back to itself without one,
and a pattern such as `(A*)*` has as many states as variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import permutations
from typing import NamedTuple

from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    parts_of,
)

MOST_SLOTS = 20_000
"""Places of a pattern at most, with `{n,m}` written out."""

MOST_CHOICES = 2_000_000
"""Entries of all lists at most."""

MATCHED = -1
"""In a list: the match ends here."""


class Context(NamedTuple):
    """Where a list is looked at: which anchors hold."""

    first: bool
    """No row of the partition comes before: `^` holds."""
    last: bool
    """No row of the partition is left: `$` holds."""


@dataclass(frozen=True, slots=True)
class OrderedAutomaton:
    """An automaton with ordered choices.

    Attributes
    ----------
    variables : tuple of str
        The primary variables of the pattern, in the order of the text.
    variable_of : tuple of int
        For each slot the number of its variable.
    excluded : tuple of bool
        For each slot whether it stands in `{- -}`.
    first_choices, other_choices : tuple of int
        What a match may begin with, at the first row of a partition and at another row; `MATCHED` is the
        empty match.
    next_choices, last_choices : tuple of tuple of int
        For each slot what may come behind it where a row of the partition is left, and where none is.
    """

    variables: tuple[str, ...]
    variable_of: tuple[int, ...]
    excluded: tuple[bool, ...]
    first_choices: tuple[int, ...]
    other_choices: tuple[int, ...]
    next_choices: tuple[tuple[int, ...], ...]
    last_choices: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Vertex:
    """A point of the pattern: a slot, a split, an anchor, where a repetition is entered or left, the end."""

    kind: str
    slot: int = -1
    place: str = ""
    loop: int = -1
    """The repetition that begins or ends here."""
    follows: list[_Vertex] = field(default_factory=list)


def automaton_of(pattern: RowPattern) -> OrderedAutomaton:
    """The automaton of a row pattern.

    Raises
    ------
    LimitError
        When the pattern is too large with its repetitions written out.
    """
    variables = tuple(dict.fromkeys(variable.name for variable in variables_of(pattern)))
    builder = _GraphBuilder(variables)
    root = builder.build(pattern, _Vertex("end"), False)
    behind = [node.follows[0] for node in builder.slots]
    walk = _ChoiceWalk()
    return _turned(
        OrderedAutomaton(
            variables,
            tuple(builder.variable_of),
            tuple(builder.excluded),
            walk.choices(root, Context(True, False)),
            walk.choices(root, Context(False, False)),
            tuple(walk.choices(node, Context(False, False)) for node in behind),
            tuple(walk.choices(node, Context(False, True)) for node in behind),
        )
    )


def _turned(automaton: OrderedAutomaton) -> OrderedAutomaton:
    """The same automaton with its slots numbered from the begin of the pattern on, and not from its end."""
    most = len(automaton.variable_of) - 1

    def turned(choices: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(MATCHED if target == MATCHED else most - target for target in choices)

    return OrderedAutomaton(
        automaton.variables,
        automaton.variable_of[::-1],
        automaton.excluded[::-1],
        turned(automaton.first_choices),
        turned(automaton.other_choices),
        tuple(map(turned, automaton.next_choices[::-1])),
        tuple(map(turned, automaton.last_choices[::-1])),
    )


def variables_of(pattern: RowPattern) -> Iterator[Variable]:
    """The variables of a pattern in the order of the text, as often as they stand there."""
    return (part for part in parts_of(pattern) if isinstance(part, Variable))


class _GraphBuilder:
    """Writes a pattern as nodes, from its end to its begin."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(variables)}
        self.variable_of: list[int] = []
        self.excluded: list[bool] = []
        self.slots: list[_Vertex] = []
        self._loops = 0

    def build(self, pattern: RowPattern, then: _Vertex, excluded: bool) -> _Vertex:
        """The node at which a pattern begins, behind which comes `then`."""
        match pattern:
            case Variable():
                return self._slot(pattern.name, then, excluded)
            case Concatenation():
                for part in reversed(pattern.parts):
                    then = self.build(part, then, excluded)
                return then
            case Alternation():
                return _split(self.build(option, then, excluded) for option in pattern.options)
            case Permutation():
                return _split(
                    self.build(Concatenation(parts), then, excluded) for parts in permutations(pattern.parts)
                )
            case Exclusion():
                return self.build(pattern.body, then, True)
            case Anchor():
                return _Vertex("anchor", place=pattern.place, follows=[then])
            case Quantified():
                return self._repeated(pattern, then, excluded)
        raise AssertionError(pattern)

    def _slot(self, name: str, then: _Vertex, excluded: bool) -> _Vertex:
        if len(self.slots) == MOST_SLOTS:
            raise LimitError(
                f"the pattern has more than {MOST_SLOTS:,} places with its repetitions written out: make the "
                "numbers in { } smaller, or count the rows in a condition: `COUNT(a.*) <= 1000`"
            )
        node = _Vertex("slot", slot=len(self.slots), follows=[then])
        self.slots.append(node)
        self.variable_of.append(self._numbers[name])
        self.excluded.append(excluded)
        return node

    def _repeated(self, pattern: Quantified, then: _Vertex, excluded: bool) -> _Vertex:
        least = pattern.least
        if pattern.most is not None:
            end = then
            for _ in range(pattern.most - least):
                again = self._marked(pattern, then, excluded)[1]
                then = _either(again, end, pattern.reluctant)
        elif least:
            # The last repetition that is needed is also the one that may come again.
            then = self._loop(pattern, then, excluded)[0]
            least -= 1
        else:
            then = self._loop(pattern, then, excluded)[1]
        for _ in range(least):
            then = self.build(pattern.body, then, excluded)
        return then

    def _loop(self, pattern: Quantified, over: _Vertex, excluded: bool) -> tuple[_Vertex, _Vertex]:
        """The body, behind which it may come again, and the choice whether it comes at all."""
        choice = _Vertex("split")
        body, again = self._marked(pattern, choice, excluded)
        choice.follows.extend(_either(again, over, pattern.reluctant).follows)
        return body, choice

    def _marked(self, pattern: Quantified, then: _Vertex, excluded: bool) -> tuple[_Vertex, _Vertex]:
        """A repetition that may take no row, and the same as one that has to take a row."""
        number = self._loops
        self._loops += 1
        body = self.build(pattern.body, _Vertex("leave", loop=number, follows=[then]), excluded)
        return body, _Vertex("enter", loop=number, follows=[body])


def _either(again: _Vertex, over: _Vertex, reluctant: bool) -> _Vertex:
    return _Vertex("split", follows=[over, again] if reluctant else [again, over])


def _split(options: Iterator[_Vertex]) -> _Vertex:
    return _Vertex("split", follows=list(options))


class _ChoiceWalk:
    """Lists of what may come next, from a point on."""

    def __init__(self) -> None:
        self._entries = 0

    def choices(self, begin: _Vertex, context: Context) -> tuple[int, ...]:
        """What may come next, the preferred first.

        A point is passed again only in another repetition: those that were entered on the way here must not
        be left, since they have taken no row. As inner repetitions are entered behind outer ones, a point
        has as many ways to be passed as repetitions around it.
        """
        found: dict[int, None] = {}
        passed: set[tuple[int, frozenset[int]]] = set()
        waiting: list[tuple[_Vertex, frozenset[int]]] = [(begin, frozenset())]
        while waiting:
            node, entered = waiting.pop()
            if node.kind == "end":
                found.setdefault(MATCHED)
                continue
            if node.kind == "slot":
                found.setdefault(node.slot)
                continue
            key = (id(node), entered)
            if key in passed or (node.kind == "leave" and node.loop in entered):
                continue
            passed.add(key)
            if node.kind == "anchor" and not (context.first if node.place == "^" else context.last):
                continue
            if node.kind == "enter":
                entered = entered | {node.loop}
            waiting.extend((follow, entered) for follow in reversed(node.follows))
        self._entries += len(found)
        if self._entries > MOST_CHOICES:
            raise LimitError(
                f"the pattern leaves more than {MOST_CHOICES:,} choices: make the numbers in {{ }} smaller"
            )
        return tuple(found)


def text_of(pattern: RowPattern) -> str:
    """A pattern as SQL writes it."""
    match pattern:
        case Variable():
            return pattern.name
        case Concatenation():
            return " ".join(map(_grouped, pattern.parts)) or "()"
        case Alternation():
            return " | ".join(map(text_of, pattern.options))
        case Permutation():
            return f"PERMUTE({', '.join(map(text_of, pattern.parts))})"
        case Exclusion():
            return f"{{- {text_of(pattern.body)} -}}"
        case Anchor():
            return pattern.place
        case Quantified():
            body = text_of(pattern.body)
            if not isinstance(pattern.body, Variable):
                body = f"({body})" if body != "()" else body
            return body + _quantifier(pattern)
    raise AssertionError(pattern)


def _grouped(part: RowPattern) -> str:
    return f"({text_of(part)})" if isinstance(part, Alternation) else text_of(part)


def _quantifier(pattern: Quantified) -> str:
    least, most = pattern.least, pattern.most
    known = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if (least, most) in known:
        sign = known[least, most]
    elif least == most:
        sign = f"{{{least}}}"
    else:
        sign = f"{{{least},{'' if most is None else most}}}"
    return sign + "?" * pattern.reluctant
