"""The notes of a run about the events that it read, and about the number of answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cer_gpu.digits import LargeCount, digits
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.sources.source import no_such_type
from cer_gpu.engine.read.sources.text_form import PLAIN
from cer_gpu.engine.run.options import Options
from cer_gpu.language.sought_values import SoughtValue
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.printable_text import brief, name_text

LARGE = 10**30
"""From here on a count is noted as large."""


def said_as_large(notes: Notes, count: int) -> int:
    """A large count as one that prints whatever its size; notes what may have been meant."""
    notes.say(
        f"there are about 10^{digits(count) - 1} matches: SELECT MAX or NEXT keeps fewer for "
        "each end, and WITHIN limits how long they last"
    )
    return LargeCount(count)


def say_what_was_read(
    notes: Notes,
    query: CompiledQuery,
    intake: Intake,
    options: Options,
    only_types: Collection[str | None] = (),
    sought: Iterable[SoughtValue] = (),
) -> None:
    """Note names and texts that no event had (often misspelt), what was skipped, and times on no clock.

    `only_types` holds what FROM names in each query that was run; by default in this one.
    """
    only_types = only_types or (query.reading.only_type,)
    names = intake.classifier.names
    for column, missing in names.unseen.items():
        role = "is of the stream" if column == options.stream_column else "has the type"
        for name in sorted(missing):
            meant = meant_by(name, sorted(names.seen[column]))
            if not meant and column == options.type_column and name in only_types:
                meant = f": {no_such_type(column, name)}"
            notes.say(f"no event {role} `{name}`{meant}")
    values = intake.classifier.values
    for one in sought:
        if values.lacks(one.column, one.values):
            meant = meant_by(one.values[0], sorted(values.seen[one.column]))
            notes.say(f"no event has `{name_text(one.text)}`{meant}")
    if intake.keyless:
        say_how_many_had_no_key(notes, query, intake.keyless)
    for first, other in intake.doubled if query.reading.partition else ():
        notes.say(
            f"some events have both `{first}` and `{other}`, with different values: PARTITION BY [{first}, "
            f"{other}] takes the first that is there, `{first}`; a key of two parts has no brackets"
        )
    if intake.of_others:
        skipped = "event was skipped" if intake.of_others == 1 else "events were skipped"
        notes.say(f"{intake.of_others:,} {skipped}, of streams that FROM does not name")
    if options.text is not PLAIN:
        for text in options.text.clocks.texts():
            notes.say(text)


def say_how_many_had_no_key(notes: Notes, query: CompiledQuery, count: int, aloud: bool = True) -> None:
    """Note how many events were skipped, since a part of their key is missing."""
    parts = [" or ".join(f"`{name}`" for name in part) for part in query.reading.partition]
    key = parts[0] if len(parts) == 1 else f"value in a part of the key, which is {', '.join(parts)}"
    one = count == 1
    number = f"{count:,} {'event has' if one else 'events have'}"
    skipped = "it belongs to no partition" if one else "they belong to no partition"
    notes.say(f"{number} no {key}: {skipped}, and {'was' if one else 'were'} skipped", aloud)


def say_how_many_were_late(notes: Notes, count: int, options: Options, aloud: bool = True) -> None:
    """Note how many rows were left out, since they came too late."""
    rows = "row was" if count == 1 else "rows were"
    if count:
        notes.say(f"{count:,} {rows} left out: later than late={brief(options.late)}", aloud)


def meant_by(name: str, seen: Sequence[str]) -> str:
    """The name that was meant by one that does not occur, as the end of a sentence; empty if none is near."""
    import difflib

    other = next((one for one in seen if one.casefold() == name.casefold()), None)
    if other is not None:
        return f": there is `{other}`, and names are case-sensitive"
    near = difflib.get_close_matches(name, seen, n=1)
    return f": did you mean `{near[0]}`?" if near else ""
