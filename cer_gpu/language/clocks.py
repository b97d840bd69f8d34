"""Finds times in a query that the clocks of a column's time zone never showed, or showed twice."""

from __future__ import annotations

from collections.abc import Mapping

from cer_gpu.language import sets
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.schema import Schema
from cer_gpu.language.units import is_shown, offsets_of
from cer_gpu.language.walk import parts, walk
from cer_gpu.language.words import quoted_text


def note_clock_times(statement: t.Statement, schema: Schema, findings: Findings) -> None:
    """Note each such text without an offset that is compared with a column in a time zone.

    Parameters
    ----------
    statement : SelectQuery or Rule
    schema : Schema
        Its `zones` has the columns with a zone.
    findings : Findings
    """
    zones = dict(schema.zones)
    if isinstance(statement, t.Rule):
        zones = _of_variables(statement, schema)
    for node in walk(statement):
        match node:
            case t.Comparison(left=left, right=right):
                compared: tuple[t.Expression, ...] = (left, right)
            case t.InRange():
                compared = parts(node)
            case t.InSet(operand=operand, members=members):
                zone = _zone_of((operand,), zones)
                if zone is not None:
                    _note_members(members, zone, findings)
                continue
            case _:
                continue
        texts = [one for one in compared if isinstance(one, t.Text)]
        zone = _zone_of(compared, zones) if texts else None
        if zone is not None:
            for one in texts:
                _note(one, zone, findings)


def _of_variables(rule: t.Rule, schema: Schema) -> dict[str, str]:
    """The zones of the variables of a rule that stand for a column with one."""
    found = {}
    for atom in rule.atoms:
        names = schema.attributes_in_order(atom.type.name) if atom.names is None else atom.names
        for name, term in zip(names, atom.terms, strict=False):  # of a wrong number the check tells
            if isinstance(term, t.RuleVariable) and name in schema.zones:
                found[term.name] = schema.zones[name]
    return found


def _zone_of(compared: tuple[t.Expression, ...], zones: Mapping[str, str]) -> str | None:
    """The zone in which a text that is compared with these is read; a DATE has none."""
    if any(isinstance(one, t.Call) and one.function == "DATE" for one in compared):
        return None
    return next((zones[one.name] for one in attributes(*compared) if one.name in zones), None)


def _note_members(members: t.Members, zone: str, findings: Findings) -> None:
    """Note the first such text of a set: one stands for all."""
    for index, text in enumerate(members.texts):
        if _said(text, zone) is not None:
            _note(t.Text(text, span=sets.place_of_text(members, index)), zone, findings)
            return


def _note(text: t.Text, zone: str, findings: Findings) -> None:
    said = _said(text.value, zone)
    if said is not None:
        hint = f"write the offset: {quoted_text(text.value + offsets_of(text.value, zone)[0])}"
        findings.note("CER112", f"{quoted_text(text.value)} {said}", text.span, hint)


def _said(text: str, zone: str) -> str | None:
    try:
        offsets = offsets_of(text, zone)
    except (ValueError, KeyError, OverflowError):  # of which others tell
        return None
    if len(offsets) == 1:
        return None
    if is_shown(text, zone):
        return f"was shown twice by clocks of {zone}, which were set back: the first of the two is taken"
    if len(text) == len("2024-01-31"):  # a day begins where its clocks do
        return None
    return (
        f"was never shown by clocks of {zone}, which were set forward: it is read as the end of the hour "
        "that was skipped"
    )
