"""The texts at the edges of a drawing: predicates, sets of events, equalities, marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cer_gpu.automata.cea import OutlookTest, Predicate, TypeTest, leaf_tests
from cer_gpu.automata.pcea import Equality, GatherTransition, Keys
from cer_gpu.automata.timed.clocks import Check
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.printer import to_text
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.language.words import written, written_variable

ANY = "any event"


def predicate_text(predicate: Predicate) -> str:
    """A predicate on one event as the query writes it.

    `A` for a type, `A[price > 10]` for a type with a filter, `any event` for TRUE.
    """
    match predicate:
        case TypeTest(name, stream):
            return written(name) if stream is None else f"{written(stream)}>{written(name)}"
        case OutlookTest(pattern, before, interval):
            return beside_text(pattern, before, interval)
        case tree.Truth(value):
            return ANY if value else "no event"
        case tree.Both():
            return _conjunction(predicate)
        case tree.Either(left, right) if _names_a_type(predicate):
            return one_of([predicate_text(left), predicate_text(right)])
        case tree.Not(operand) if _names_a_type(operand):
            return negated(predicate_text(operand))
    return to_text(predicate)


def beside_text(pattern: tree.Pattern, before: bool, interval: tree.Interval | None) -> str:
    """FOLLOWED BY or PRECEDED BY as the query writes it: `FOLLOWED BY [<= 8 h] Logoff`."""
    beside = tree.Beside(tree.EventType("p"), pattern, before, False, interval)
    return to_text(beside).removeprefix("p ")


def _conjunction(predicate: tree.Both) -> str:
    """`A[p AND q]` where the first of the parts is a type and no other names one."""
    first, *rest = parts = flattened(tree.Both, predicate)
    if isinstance(first, TypeTest) and not any(map(_names_a_type, rest)):
        return f"{predicate_text(first)}[{to_text(chain_of(tree.Both, rest))}]"
    return " and ".join(
        f"({predicate_text(part)})" if isinstance(part, tree.Either) else predicate_text(part)
        for part in parts
    )


def _names_a_type(predicate: Predicate) -> bool:
    return any(isinstance(leaf, TypeTest | OutlookTest) for leaf in leaf_tests(predicate))


def one_of(texts: Sequence[str]) -> str:
    """The disjunction of descriptions of events, each once."""
    return ANY if ANY in texts else " or ".join(dict.fromkeys(texts))


def negated(text: str) -> str:
    """The description of all other events."""
    return f"not {_grouped(text)}"


def _grouped(text: str) -> str:
    return f"({text})" if " or " in text or " and " in text else text


def marks_text(label: Iterable[str]) -> str:
    """The variables that an event is marked with, in the order of their names."""
    return ", ".join(map(written_variable, sorted(label)))


def equality_text(equality: Equality, move: GatherTransition, body: ConjunctiveQuery | None) -> str:
    """The equality between a run that a transition gathers and the event that it reads.

    `Buy.id = Sell.id` in a query; in a rule, whose events share variables, `same x`. Empty where nothing is
    compared.
    """
    told = ["the next event"] if equality.next else []
    if body is not None:
        variable_of = {
            attribute: variable
            for atom in body.atoms
            if atom.id in move.label
            for variable, attribute in atom.attribute_of.items()
        }
        names = (variable_of.get(_bare(key), to_text(key)) for key in equality.right)
        shared = ", ".join(names)
        return " and ".join([*told, *([f"same {shared}"] if shared else [])])
    sides = [_pairs(name, keys, move.event_type, equality.right) for name, keys in equality.left]
    return " and ".join([*told, *filter(None, [one_of(sides)])])


def _pairs(earlier: str, keys: Keys, later: str, right: Keys) -> str:
    return ", ".join(
        f"{_of(earlier, one)} = {_of(later, other)}" for one, other in zip(keys, right, strict=True)
    )


def _of(event_type: str, key: tree.Expression) -> str:
    if isinstance(key, tree.Attribute):
        return f"{written(event_type)}.{to_text(key)}"
    return f"({to_text(key)} of {written(event_type)})"


def _bare(key: tree.Expression) -> str:
    return key.name if isinstance(key, tree.Attribute) else ""


class EventSets:
    """Sets of classes of events, described by the predicates that tell the classes apart.

    With the predicates `A` and `A[price > 10]` there are three classes: `A[price > 10]`, `A and not
    A[price > 10]`, `not A`.

    Parameters
    ----------
    outcomes : sequence of frozenset of int
        For each class the predicates that hold.
    tests : sequence of Predicate
    """

    def __init__(self, outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate]) -> None:
        self._everything = frozenset(range(len(outcomes)))
        extents = {
            predicate_text(test): frozenset(k for k, holds in enumerate(outcomes) if number in holds)
            for number, test in enumerate(tests)
        }
        # What holds of all events, or of none, tells none apart.
        self._extents = {
            text: extent for text, extent in extents.items() if extent and extent != self._everything
        }
        self._rest = self._everything.difference(*self._extents.values())

    def text(self, classes: Iterable[int]) -> str:
        """The text of a set: one predicate, or the complement of one, where that fits; else a disjunction."""
        asked = frozenset(classes)
        if asked == self._everything:
            return ANY
        for text, extent in self._extents.items():
            if extent == asked:
                return text
        if self._rest & asked:  # events of which no predicate holds
            return negated(self.text(self._everything - asked))
        parts, missing = [], set(asked)
        for text, extent in sorted(self._extents.items(), key=lambda item: -len(item[1])):
            if extent <= asked and extent & missing:
                parts.append(text)
                missing -= extent
        return one_of([*parts, *map(self._one, sorted(missing))])

    def _one(self, event_class: int) -> str:
        """The text of one class: the narrowest predicates that hold, and those that do not."""
        holding = {text: extent for text, extent in self._extents.items() if event_class in extent}
        narrow = {
            text: extent
            for text, extent in holding.items()
            if not any(other < extent for other in holding.values())
        }
        parts = list(narrow)
        others = self._everything.intersection(*narrow.values()) - {event_class}
        for text, extent in self._extents.items():
            if event_class not in extent and extent & others:
                parts.append(negated(text))
                others -= extent
        return " and ".join(parts)


def check_text(check: Check, units: bool) -> str:
    """`z <= 5 s`; without units `z <= 5`."""
    constant, unit = check.constant, ""
    if units:
        named = next((one for one in reversed(tuple(NANOSECONDS)) if constant % NANOSECONDS[one] == 0), "ns")
        constant, unit = constant / NANOSECONDS[named], f" {named}"
    number = constant.numerator if constant.denominator == 1 else float(constant)
    return f"z {check.op} {number}{unit}"
