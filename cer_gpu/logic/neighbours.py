"""PRIOR among neighbours is PREV: a contiguous repetition of one event comes right after the one before.

`(T AS x FILTER x.p > PRIOR(x).p) :{5,}` becomes `T AS x : (T AS x FILTER x[p > PREV(p)]) :{4,}`: every filter
speaks of one event then, and the pattern is regular. `STRICT((T AS x FILTER x.p > PRIOR(x).p) {5,})` asks for
neighbours in other words.
"""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.walk import parts, rebuild, walk, with_attributes


def prior_as_previous(pattern: t.Pattern) -> t.Pattern:
    """An equivalent pattern in which contiguous repetitions of one event read PREV in the place of PRIOR."""
    made = rebuild(pattern, prior_as_previous)
    if not isinstance(made, t.Iteration) or not made.contiguous or made.gap is not None:
        return made
    if made.times is not None and (made.times.least_parameter or made.times.most_parameter):
        return made
    bodies = _bodies(made.pattern)
    if bodies is None:
        return made
    first, later = bodies
    most = None if made.most is None else made.most - 1
    if most == 0:
        return first
    rest = t.Iteration(later, contiguous=True, times=t.Times(max(made.least - 1, 1), most), span=made.span)
    longer = t.Sequence(first, rest, contiguous=True, span=made.span)
    return longer if made.least > 1 else t.Or(first, longer, span=made.span)


def strict_as_contiguous(pattern: t.Pattern) -> t.Pattern:
    """An equivalent pattern without the selectors STRICT of which every event that is matched is marked."""
    made = rebuild(pattern, strict_as_contiguous)
    if isinstance(made, t.Selector) and made.strategy is t.Strategy.STRICT:
        return contiguous(made.pattern) or made
    return made


def contiguous(pattern: t.Pattern) -> t.Pattern | None:
    """The complex events of a pattern whose marked events are neighbours, as a pattern; None if not known.

    Where every event that is matched is marked, these are those in which each event comes right after the one
    before: `A ; B+` becomes `A : B:+`.
    """
    match pattern:
        case t.EventType() | t.As() | t.Filter() | t.Timed() | t.Or():
            made = rebuild(pattern, contiguous)
        case t.Iteration() | t.Sequence():
            made = replace(rebuild(pattern, contiguous), contiguous=True)
        case _:
            return None
    return None if None in parts(made) else made


def _bodies(body: t.Pattern) -> tuple[t.Pattern, t.Pattern] | None:
    """The first repetition and the later ones; None where PRIOR is not that of one event, or not there."""
    conditions: list[t.Condition] = []
    names: set[str] = set()
    node = body
    while isinstance(node, t.Filter | t.As):
        if isinstance(node, t.As):
            names.add(node.variable)
        else:
            conditions += flattened(t.Both, node.condition)
        node = node.pattern
    if not isinstance(node, t.EventType):
        return None
    names.update(node.variables)
    before = [one for one in conditions if _asks_prior(one)]
    if not before or any(_as_previous(one, names) is None for one in before):
        return None
    return _with(body, names, False), _with(body, names, True)


def _asks_prior(condition: t.Condition) -> bool:
    return any(getattr(part, "prior", False) for part in walk(condition))


def _as_previous(condition: t.Condition, names: set[str]) -> t.Condition | None:
    """A comparison of an event with the one in the repetition before, as a predicate of the event."""
    if not isinstance(condition, t.Comparison):
        return None
    read = [part for part in walk(condition) if isinstance(part, t.Attribute)]
    plain = all(isinstance(one.variable, str) and one.variable in names for one in read)
    if not plain or any(isinstance(part, t.Previous | t.Aggregate) for part in walk(condition)):
        return None
    if any(one.prior == "BEFORE" for one in read):
        return None
    owners = [*{str(one.variable) for one in read if not one.prior}]
    if len(owners) != 1 or all(one.prior for one in read):
        return None
    left, right = _of_one_event(condition.left), _of_one_event(condition.right)
    return t.Every(owners[0], replace(condition, left=left, right=right))


def _of_one_event(side: t.Expression) -> t.Expression:
    """A side as an expression over one event, PREV in the place of PRIOR."""

    def of_event(one: t.Attribute) -> t.Expression:
        attribute = t.Attribute(one.name, span=one.span)
        return t.Previous(attribute, span=one.span) if one.prior else attribute

    found: t.Expression = with_attributes(side, of_event)
    return found


def _with(body: t.Pattern, names: set[str], later: bool) -> t.Pattern:
    """The body with its comparisons with PRIOR as predicates of one event, or without them."""
    if isinstance(body, t.As):
        return replace(body, pattern=_with(body.pattern, names, later))
    if not isinstance(body, t.Filter):
        return body
    inner = _with(body.pattern, names, later)
    kept: list[t.Condition] = []
    for one in flattened(t.Both, body.condition):
        if not _asks_prior(one):
            kept.append(one)
        elif later and (made := _as_previous(one, names)) is not None:
            kept.append(made)
    return replace(body, pattern=inner, condition=chain_of(t.Both, kept)) if kept else inner
