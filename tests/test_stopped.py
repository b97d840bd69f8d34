"""How many runs die at a step, against all runs and all that continues them, by the reference semantics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from generate import ORDER, condition, interval, query_around, stream, stream_to_table

import cer_gpu as cer
from cer_gpu.funnel import FunnelStage, stages_of
from cer_gpu.language import tree as t
from cer_gpu.language.chains import links
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import Answer, evaluate
from cer_gpu.step_transitions import PrefixPattern, chained, filtered

OPTIONS: dict[str, Any] = {"order_by": ORDER, "stream_column": "stream", "device": "cpu"}

TYPES = ("A", "B", "C")

RUN = "run"
"""A variable that no query has otherwise."""


def random_step(rng: Random, number: int) -> t.Pattern:
    """Mostly one event; else a choice, an iteration, an event that marks nothing, or several events."""
    kind, name = rng.random(), f"x{number}"
    made: t.Pattern = t.EventType(rng.choice(TYPES))
    if kind < 0.12:
        one, other = rng.sample(TYPES, 2)
        made = t.Or(_asked(rng, t.EventType(one), (one,)), t.EventType(other))
    elif kind < 0.17:
        return t.OtherEvent(t.EventType(rng.choice(TYPES)))
    elif kind < 0.22:
        made = t.Sequence(made, t.EventType(rng.choice(TYPES)))
    elif kind < 0.34:
        made = _several(rng, made)
    made = t.As(made, name)
    if rng.random() < 0.16:
        times = rng.choice((None, t.Times(1, 3), t.Times(2, None), t.Times(2, 2)))
        made = t.Iteration(made, times=times, contiguous=rng.random() < 0.1)
    return _asked(rng, made, (name,))


def _several(rng: Random, first: t.Pattern) -> t.Pattern:
    """Several events under one name, or one event with another operator."""
    other = _asked(rng, t.As(t.EventType(rng.choice(TYPES)), "y"), ("y",))
    match rng.choice(("sequence", "sequence", "optional", "contiguous", "all", "unless", "beside")):
        case "optional":
            return t.Sequence(t.Sequence(first, t.Optional(other)), t.EventType("C"))
        case "contiguous":
            return t.Sequence(first, other, contiguous=True)
        case "all":
            return t.All(first, other)
        case "unless":
            return t.Unless(t.Sequence(first, t.EventType("B")), other)
        case "beside":
            return t.Beside(first, other, negated=rng.random() < 0.3)
        case _:
            return t.Sequence(first, other)


def _asked(rng: Random, pattern: t.Pattern, names: tuple[str, ...]) -> t.Pattern:
    return t.Filter(pattern, condition(rng, names, depth=1)) if rng.random() < 0.35 else pattern


def _between(rng: Random, one: str, other: str) -> t.Condition:
    """A comparison between events, now and then with another condition, or not."""
    attribute = rng.choice(("id", "v", "p", "ts"))
    made: t.Condition = t.Comparison(
        rng.choice(("=", "<", ">=")), t.Attribute(attribute, one), t.Attribute(attribute, other)
    )
    if rng.random() < 0.2:
        made = t.Either(made, t.Every(one, t.Comparison("<", t.Attribute("v"), t.Number(3))))
    return t.Not(made) if rng.random() < 0.2 else made


def random_chain(rng: Random) -> t.SelectQuery:
    """A query whose pattern is a chain of steps, with conditions between them."""
    many = rng.choice((2, 2, 3, 3, 4))
    steps = [random_step(rng, number) for number in range(many)]
    made = steps[0]
    for step in steps[1:]:
        gap = interval(rng) if rng.random() < 0.2 else None
        last = t.Optional(step) if rng.random() < 0.08 and many > 2 else step
        made = t.Sequence(made, last, contiguous=rng.random() < 0.25, gap=gap)
    names = [f"x{number}" for number, step in enumerate(steps) if not isinstance(step, t.OtherEvent)]
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        if len(names) > 1:
            one, other = rng.sample(names, 2)
            made = t.Filter(made, _between(rng, one, other) if rng.random() < 0.6 else condition(rng, (one,)))
    return query_around(rng, made)


def with_run(query: t.SelectQuery) -> t.SelectQuery:
    """The query, with a further variable that marks what all steps but the last mark."""
    pattern, conditions = query.pattern, []
    while isinstance(pattern, t.Filter):
        conditions.append(pattern.condition)
        pattern = pattern.pattern
    steps, joints = links(pattern)
    left = t.As(chained(steps[:-1], joints[:-1]), RUN)
    return replace(query, pattern=filtered(replace(joints[-1], left=left, right=steps[-1]), conditions[::-1]))


def tellable(query: t.SelectQuery) -> bool:
    """Whether the longer matches tell where runs end: by a mark, or by the one event that follows."""
    pattern = query.pattern
    while isinstance(pattern, t.Filter):
        pattern = pattern.pattern
    steps, joints = links(pattern)
    if not PrefixPattern(steps[:-1], joints[:-1], []).unmarked:
        return True
    plain = not query.partition and not query.streams  # all events are of one part
    followed = steps[-1].pattern if isinstance(steps[-1], t.Filter) else steps[-1]
    follows = isinstance(followed, t.As) and isinstance(followed.pattern, t.EventType)
    return (
        follows
        and isinstance(steps[-2], t.OtherEvent)
        and joints[-1].gap is None
        and (plain or not joints[-1].contiguous)
    )


def continued(runs: Sequence[Answer], longer: Sequence[Answer], following: bool) -> int:
    """How many runs some of the longer matches continue.

    A longer match says where the run ends by `RUN`. Where the last event of a run is not marked, the longer
    match has to go on after it, with the event that follows if so asked.
    """
    begin: dict[Any, list[Answer]] = {}
    for one in longer:
        begin.setdefault((one.start, repr(one.partition)), []).append(one)

    def goes_on(run: Answer) -> bool:
        marked = any(run.end in own for own in run.marks.values())
        for one in begin.get((run.start, repr(run.partition)), ()):
            within = one.marks.get(RUN, ())
            if marked and max(within, default=None) != run.end:
                continue
            if not marked:
                after = [at for own in one.marks.values() for at in own if at not in within] or [one.end]
                if min(after) <= run.end or (following and min(after) != run.end + 1):
                    continue
            marks = {name: tuple(at for at in own if at <= run.end) for name, own in one.marks.items()}
            if {name: own for name, own in marks.items() if own and name != RUN} == run.marks:
                return True
        return False

    return sum(map(goes_on, runs))


def told(query: t.SelectQuery, events: Sequence[Event]) -> Iterator[tuple[FunnelStage, int]]:
    """The stages of runs of a query, each with what the reference says."""
    runs: tuple[Answer, ...] = ()
    reached: tuple[Answer, ...] = ()
    last = None
    for stage in stages_of(query):
        if not stage.runs:
            last = stage
            if stage.dropped is None:
                runs, reached = reached, evaluate(stage.query, events, order=ORDER)
        elif last is not None and tellable(last.query):
            longer = evaluate(with_run(last.query), events, order=ORDER)
            following = stage.text.startswith(":") and stage.dropped != ":"
            yield stage, continued(runs, longer, following)


@pytest.mark.draws("seed", 8)
def test_runs_that_go_on(seed: int) -> None:
    rng = Random(f"runs that go on {seed}")
    done: Counter[str] = Counter()
    for _ in range(24):
        query = random_chain(rng)
        events = stream(rng, rng.choice((9, 11)))
        table = stream_to_table(events)
        try:
            stages = list(told(query, events))
        except (TypeError, ValueError):
            continue
        for stage, wanted in stages:
            text = to_text(stage.query)
            try:
                found = cer.compile(text).count(table, **OPTIONS)
            except cer.LimitError:
                done["too large"] += 1
                continue
            assert found == wanted, f"{to_text(query)}\n{stage.dropped}\n{text}"
            done["some"] += wanted > 0
            done["several"] += any(word in stage.text for word in ("(", "{2")) and wanted > 0
            done["?"] += stage.text.endswith("?")
            done["window" if (stage.dropped or "").startswith("WITHIN") else "all"] += 1
    assert done["all"] > 20, done
    assert done["some"] > 2, done
