"""The leaves of conditions: which are predicates, which unary, which correlations (section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import leaves_of, parts, with_attributes
from cer_gpu.language.words import written, written_owner, written_variable

Leaf: TypeAlias = t.Comparison | t.Like | t.InSet | t.InRange | t.IsNull


def attributes(*expressions: t.Expression | t.Condition) -> Iterator[t.Attribute]:
    """The attributes in expressions, from left to right, without those inside an aggregate."""
    waiting = list(reversed(expressions))
    while waiting:
        part = waiting.pop()
        if isinstance(part, t.Attribute):
            yield part
        elif not isinstance(part, t.Aggregate):
            waiting += reversed(parts(part))


def aggregates(*expressions: t.Expression | t.Condition) -> Iterator[t.Aggregate]:
    """The aggregates in expressions, from left to right."""
    waiting = list(reversed(expressions))
    while waiting:
        part = waiting.pop()
        if isinstance(part, t.Aggregate):
            yield part
        else:
            waiting += reversed(parts(part))


def attributes_of(expression: t.Expression) -> frozenset[str]:
    """The names of the attributes that an expression reads."""
    return frozenset(attribute.name for attribute in attributes(expression))


def condition_of(leaf: Leaf, findings: Findings, *, negated: bool = False) -> t.Condition:
    """Turn a leaf into a condition: `x.a = 1` into `x[a = 1]`, `x.a = y.b` into a correlation.

    Parameters
    ----------
    leaf : Leaf
    findings : Findings
        Told of a leaf that is neither unary nor a correlation.
    negated : bool
        Whether NOT is part of the leaf, as in `x.a NOT IN {1}`, which is `x[a NOT IN {1}]`.
    """

    def whole(inner: t.Condition) -> t.Condition:
        return t.Not(inner, span=leaf.span) if negated else inner

    found = list(attributes(leaf))
    named = {(one.variable, one.prior) for one in found if one.variable is not None}
    over = next(aggregates(leaf), None)
    if not named and over is None:
        return whole(leaf)
    bare = next((one for one in found if one.variable is None), None)
    if bare is not None:
        name = written(bare.name)
        variables = sorted({variable for variable, _ in named}) or [over.variable or "x" if over else "x"]
        example = " or ".join(f"`{written_variable(variable)}.{name}`" for variable in variables)
        findings.error("CER010", f"`{name}` belongs to no variable", bare.span, f"write {example}")
    elif over is None and len(named) == 1:
        variable, prior = named.pop()
        return t.Every(variable, whole(_bare(leaf)), prior, span=leaf.span)
    elif not isinstance(leaf, t.Comparison):
        word = {t.Like: "LIKE", t.IsNull: "IS NULL"}.get(type(leaf), "IN")
        hint = "write comparisons: `COUNT(x) >= 2 AND COUNT(x) <= 4`, `x.a + y.b = 5`"
        if isinstance(leaf, t.InRange) and (compared := _compared(leaf)) is not None:
            hint = f"write comparisons: `{to_text(whole(compared))}`"
        what = f"the aggregate {over.function}" if over is not None else _listed(named)
        findings.error("CER012", f"{word} takes a value of one event, not of {what}", leaf.span, hint)
    return whole(leaf)


def _listed(named: set[tuple[str, t.Earlier]]) -> str:
    shown = (written_owner(name, prior) for name, prior in named)
    return " and ".join(f"`{one}`" for one in sorted(shown))


def _compared(leaf: t.InRange) -> t.Condition | None:
    """The comparisons that a range stands for; None of one without ends, which is an error of its own."""
    least = None if leaf.low is None else t.Comparison(">=", leaf.operand, leaf.low)
    most = None if leaf.high is None else t.Comparison("<=", leaf.operand, leaf.high)
    if least is None or most is None:
        return least or most
    return t.Both(least, most)


def _bare(leaf: Leaf) -> Leaf:
    # The leaf without the variable of its attributes.
    found: Leaf = with_attributes(leaf, lambda attribute: replace(attribute, variable=None, prior=""))
    return found


def check_predicate(variable: str, predicate: t.Condition, findings: Findings) -> None:
    """Report variables inside the brackets of `variable[predicate]`."""
    for leaf in leaves_of(predicate):
        match leaf:
            case t.Every(variable=other, span=span):
                same = other == variable
                findings.error(
                    "CER011",
                    f"inside `{written_variable(variable)}[...]` attributes are written without a variable",
                    span,
                    "leave the variable out"
                    if same
                    else f"write the two conditions side by side: `{written_variable(variable)}[...]"
                    f" AND {written_variable(other)}[...]`",
                )
            case t.Comparison() if any(aggregates(leaf)):
                findings.forget("CER010", leaf.span)
                wrong = any(one.span is None for one in aggregates(leaf))  # and reported
                findings.error(
                    "CER037",
                    f"`{written_variable(variable)}[...]` tests one event at a time, and cannot hold an "
                    "aggregate",
                    leaf.span,
                    *(() if wrong else (f"write `{_outside(leaf, variable)}` outside the brackets",)),
                )
            case t.Comparison() if others := {a.variable for a in attributes(leaf)} - {None}:
                findings.forget("CER010", leaf.span)
                if others == {variable}:
                    bare = _bare(leaf)
                    hint = f"write `{to_text(bare)}`"
                    if isinstance(bare, t.Comparison) and bare.left == bare.right:
                        hint = _two_events(variable, bare)
                    findings.error(
                        "CER011",
                        f"inside `{written_variable(variable)}[...]` attributes are written without a "
                        "variable",
                        leaf.span,
                        hint,
                    )
                    continue
                findings.error(
                    "CER011",
                    f"`{written_variable(variable)}[...]` tests one event, and cannot read another variable",
                    leaf.span,
                    f"write `{_outside(leaf, variable)}` outside the brackets",
                )


def _two_events(variable: str, bare: t.Comparison) -> str:
    """What was meant by `a[price > a.price]`, which compares an event with itself."""
    name, value, op = written_variable(variable), to_text(bare.left), bare.op
    other = "b" if variable != "b" else "a"
    same = "both sides are values of the same event"
    if not isinstance(bare.left, t.Attribute):
        return f"{same}: give the other event its own name, as in `{other}.x {op} {name}.x`"
    return (
        f"{same}: to compare with the event before write `{name}[{value} {op} PREV({value})]`, with another "
        f"event that is named `{other}` write `{other}.{value} {op} {name}.{value}`"
    )


def _outside(leaf: t.Comparison, variable: str) -> str:
    """A comparison as it is written outside the brackets of `variable`."""
    return to_text(
        with_attributes(
            leaf, lambda attribute: replace(attribute, variable=attribute.variable or variable, span=None)
        )
    )


def check_filter(pattern: t.Pattern, condition: t.Condition, findings: Findings) -> None:
    """Report attributes without a variable in a condition of FILTER."""
    for leaf in leaves_of(condition):
        if isinstance(leaf, t.Every | t.Truth):
            continue
        found = list(attributes(leaf))
        if any(aggregates(leaf)):
            continue
        if not found:
            hint = "compare an attribute of an event: `x.price > 100`"
            findings.error("CER010", "the condition has no attribute", leaf.span, hint)
        elif all(attribute.variable is None for attribute in found):
            name = written(found[0].name)
            usual = sorted(variables(pattern), key=lambda one: (one.lower() != one, one)) or ["x"]
            variable = written_variable(usual[0])
            hint = f"name the variable of its event: `{variable}.{name}`, or `{variable}[{name} ...]`"
            if name in ("DURATION", "START_TIME", "END_TIME"):
                hint = (
                    f"{name} can only be selected; to bound how long a match lasts write `(p) WITHIN [> 5 "
                    "min]`, and to bound the time between two events `b.ts - a.ts > 5 min`"
                )
            findings.error("CER010", f"`{name}` belongs to no variable", found[0].span, hint)
