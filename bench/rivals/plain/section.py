"""The section `plain` of the table: each plain question on each tool, in the fastest of its forms."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.answers import must
from bench.figures import Figure, Target, ratio
from bench.fresh import ChildError
from bench.measure import Times
from bench.rivals.plain.engines import OPENERS, PlainForm, forms_of, written
from bench.rivals.plain.events import made
from bench.rivals.plain.questions import LIST, MANY, ONE, VARIANTS, Plain, questions
from bench.rivals.worker import Workers
from bench.sizes import Sizes, large

OURS = "cer-gpu"

CLOCK = ", by the clock"
"""The end of the case of a ratio of seconds by the clock; other ratios are of processor seconds."""

LISTED, COUNTED, VARIED = 2.0, 3.0, 15.0
"""Targets: times our time for what is listed and for other answers, and times one variant for 1,000."""


def plain(sizes: Sizes) -> Iterator[Figure]:
    """Every question at every size: ours first, then each rival with the same answer.

    Raises
    ------
    WrongAnswerError
        After the last question, if any two forms have different answers.
    """
    wrong: list[str] = []
    for number in sizes.asked:
        with tempfile.TemporaryDirectory() as folder, Workers(*OPENERS) as workers:
            path = Path(folder) / "events.parquet"
            pq.write_table(made(number), path)
            for question in questions():
                yield from _Asking(workers, path, sizes, wrong).compared(question, number)
    must(not wrong, "; ".join(wrong))


class _Asking:
    # One question to all tools.

    def __init__(self, workers: Workers, path: Path, sizes: Sizes, wrong: list[str]) -> None:
        self._workers = workers
        self._path = path
        self._sizes = sizes
        self._wrong = wrong

    def compared(self, question: Plain, events: int) -> Iterator[Figure]:
        section = f"plain: {question.says}, {large(events)} events"
        if question.name == VARIANTS:
            yield from self._varied(question, section)
            return
        wanted: object = None
        ours: dict[str, Times] | None = None
        for engine in OPENERS:
            found: dict[str, Times] = {}
            notes: list[str] = []
            said: dict[str, Any] = {}
            for form in forms_of(engine, question):
                answer = self._asked(engine, question, form)
                if isinstance(answer, str):
                    notes.append(f"form {form}: {answer}")
                    continue
                counted = answer["number"], answer["sums"]
                wanted = counted if wanted is None else wanted
                if counted != wanted:
                    notes.append(f"form {form} answers {counted}, not {wanted}")
                    self._wrong.append(f"{section}: {engine}: {notes[-1]}")
                    continue
                said[form] = answer
                found[form] = Times(tuple(answer["seconds"]), tuple(answer["processor"]))
            if not found:
                yield Figure(section, engine, None, "s", note="; ".join(notes))
                continue
            yield _duration(section, engine, question, found, said, notes)
            if engine == OURS:
                ours = found
            elif ours is not None:
                target = LISTED if question.kind == LIST else COUNTED
                for end, kind in (("", "processor"), (CLOCK, "clock")):
                    yield _least_ratio(section, f"{engine} / ours{end}", kind, ours, found, target)

    def _varied(self, question: Plain, section: str) -> Iterator[Figure]:
        found: dict[str, Times] = {}
        for form in forms_of(OURS, question):
            answer = self._asked(OURS, question, form)
            if isinstance(answer, str):
                yield Figure(section, OURS, None, "times", note=answer)
                return
            found[form] = Times(tuple(answer["seconds"]), tuple(answer["processor"]))
        case = "all / one"
        figure = _least_ratio(section, case, "processor", {ONE: found[ONE]}, {MANY: found[MANY]}, VARIED)
        yield replace(figure, target=Target(VARIED, most=True), note="processor seconds")

    def _asked(self, engine: str, question: Plain, form: str) -> dict[str, Any] | str:
        """What a tool answers, or why it does not."""
        module = {OURS: "cer_gpu"}.get(engine, engine)
        if find_spec(module) is None:
            return "it is not installed"
        asked = written(PlainForm(question, form))
        try:
            said = self._workers.ask(engine, asked, self._path, self._sizes.runs, self._sizes.patience)
        except TimeoutError as error:
            return str(error)
        except ChildError as error:
            lines = [line for line in str(error).splitlines() if any(map(str.isalpha, line))]
            return lines[-1].strip() if lines else "it failed"
        return said.get("cannot", said)


def _fastest(found: dict[str, Times], kind: str) -> str:
    return min(found, key=lambda form: _times(found[form], kind).least)


def _times(times: Times, kind: str) -> Times:
    return times.on_processor if kind == "processor" else Times(times.seconds)


def _duration(
    section: str,
    engine: str,
    question: Plain,
    found: dict[str, Times],
    said: dict[str, Any],
    notes: list[str],
) -> Figure:
    """Processor seconds of the fastest form; the times of all forms are kept."""
    form = _fastest(found, "processor")
    times = found[form].on_processor
    clock = found[_fastest(found, "clock")].least
    number, peak = said[form]["number"], said[form]["peak"]
    what = "matches" if question.kind == "count" else "rows"
    note = f"{number:,} {what}; form {form}; {clock:.4f} s by the clock; {peak / 1e6:,.0f} MB at most"
    kept = [(f"{name}, processor", one.on_processor) for name, one in found.items()]
    kept += [(f"{name}, clock", Times(one.seconds)) for name, one in found.items()]
    note = "; ".join([note, *notes])
    return Figure(section, engine, times.least, "s", times.least, times.most, None, note, tuple(kept))


def _least_ratio(
    section: str, case: str, kind: str, ours: dict[str, Times], theirs: dict[str, Times], target: float
) -> Figure:
    """The fastest run of the other's fastest form over that of ours."""
    one, other = _fastest(ours, kind), _fastest(theirs, kind)
    a, b = _times(ours[one], kind), _times(theirs[other], kind)
    figure = ratio(section, case, (one, a), (other, b), target, f"same answer; form {other}, ours {one}")
    return replace(figure, value=b.least / a.least)
