"""Checks of rules that have the right syntax (section 7), and names for attributes given by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cer_gpu.errors import Span
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema
from cer_gpu.language.words import written, written_variable


def resolve(rule: t.Rule, schema: Schema | None) -> t.Rule:
    """A rule whose atoms all name their attributes.

    Parameters
    ----------
    rule : Rule
        Without errors (`cer_gpu.language.check.check`) on this schema.
    schema : Schema or None
        The attributes of each event type. Without it, the attributes of an atom by position are called `$1`,
        `$2`, ..., which no query can write without back-ticks.

    Returns
    -------
    Rule
        The same atoms, terms and spans, with `names` in every atom.

    Raises
    ------
    ValueError
        If an atom has more or fewer terms than its event type has attributes: `check` reports it.
    """
    return replace(rule, atoms=tuple(_by_name(atom, schema) for atom in rule.atoms))


def _by_name(atom: t.RuleAtom, schema: Schema | None) -> t.RuleAtom:
    if atom.names is not None:
        return atom
    if schema is None:
        return replace(atom, names=tuple(f"${place}" for place in range(1, len(atom.terms) + 1)))
    names = schema.attributes_in_order(atom.type.name)
    if len(names) != len(atom.terms):
        raise ValueError(f"{len(atom.terms)} terms for the attributes {names} of {atom.type.name}")
    return replace(atom, names=names)


AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG")
"""The functions that stand in the head of a rule, after `;`."""


def term_of(term: t.Expression | t.RuleVariable, findings: Findings) -> t.Term:
    """The term of an atom. If it is not a term, report that and assume a variable."""
    if isinstance(term, t.RuleVariable | t.Number | t.Text | t.Boolean):
        return term
    shown = to_text(term)
    hint = f"compare a variable with it: `T(a = x), x = {shown}`"
    message = f"`T(...)` holds variables, numbers, strings and bools, not the duration `{shown}`"
    findings.error("CER047", message, term.span, hint)
    return t.RuleVariable("x", span=term.span)


def mixed_atom(event: t.EventType, term: t.Expression | t.RuleVariable, findings: Findings) -> None:
    """Report an atom that names some of its attributes, of which `term` has none."""
    shown = written(event.name)
    findings.error(
        "CER046",
        f"`{shown}(...)` gives attributes by position and by name",
        term.span,
        f"name all of them: `{shown}(a = x, b = y)`; attributes that are left out may have any value",
    )


def check_aggregate(aggregate: t.Aggregate, name: str, place: Span, findings: Findings) -> None:
    """Report an aggregate with an unknown function or a wrong argument.

    Parameters
    ----------
    aggregate : Aggregate
    name : str
        Of the function, as it is written.
    place : Span
        Where the name stands.
    findings : Findings
    """
    function = aggregate.function
    if function not in AGGREGATES:
        guess = {"AVERAGE": "AVG", "MEAN": "AVG", "TOTAL": "SUM"}.get(function)
        hints = (f"did you mean `{guess}`?",) if guess else ()
        known = f"the aggregates are {', '.join(AGGREGATES)}"
        findings.error("CER048", f"`{written(name)}` is not an aggregate", place, *hints, known)
    elif function == "COUNT" and aggregate.argument is not None:
        findings.error("CER048", "COUNT counts matches, not values", aggregate.span, "write `COUNT(*)`")
    elif function != "COUNT" and aggregate.argument is None:
        hint = f"name the variable: `{function}(v)`"
        findings.error("CER048", f"{function} takes a variable", aggregate.span, hint)
    if aggregate.argument is not None:
        _check_bare(aggregate.argument, findings)


def check_body(
    atoms: Sequence[t.RuleAtom], comparisons: Sequence[t.Comparison], span: Span, findings: Findings
) -> None:
    """Report a body without atoms, and comparisons without a variable of the rule."""
    if not atoms:
        place = comparisons[0].span if comparisons else span
        findings.error(
            "CER052",
            "the body of the rule names no event type, so its variables have no values",
            place,
            "write event types with a term for each attribute: `T(x, y)`, `T(price = x)`",
        )
    for comparison in comparisons:
        _check_bare(comparison.left, findings)
        _check_bare(comparison.right, findings)
        if not any(attributes(comparison.left, comparison.right)):
            hint = "leave it out, or compare a variable of the body"
            findings.error("CER053", "the comparison has no variable", comparison.span, hint)


def _check_bare(expression: t.Expression, findings: Findings) -> None:
    for attribute in attributes(expression):
        if attribute.variable is not None:
            shown, name = written_variable(attribute.variable), written(attribute.name)
            findings.error(
                "CER051",
                f"a rule has variables and no attributes such as `{shown}.{name}`",
                attribute.span,
                f"give the value a variable, and use that: `T({name} = v), v > 3`",
            )
