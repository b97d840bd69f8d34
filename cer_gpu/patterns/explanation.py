"""What `explain` says of a MATCH_RECOGNIZE clause."""

from __future__ import annotations

from collections.abc import Iterator

from cer_gpu.patterns.ceql import NoCeqlError, ceql_of
from cer_gpu.patterns.choices import MATCHED, OrderedAutomaton, text_of
from cer_gpu.patterns.conditions import parted_conditions
from cer_gpu.patterns.tree import Definition, RowPatternClause, SkipMode

SHOWN_SLOTS = 12
"""Slots up to which the automaton is written out."""

LINEAR = (
    "one pass backward finds what can still be completed, one forward follows the first choice that can: "
    "linear in the rows, whatever the pattern"
)
BOUNDED = (
    "one pass backward finds the earliest end that can be completed, one forward follows the first choice "
    "that ends in time: linear in the rows and the places of the pattern"
)
SEARCHED = (
    "conditions are computed while a match is tried, in the order of preference, and what has failed is "
    "remembered"
)
SQUARED = (
    "a start that fails may have read all rows behind it: where `*` or `+` takes any row, 10 times as\n"
    "            many rows then take up to 100 times as long; {0,100} or WITHIN bounds that"
)


def explanation(
    clause: RowPatternClause, automaton: OrderedAutomaton, text: str, device: int | None = None
) -> str:
    """How a clause is evaluated, in lines; `device`: the number of the one that was asked for."""
    return "\n".join(_lines(clause, automaton, text, device)) + "\n"


def _lines(
    clause: RowPatternClause, automaton: OrderedAutomaton, text: str, device: int | None
) -> Iterator[str]:
    yield f"pattern     {text_of(clause.pattern)}"
    key = ", ".join(clause.partition_by) or "none: all rows are one partition, done by one thread"
    yield f"partitions  {key}"
    order = ", ".join(
        sort.column + (" DESC" if sort.descending else "") + (" NULLS FIRST" if sort.nulls_first else "")
        for sort in clause.order_by
    )
    yield f"order       {order or 'that of the rows'}"
    yield f"after       {clause.skip.mode.value}{' ' + clause.skip.name if clause.skip.name else ''}"
    conditions = parted_conditions(clause)
    if clause.within is not None:
        yield f"within      {clause.within}"
    for definition in clause.definitions:
        parts = conditions[definition.variable]
        kind = "the match so far" if parts.open else "rows at fixed places"
        if parts.open and parts.fixed:
            kind = "rows at fixed places, and the match so far"
        yield f"{definition.variable:<12}{_written(definition, text)}    ({kind})"
    open_ = any(parts.open for parts in conditions.values())
    yield f"matching    {SEARCHED if open_ else BOUNDED if clause.within is not None else LINEAR}"
    if open_ and clause.within is None:
        yield f"growth      {SQUARED}"
    yield f"device      {_place(clause, open_, device)}"
    yield from _automaton(automaton)
    try:
        yield f"all matches {ceql_of(clause)}"
        yield "            (in CEQL, where no column of a condition is null)"
    except NoCeqlError as error:
        yield f"all matches no CEQL query gives them: {error}"


def _place(clause: RowPatternClause, searched: bool, device: int | None) -> str:
    if device is None:
        return "cpu"
    if searched:
        return "cpu: conditions on the match so far are computed there"
    if clause.within is not None:
        return "cpu: what WITHIN bounds is found there"
    if clause.skip.mode is not SkipMode.PAST_LAST_ROW:
        return "cpu: matches that may overlap are found there"
    return f"cuda:{device} finds the matches; the cpu sorts, and computes conditions and measures"


def _written(definition: Definition, text: str) -> str:
    span = definition.condition.at
    return " ".join(text[span.start : span.end].split()) if span is not None else str(definition.condition)


def slot_names(automaton: OrderedAutomaton) -> Iterator[str]:
    """The variable of each slot, with a number where it has several."""
    numbers = automaton.variable_of
    for slot, number in enumerate(numbers):
        several = numbers.count(number) > 1
        yield automaton.variables[number] + (f".{numbers[:slot].count(number) + 1}" if several else "")


def _automaton(automaton: OrderedAutomaton) -> Iterator[str]:
    """What may come next behind each place of the pattern, the preferred first."""
    slots = len(automaton.variable_of)
    if slots > SHOWN_SLOTS:
        yield f"automaton   {slots} places"
        return
    names = list(slot_names(automaton))

    def listed(targets: tuple[int, ...]) -> str:
        return ", ".join("end" if target == MATCHED else names[target] for target in targets) or "nothing"

    yield f"automaton   begins with {listed(automaton.other_choices)}"
    if automaton.first_choices != automaton.other_choices:
        yield f"            at the first row of a partition with {listed(automaton.first_choices)}"
    for slot in range(slots):
        yield f"            {names[slot]}: then {listed(automaton.next_choices[slot])}"
        if automaton.last_choices[slot] != automaton.next_choices[slot]:
            yield f"            {names[slot]}: at the last row {listed(automaton.last_choices[slot])}"
