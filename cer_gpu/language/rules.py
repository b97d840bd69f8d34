"""Gives names to the attributes that atoms of a rule give by position."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.language.schema import Schema


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
