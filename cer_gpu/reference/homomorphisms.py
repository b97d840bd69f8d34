"""The reference semantics of rules (language section 7): all t-homomorphisms, slow and obvious."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cer_gpu.language import tree as t
from cer_gpu.reference.conditions import compare, value_of
from cer_gpu.reference.events import Event, Value
from cer_gpu.reference.matcher import Matcher
from cer_gpu.reference.selection import Match

Homomorphism = Mapping[str, tuple[Value, ...]]
"""For each variable the values that it has been given, one for each of its occurrences so far."""


def answers(
    rule: t.Rule, events: Sequence[Event], *, order: str | None = None, order_unit: str | None = None
) -> tuple[tuple[int, ...], ...]:
    """Every way to choose one event for each atom (section 4 of the PCEA paper, bag semantics).

    The answers at position n are those whose latest event is n. An event may serve several atoms. A null, a
    NaN and an attribute that an event lacks equal nothing; a variable that occurs once may be one of these.

    Parameters
    ----------
    rule : Rule
        Its atoms give their attributes by name.
    events : sequence of Event
        In stream order, which is not checked.
    order : str, optional
        The order attribute; without one the window may not speak of time.
    order_unit : str, optional
        The unit of a plain-number order attribute.

    Returns
    -------
    tuple of tuple of int
        For each answer the positions of its events in the order of the atoms, sorted by (end, start,
        positions).

    Raises
    ------
    ValueError
        When an atom gives its attributes by position, or the window is one of time and there is no order
        attribute, or it has no such unit.
    TypeError
        When values do not compare.
    """
    partial: list[tuple[tuple[int, ...], Homomorphism]] = [((), {})]
    for atom in rule.atoms:
        partial = [
            ((*chosen, position), extended)
            for chosen, values in partial
            for position, event in enumerate(events)
            if (extended := _extended(values, atom, event)) is not None
        ]
    window = Matcher(events, order, order_unit)
    found = [
        chosen
        for chosen, values in partial
        if all(_holds(comparison, values) for comparison in rule.comparisons)
        and window.in_window(rule.window, Match(min(chosen), max(chosen), frozenset()))
    ]
    return tuple(sorted(found, key=lambda chosen: (max(chosen), min(chosen), chosen)))


def _extended(values: Homomorphism, atom: t.RuleAtom, event: Event) -> Homomorphism | None:
    """What the variables are once the event is chosen for the atom; None where it cannot be."""
    if not event.is_a(atom.type.name, atom.type.stream):
        return None
    extended = dict(values)
    for name, term in _terms(atom):
        value = event.attributes.get(name)
        if isinstance(term, t.RuleVariable):
            before = extended.get(term.name, ())
            if not all(compare("=", other, value) for other in before):
                return None
            extended[term.name] = (*before, value)
        elif not compare("=", value, term.value):
            return None
    return extended


def _terms(atom: t.RuleAtom) -> Iterator[tuple[str, t.Term]]:
    if atom.names is None:
        raise ValueError(f"an atom of `{atom.type.name}` gives its attributes by position")
    return zip(atom.names, atom.terms, strict=True)


def _holds(comparison: t.Comparison, values: Homomorphism) -> bool:
    left, right = (
        value_of(side, lambda variable: values[variable.name][0])
        for side in (comparison.left, comparison.right)
    )
    return compare(comparison.op, left, right)
