"""Checks names of types, attributes, variables and streams; suggests a known name for an unknown one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, reduce

from cer_gpu.errors import Span
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings, Hint
from cer_gpu.language.near_names import near_name
from cer_gpu.language.printer import interval_text, operator_text, to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.scope import Scope, variables
from cer_gpu.language.walk import children, condition_variables, walk
from cer_gpu.language.words import quoted_text, trailing, written, written_variable

_LISTED = 24


def unknown_type(name: str) -> str:
    """What is said of an event type that no event has."""
    return f"no event has the type `{written(name)}`"


class NameChecker:
    """Checks names against a schema. Without a schema only variables are checked.

    Parameters
    ----------
    schema : Schema or None
    findings : Findings
    """

    def __init__(self, schema: Schema | None, findings: Findings) -> None:
        self.schema = schema
        self._findings = findings

    def knows(self, event: t.EventType) -> bool:
        """Whether the schema says which attributes events of this type have."""
        return self.schema is not None and self.schema.types is not None and event.name in self.schema.types

    def check_type(self, event: t.EventType) -> None:
        """Report an event type that the schema does not have."""
        if self.schema is None or self.schema.types is None or event.name in self.schema.types:
            return
        message = unknown_type(event.name)
        place = trailing(event.span, event.name)
        common = self.schema.common_type
        if common is not None and near_name(event.name, [common]) is None:
            self._findings.error("CER020", message, place, _without_types(common, event.name))
            return
        self._unknown("CER020", message, event.name, self.schema.types, "the types are", place)

    def check_stream(self, stream: str, listed: Collection[str], place: Span | None) -> None:
        """Report a stream that the data does not have, or that FROM does not list."""
        if listed and stream not in listed:
            message = f"FROM does not list the stream `{written(stream)}`"
            self._unknown("CER023", message, stream, listed, "FROM lists", place)
            return
        known = None if self.schema is None else self.schema.streams
        if known is not None and stream not in known:
            message = f"there is no stream `{written(stream)}`"
            self._unknown("CER023", message, stream, known, "the streams are", place)

    def check_column(self, attribute: str, place: Span | None) -> ValueType | None:
        """The type of an attribute that any event may have; None, and reported, if there is none."""
        if self.schema is None:
            return None
        kind = self.schema.attributes.get(attribute)
        if kind is None and not self._unsupported(attribute, place):
            message = f"there is no attribute `{written(attribute)}`"
            self._unknown("CER021", message, attribute, self.schema.attributes, "the attributes are", place)
        return kind

    def type_before(self, previous: t.Previous) -> ValueType | None:
        """The type of PREV of an attribute: the event before may be of any type."""
        name = previous.attribute.name
        return self.check_column(name, trailing(previous.attribute.span, name))

    def check_returned(
        self, attribute: str, variable: str, types: Iterable[t.EventType], place: Span | None
    ) -> None:
        """As `check_attribute`, for an attribute that is only returned: it may have any type."""
        if self.schema is None or attribute not in self.schema.returned:
            self.check_attribute(attribute, variable, types, place)

    def check_attribute(
        self,
        attribute: str,
        variable: str,
        types: Iterable[t.EventType],
        place: Span | None,
        *,
        value: bool = False,
    ) -> ValueType | None:
        """The type of an attribute of the events that a variable marks.

        If no type has it, this is reported and None is returned; if only some types lack it, a note is added.

        Parameters
        ----------
        attribute, variable : str
        types : iterable of EventType
            The event types that the variable can mark; nothing is reported if there are none.
        place : Span or None
        value : bool, optional
            Whether people often forget the quotes of a text here, as in `name = ACME`.
        """
        if self.schema is None:
            return None
        kind = self.schema.attributes.get(attribute)
        if kind is None and self._unsupported(attribute, place):
            return None
        names = sorted({event.name for event in types})
        if self.schema.types is not None and any(name not in self.schema.types for name in names):
            return kind
        lacking = [name for name in names if attribute not in self.schema.attributes_of(name)]
        if kind is not None and not lacking:
            return kind
        if kind is None or (lacking == names and names):
            quotes = f"write a text in quotes: `{quoted_text(attribute)}`" if value else None
            self._no_attribute(attribute, variable, names, place, quotes)
            return None
        which = _quoted(lacking)
        self._findings.note(
            "CER104",
            f"{which} {'has' if len(lacking) == 1 else 'have'} no attribute `{written(attribute)}`:"
            " it is null in such events, and comparisons with it are false",
            place,
        )
        return kind

    def _no_attribute(
        self, attribute: str, variable: str, names: list[str], place: Span | None, quotes: str | None
    ) -> None:
        assert self.schema is not None
        shown = written(attribute)
        if self.schema.types is None or not names:
            message = f"there is no attribute `{shown}`"
            known = self.schema.attributes
            self._unknown("CER021", message, attribute, known, "the attributes are", place, quotes)
        elif len(names) == 1:
            has = self.schema.attributes_of(names[0])
            what = f"`{written(names[0])}`"
            message = f"event type {what} has no attribute `{shown}`"
            self._unknown("CER021", message, attribute, has, f"{what} has", place, quotes)
        else:
            has = frozenset[str]().union(*(self.schema.attributes_of(name) for name in names))
            which = _quoted(names)
            message = f"no type of `{written_variable(variable)}` ({which}) has an attribute `{shown}`"
            self._unknown("CER021", message, attribute, has, "they have", place, quotes)

    def _unsupported(self, attribute: str, place: Span | None) -> bool:
        assert self.schema is not None
        arrow = self.schema.unsupported.get(attribute)
        if arrow is not None:
            message = f"the column `{written(attribute)}` is of type {arrow}, which no query can use"
            usable = "bool, integers, floats, decimals, strings, timestamps and durations"
            hint = f"cast it before the query reads it: queries use {usable}"
            what, _, why = arrow.removesuffix(")").partition(" (")
            if why:  # it is said in words, with what to do or what is wrong, and no type of Arrow
                message = f"the column `{written(attribute)}` holds {what}, which no query can use"
                hint = why
            if arrow.startswith("struct<"):
                hint = f"name a field of it, as in `{attribute}.field` with the back-ticks; " + hint
            elif "list<" in arrow.partition("[")[0]:
                hint = f"make a row of each value of its lists first (explode, UNNEST): queries use {usable}"
            self._findings.error("CER024", message, place, hint)
        return arrow is not None

    def unknown_variable(
        self, variable: str, known: Scope | Iterable[str], pattern: t.Pattern, place: Span | None
    ) -> None:
        """Report a variable that is not defined where it is used.

        Parameters
        ----------
        variable : str
        known : Scope or iterable of str
            The variables that are defined there.
        pattern : Pattern
            The whole pattern, to say where the name does occur.
        place : Span or None
        """
        elsewhere = cache(lambda: _elsewhere(pattern, variable, place))

        def catalogue() -> str:
            names = sorted_names(known.names() if isinstance(known, Scope) else known)
            if elsewhere() or near_name(variable, names) is not None:
                return _catalogue(names, "the variables are", None if elsewhere() else variable)
            types = {node.name for node in walk(pattern) if isinstance(node, t.EventType)}
            named = [name for name in names if name not in types] or names
            rest = [name for name in names if name not in named]
            besides = f", and the types {some_of(rest)}" if rest else ""
            naming = f"`T AS {written_variable(variable)}` names an event of a type T"
            return f"the variables are {some_of(named)}{besides}; {naming}"

        message = f"the variable `{written_variable(variable)}` is not defined here"
        self._findings.error("CER022", message, place, elsewhere, catalogue)

    def unknown_in_rule(self, variable: str, known: Iterable[str], place: Span | None) -> None:
        """Report a variable of a rule that none of its atoms has; `known` are those that they have."""
        message = f"the variable `{written(variable)}` is in no part of the rule's body"
        self._unknown("CER022", message, variable, known, "the variables of the body are", place)

    def _unknown(
        self,
        code: str,
        message: str,
        name: str,
        known: Iterable[str],
        introduction: str,
        place: Span | None,
        quotes: str | None = None,
    ) -> None:
        fields = self.schema.fields if code == "CER021" and self.schema is not None else ()
        columns = code == "CER021"
        hints: list[Hint] = [lambda: _catalogue(sorted_names([*known, *fields]), introduction, name, columns)]
        if quotes is not None:
            hints.insert(0, quotes)
        if code == "CER021" and self.schema is not None and name in self.schema.roles:
            hints.insert(0, self.schema.roles[name])
        if code == "CER021" and self.schema is not None and self.schema.partial:
            hints.append(self.schema.partial)
        self._findings.error(code, message, place, *hints)


def _without_types(common: str, name: str) -> str:
    """What to write where no column tells the types, and FROM names another one than the query."""
    return (
        f"no column tells the types, so all events have the type that FROM names, `{written(common)}`: write "
        f"`FROM {written(name)}`, or pass type_column=... (--type-column ...) if there is such a column"
    )


def sorted_names(known: Iterable[str]) -> list[str]:
    """Names, each once, in alphabetical order."""
    return sorted(set(known), key=lambda one: (one.lower(), one))


def some_of(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(map(written_variable, names[:_LISTED]))
    return f"{shown} and {len(names) - _LISTED:,} more" if len(names) > _LISTED else shown


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{written(name)}`" for name in names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED:,} more" if len(names) > _LISTED else shown


def _catalogue(known: list[str], introduction: str, meant: str | None, columns: bool = False) -> str:
    """The names that are known, and the one of them that was probably meant."""
    close = None if meant is None else near_name(meant, known, columns)
    guess = "" if close is None else f"did you mean `{written_variable(close)}`? "
    return f"{guess}{introduction} {some_of(known)}" if known else ""


def _elsewhere(pattern: t.Pattern, variable: str, place: Span | None) -> str | None:
    # Where a variable that is not visible does occur, and what to write instead.
    match pattern:
        case t.Filter(pattern=t.Beside() | t.Unless() as beside, condition=condition):
            inside = _filter_inside(beside, condition, variable, place)
            if inside is not None:
                return inside
        case t.OtherEvent(type=event) if variable in event.variables:
            return "an event of NOT is not marked; write its condition inside: `NOT (T FILTER T[...])`"
        case t.Unless(right=right) if variable in variables(right):
            return "it is defined on the right of UNLESS, whose events are not part of the result"
        case t.Beside(left=left, right=right):
            if variable in variables(right):
                return (
                    f"it is defined on the right of {pattern.words}, whose events are not part of the result"
                )
            if variable in variables(left):
                return f"the right side of {pattern.words} cannot read this variable; {_instead(pattern)}"
    found = (_elsewhere(part, variable, place) for part in children(pattern))
    return next(filter(None, found), None)


def _filter_inside(
    pattern: t.Beside | t.Unless, condition: t.Condition, variable: str, place: Span | None
) -> str | None:
    """What to write where a filter after UNLESS or FOLLOWED BY reads a variable of its right side."""
    own = variables(pattern.right)
    if place is None or variable not in own:
        return None
    meant = [one for one in _conjuncts(condition) if variable in condition_variables(one)]
    if not any(one.span is not None and one.span.start <= place.start < one.span.end for one in meant):
        return None  # it is read elsewhere, as in the SELECT list
    if isinstance(pattern, t.Beside) and not all(condition_variables(one) <= own for one in meant):
        told = f"it is defined on the right of {pattern.words}, whose events cannot be compared with the left"
        return f"{told}; {_instead(pattern)}"
    bound = getattr(pattern, "interval", None)
    operator = operator_text(pattern).strip("`") + ("" if bound is None else f" {interval_text(bound)}")
    filtered = to_text(t.Filter(pattern.right, reduce(t.Both, meant)))
    return f"write the filter inside the right side: `{operator} ({filtered})`"


def _instead(pattern: t.Beside) -> str:
    """What to write in place of a comparison between the two sides of FOLLOWED BY."""
    joined = f"`{'B AS y ; A AS x' if pattern.before else 'A AS x ; B AS y'} FILTER y.v > x.v`"
    x = "ends" if pattern.before else "starts"
    other = f"match both, {joined}, and count the different {x}"
    if pattern.negated:
        other = f"subtract the matches of {joined} from those of `A AS x`"
    return (
        f"to ask for equal values on both sides, PARTITION BY the attribute; for another comparison {other}"
    )


def _conjuncts(condition: t.Condition) -> Iterator[t.Condition]:
    """The conditions that AND joins."""
    if isinstance(condition, t.Both):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition
