"""Syntax tree to text: `to_text`, with no parentheses but those that are needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from cer_gpu.language import tree as t
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.chains import as_written
from cer_gpu.language.functions import is_predicate
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.units import LONG_NAMES
from cer_gpu.language.words import quoted_text, written, written_owner, written_variable

# Levels of patterns, from the loosest to the tightest (the table of section 3).
_FILTER, _UNLESS, _OR, _ALL, _AND, _SEQUENCE, _POSTFIX, _ATOM = range(8)
# Levels of conditions, and of expressions.
_EITHER, _BOTH, _NOT = range(3)
_SUM, _PRODUCT, _SIGN, _VALUE = range(4)

_ARITHMETIC = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}


def to_text(node: t.Statement | t.RuleAtom | t.Pattern | t.Condition | t.Expression) -> str:
    """The canonical text of a statement, or of an atom, a pattern, a condition or an expression alone.

    `parse(to_text(statement)) == statement` for every query and rule that the grammar can say. A query has
    one line for each clause, all else is one line; a rule has its atoms before its comparisons.

    Parameters
    ----------
    node : SelectQuery, Rule, RuleAtom, Pattern, Condition or Expression

    Returns
    -------
    str
    """
    if isinstance(node, t.SelectQuery):
        return _query(node)
    if isinstance(node, t.Rule):
        return _rule(node)
    if isinstance(node, t.RuleAtom):
        return _atom(node)
    if isinstance(node, t.Pattern):
        return _pattern(node, _FILTER)
    if isinstance(node, t.Expression):
        return _expression(node, _SUM)
    return _condition(node, _EITHER)


# ------------------------------------------------------------------------------------ query


def abridged(node: t.Pattern, most: int = 400) -> str:
    """The text of a pattern for a message: the middle of a long one is left out."""
    text = to_text(node)
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} ... {text[-most // 4 :]} ({len(text):,} characters)"


def operator_text(node: t.Pattern) -> str:
    """The operator at the top of a formula, as it is written."""
    match node:
        case t.Sequence(contiguous=contiguous):
            return "`:`" if contiguous else "`;`"
        case t.Iteration(contiguous=contiguous, times=t.Times() as times):
            return f"`{':' if contiguous else ''}{times_text(times)}`"
        case t.Iteration(contiguous=contiguous):
            return "`:+`" if contiguous else "`+`"
        case t.Selector(strategy=strategy):
            return f"`{strategy.selector}`"
        case t.Beside():
            return f"`{node.words}`"
        case _:
            return f"`{type(node).__name__.upper()}`"


def _query(query: t.SelectQuery) -> str:
    strategy = "" if query.strategy is t.Strategy.ALL else f"{query.strategy.value} "
    measures = [f"{_expression(one.expression, _SUM)} AS {written(one.name)}" for one in query.measures]
    lines = [f"SELECT {strategy}{', '.join([*_selection(query.select), *measures])}"]
    if query.streams:
        lines.append("FROM " + ", ".join(map(written, query.streams)))
    lines.append("WHERE " + _pattern(query.pattern, _FILTER))
    if query.partition:
        lines.append("PARTITION BY " + partition_text(query.partition))
    if query.window is not None:
        lines.append("WITHIN " + window_text(query.window))
    if query.consume is not t.Consume.NONE:
        lines.append(f"CONSUME BY {query.consume.value}")
    if query.suppress is not None:
        lines.append(f"SUPPRESS FOR {suppress_text(query.suppress)}")
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    return "\n".join(lines)


def _selection(select: tuple[t.SelectItem, ...] | None) -> Iterator[str]:
    if not select:
        yield "*" if select is None else "NONE"
    for item in select or ():
        inside = "*" if item.whole else ", ".join(map(written, item.attributes))
        yield written_variable(item.variable) + (f"[{inside}]" if inside else "")


def partition_text(parts: tuple[tuple[str, ...], ...]) -> str:
    """What stands after PARTITION BY."""
    if all(len(part) == 1 for part in parts):
        return ", ".join(written(part[0]) for part in parts)
    return ", ".join(f"[{', '.join(map(written, part))}]" for part in parts)


def window_text(window: t.Window) -> str:
    """The amount of a window as it is written: `5 MINUTES`."""
    size = _given(window.size, window.parameter)
    if window.kind == "parameter":
        return size
    if window.kind == "events":
        return f"{size} EVENTS"
    if window.kind == "attribute":
        return f"{size} [{written(window.attribute or '')}]"
    return f"{size} {LONG_NAMES[window.unit or 's']}"


def suppress_text(suppress: t.Suppress) -> str:
    """What stands after SUPPRESS FOR: `1 h BY ANY`."""
    by = "" if suppress.by is None else f" BY {suppress.by.value}"
    return f"{bound_text(suppress.length)}{by}"


# ------------------------------------------------------------------------------------ rules


def _rule(rule: t.Rule) -> str:
    head = ", ".join(written(variable.name) for variable in rule.head)
    if rule.aggregates:
        head += "; " + ", ".join(map(_aggregate, rule.aggregates))
    body = ", ".join([*map(_atom, rule.atoms), *(_condition(part, _EITHER) for part in rule.comparisons)])
    window = "" if rule.window is None else f" WITHIN {window_text(rule.window)}"
    return f"{written(rule.name)}({head}) <- {body}{window}"


def _aggregate(aggregate: t.Aggregate) -> str:
    if aggregate.argument is not None:
        over = ("DISTINCT " if aggregate.distinct else "") + _expression(aggregate.argument, _SUM)
    else:
        over = "*" if aggregate.variable is None else written_owner(aggregate.variable, aggregate.prior)
    return f"{aggregate.function}({over})"


def _atom(atom: t.RuleAtom) -> str:
    terms = list(map(_term, atom.terms))
    if atom.names is not None:
        terms = [f"{written(name)} = {term}" for name, term in zip(atom.names, terms)]
    return f"{_pattern(atom.type, _ATOM)}({', '.join(terms)})"


def _term(term: t.Term) -> str:
    return written(term.name) if isinstance(term, t.RuleVariable) else _expression(term, _VALUE)


# --------------------------------------------------------------------------------- patterns


def _pattern(pattern: t.Pattern, level: int) -> str:
    own, text = _pattern_at(pattern)
    return text if own >= level else f"({text})"


def _pattern_at(pattern: t.Pattern) -> tuple[int, str]:
    match pattern:
        case t.EventType():
            return _ATOM, ">".join(written(name) for name in (pattern.stream, pattern.name) if name)
        case t.OtherEvent(type=event, condition=condition):
            name = _pattern(event, _FILTER)
            inner = name if condition is None else f"{name} FILTER {_condition(condition, _EITHER)}"
            return _ATOM, f"NOT ({inner})"
        case t.Timed(pattern=inner_pattern, interval=interval):
            return _ATOM, f"({_pattern(inner_pattern, _FILTER)}) WITHIN {interval_text(interval)}"
        case t.Selector(strategy=strategy, pattern=inner_pattern):
            return _ATOM, f"{strategy.selector}({_pattern(inner_pattern, _FILTER)})"
        case t.Project(pattern=inner_pattern, variables=variables):
            kept = ", ".join(map(written_variable, variables))
            return _ATOM, f"PROJECT({_pattern(inner_pattern, _FILTER)} | {kept})"
        case t.As(pattern=inner_pattern, variable=variable):
            return _POSTFIX, f"{_pattern(inner_pattern, _POSTFIX)} AS {written(variable)}"
        case t.Iteration(pattern=inner_pattern, contiguous=contiguous, gap=gap, times=times):
            sign = (" :" if contiguous else "") + ("+" if times is None else times_text(times))
            return _POSTFIX, f"{_pattern(inner_pattern, _POSTFIX)}{sign}{_gap(gap)}"
        case t.Optional(pattern=inner_pattern):
            return _POSTFIX, f"{_pattern(inner_pattern, _POSTFIX)} ?"
        case t.Sequence():
            operands, joints = (
                _from_the_left(pattern) if has_optional(pattern) else as_written(pattern, has_optional)
            )
            signs = [f" {':' if joint.contiguous else ';'}{_gap(joint.gap)} " for joint in joints]
            texts = [_pattern(operand, _POSTFIX) for operand in operands]
            return _SEQUENCE, "".join(chain.from_iterable(zip(["", *signs], texts)))
        case t.And():
            return _AND, " AND ".join(_pattern(operand, _SEQUENCE) for operand in as_written(pattern)[0])
        case t.All():
            return _ALL, " ALL ".join(_pattern(operand, _AND) for operand in as_written(pattern)[0])
        case t.Or():
            return _OR, " OR ".join(_pattern(operand, _ALL) for operand in as_written(pattern)[0])
        case t.Unless(left=left, right=right):
            return _UNLESS, f"{_pattern(left, _UNLESS)} UNLESS {_pattern(right, _OR)}"
        case t.Beside(left=left, right=right, interval=interval):
            return (
                _UNLESS,
                f"{_pattern(left, _UNLESS)} {pattern.words}{_after(interval)} {_pattern(right, _OR)}",
            )
        case t.Filter(pattern=inner_pattern, condition=condition):
            return _FILTER, f"{_pattern(inner_pattern, _FILTER)} FILTER {_condition(condition, _EITHER)}"


def _from_the_left(pattern: t.Pattern) -> tuple[list[t.Pattern], list[t.Sequence]]:
    operands: list[t.Pattern] = []
    joints: list[t.Sequence] = []
    while isinstance(pattern, t.Sequence):
        operands.append(pattern.right)
        joints.append(pattern)
        pattern = pattern.left
    return [pattern, *reversed(operands)], joints[::-1]


def times_text(times: t.Times) -> str:
    """`{n,m}` of a repetition."""
    least = "" if times.unsaid else _given(times.least, times.least_parameter)
    if times.most is None:
        return f"{{{least},}}"
    most = _given(times.most, times.most_parameter)
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _after(interval: t.Interval | None) -> str:
    return "" if interval is None else f" {interval_text(interval)}"


def _gap(gap: t.Interval | None) -> str:
    return "" if gap is None else interval_text(gap)


def interval_text(interval: t.Interval) -> str:
    """The canonical text of an interval: `[> 2 s, <= 5 s]`."""
    low, high = interval.low, interval.high
    if low is not None and high is not None and not low.open and not high.open:
        return f"[= {bound_text(low)}]" if low == high else f"[{bound_text(low)}, {bound_text(high)}]"
    bounds = []
    if low is not None:
        bounds.append(f"{'>' if low.open else '>='} {bound_text(low)}")
    if high is not None:
        bounds.append(f"{'<' if high.open else '<='} {bound_text(high)}")
    return f"[{', '.join(bounds)}]"


def bound_text(bound: t.Bound) -> str:
    """A bound as it is written, without its sign: `5 s`."""
    size = _given(bound.value, bound.parameter)
    if bound.unit is None:
        return size
    return f"{size} {'EVENTS' if bound.unit == EVENTS else bound.unit}"


def _given(number: int | float, parameter: t.Parameter | None) -> str:
    return _number(number) if parameter is None else f"${parameter.name}"


# ------------------------------------------------------------------------------- conditions


def _condition(condition: t.Condition, level: int) -> str:
    own, text = _condition_at(condition)
    return text if own >= level else f"({text})"


def _condition_at(condition: t.Condition) -> tuple[int, str]:
    match condition:
        case t.Either():
            return _EITHER, " OR ".join(_condition(operand, _BOTH) for operand in as_written(condition)[0])
        case t.Both():
            return _BOTH, " AND ".join(_condition(operand, _NOT) for operand in as_written(condition)[0])
        case t.Not(operand=t.InSet() | t.InRange() | t.Like() | t.IsNull() as test):
            return _NOT, _test(test, "NOT ")
        case t.Not(operand=operand):
            return _NOT, f"NOT {_condition(operand, _NOT)}"
        case t.Every(variable=variable, predicate=predicate, prior=prior):
            return _NOT, f"{written_owner(variable, prior)}[{_condition(predicate, _EITHER)}]"
        case t.Comparison(op="=", left=t.Call() as call, right=t.Boolean(value=True)) if is_predicate(call):
            return _NOT, _expression(call, _SUM)
        case t.Comparison(op=op, left=left_side, right=right_side):
            return _NOT, f"{_expression(left_side, _SUM)} {op} {_expression(right_side, _SUM)}"
        case t.Truth(value=value):
            return _NOT, "TRUE" if value else "FALSE"
        case _:
            return _NOT, _test(condition, "")


def _test(test: t.InSet | t.InRange | t.Like | t.IsNull, negation: str) -> str:
    operand = _expression(test.operand, _SUM)
    match test:
        case t.Like(pattern=pattern, parameter=parameter):
            regex = quoted_text(pattern) if parameter is None else f"${parameter.name}"
            return f"{operand} {negation}LIKE {regex}"
        case t.IsNull():
            return f"{operand} IS {negation}NULL"
        case t.InSet(members=members):
            return f"{operand} {negation}IN {{{', '.join(_members(members))}}}"
        case t.InRange(low=low, high=high):
            if all(isinstance(end, t.Number | t.Quantity | t.Parameter | None) for end in (low, high)):
                ends = ["" if end is None else _expression(end, _SUM) for end in (low, high)]
                return f"{operand} {negation}IN {{{ends[0]}..{ends[1]}}}"
            ends = ["" if end is None else _expression(end, _SUM) for end in (low, high)]
            return f"{operand} {negation}IN RANGE ({ends[0]}, {ends[1]})"


def _members(members: t.Members) -> Iterator[str]:
    yield from map(_number, members.numbers)
    for ends in members.ranges:
        yield "..".join("" if end is None else _expression(end, _SUM) for end in ends)
    yield from map(quoted_text, members.texts)
    for constant in members.others:
        yield _expression(constant, _SUM)


# ------------------------------------------------------------------------------ expressions


def _expression(expression: t.Expression, level: int) -> str:
    own, text = _expression_at(expression)
    return text if own >= level else f"({text})"


def _expression_at(expression: t.Expression) -> tuple[int, str]:
    match expression:
        case t.Number(value=value):
            return _VALUE, _number(value)
        case t.Quantity(value=value, unit=unit):
            return _VALUE, f"{_number(value)} {unit}"
        case t.Text(value=text):
            return _VALUE, quoted_text(text)
        case t.Boolean(value=truth):
            return _VALUE, "TRUE" if truth else "FALSE"
        case t.Parameter(name=name):
            return _VALUE, f"${name}"
        case t.Attribute(name=name, variable=variable, prior=prior):
            owner = "" if variable is None else f"{written_owner(variable, prior)}."
            return _VALUE, owner + written(name)
        case t.Previous(attribute=attribute, distance=distance, parameter=parameter):
            back = "" if (distance, parameter) == (1, None) else f", {_given(distance, parameter)}"
            return _VALUE, f"PREV({_expression(attribute, _SUM)}{back})"
        case t.Call(function="||", arguments=(left, right)):
            return _SUM, f"{_expression(left, _SUM)} || {_expression(right, _PRODUCT)}"
        case t.Call(function=function, arguments=arguments):
            return _VALUE, f"{function}({', '.join(_expression(one, _SUM) for one in arguments)})"
        case t.Aggregate():
            return _VALUE, _aggregate(expression)
        case t.Moment(name=name):
            return _VALUE, name
        case t.Negation(operand=operand):
            inner = _expression(operand, _SIGN)
            # Two dashes would begin a comment.
            return _SIGN, f"- {inner}" if inner.startswith("-") else f"-{inner}"
        case t.Arithmetic(op=op, left=left, right=right):
            own = _ARITHMETIC[op]
            return own, f"{_expression(left, own)} {op} {_expression(right, own + 1)}"


def _number(value: int | float) -> str:
    return repr(value)
