"""The short text of `explain`, in the words of a user; with `verbose` it says more (`explain.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import bound_text, to_text
from cer_gpu.language.walk import in_a_row, walk
from cer_gpu.plan.axes import ColumnAxis, GivenAxis, RelationAxis
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.lower import choose
from cer_gpu.plan.outline import with_single_repetitions
from cer_gpu.plan.phrases import counted, shared_key_told
from cer_gpu.plan.planning.planner import Plan

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import DerivedColumn
    from cer_gpu.plan.outline import Outline
    from cer_gpu.plan.outlook import Outlook

WIDTH = 12

REWRITTEN = "neighbours are compared by a predicate of the later one, with PREV: the same matches"
"""What is said of a pattern that is not run as it is written."""

ASKED = {"hits": "hits", "counts": "counts", "lists": "listing", "pushes": "streams"}
"""What is asked of a query (`QUESTIONS`), in the words of a user."""


def summary(plan: Plan) -> Iterator[str]:
    """The lines about a plan, without its parameters and its device."""
    query = plan.compiled
    of = plan.built.explained(query)
    structure = dict(of.structure)
    if "formula" in structure:
        yield line("pattern", structure["formula"])
    if plan.outline.previous:
        yield line("rewritten", REWRITTEN)
    yield line("engine", _engines(plan))
    yield line("why", of.plain.why)
    yield line("how", of.plain.how)
    yield line("speed", of.plain.speed)
    if "growth" in structure:
        yield line("growth", structure["growth"])
    if (single := _single(plan)) is not None:
        yield line("hits", single)
    faster = [structure["faster"]] if "faster" in structure else []
    if plan.outline.timed:
        # A query without time need not load it.
        from cer_gpu.plan.planning.timed_lines import one_window_advised

        if (advice := one_window_advised(plan.outline)) is not None:
            faster.append(advice)
    if faster:
        yield line("faster", "\n".join(faster))
    if plan.never:
        yield line("matches", "none: no match is possible, whatever the events")
    yield line("reads", _reads(plan))
    yield line("skips", _skipped(plan, of.relevant))
    if query.reading.derived:
        yield line(
            "computes", "\n".join(_computed(one, query.reading.derived) for one in query.reading.derived)
        )
    if query.outlooks:
        yield line("looks for", "\n".join(map(_looked_for, query.outlooks)))
    yield line("partitions", _partitions(plan))
    yield line("window", window_told(plan.outline, query))
    if query.consume != "NONE" or query.suppress is not None or query.limit is not None:
        yield line("reports", reports_told(plan))
    if plan.outline.timed:
        yield line("GPU", device_told(query))
    yield line("stream", pushes_told(query))
    if refused := _refused(plan):
        yield line("not used", refused)


def line(name: str, text: str) -> str:
    """A name with its text, whose further lines are indented."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{name:<{WIDTH}}{first}", *(" " * WIDTH + more for more in rest)])


def listed(words: Sequence[str]) -> str:
    """Words of a sentence: "hits, counts and lists"."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _single(plan: Plan) -> str | None:
    """The form of the query that hits take, and its engine; None if they take it as it is."""
    if plan.chosen.forced or (form := with_single_repetitions(plan.outline)) is None:
        return None
    engine = choose(form).engine_for("hits")
    return f"by engine {engine}, of `{to_text(form.query.pattern)}`, whose matches end at the same events"


def _engines(plan: Plan) -> str:
    """The engine, or the engines with what each of them runs."""
    if plan.alone:
        return plan.engine
    runs = plan.chosen.questions()
    names = sorted(runs, key=lambda name: name != plan.engine)
    return "\n".join(f"{name}: {listed([ASKED[one] for one in runs[name]])}" for name in names)


def _refused(plan: Plan) -> str:
    """The engines that run nothing of the query, by the reason."""
    runs = {plan.engine} if plan.alone else set(plan.chosen.questions())
    reasons: dict[str, list[str]] = {}
    for name, refusal in plan.said:
        if name not in runs:
            reason = "could run this query too" if refusal is None else refusal.reason
            reasons.setdefault(reason, []).append(name)
    return "\n".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def _reads(plan: Plan) -> str:
    """The columns and expressions that are read of each event."""
    reading, found = plan.compiled.reading, []
    for axis in reading.axes:
        match axis:
            case ColumnAxis(column, names):
                found.append(f"`{column}` ({', '.join(names)})")
            case GivenAxis(leaf):
                found.append(f"{to_text(leaf)} (its value comes with the call)")
            case RelationAxis(op, left, right):
                found.append(f"{written(left, reading.derived)} {op} {written(right, reading.derived)}")
            case _:
                found.append(written(axis.operand, reading.derived))
    keys = [key for column in reading.keys.columns for key in column.keys]
    compared = [value for column in reading.keys.values for value in (column.value, column.among)]
    own = [name for one in (*keys, *compared) for name in sorted(attributes_of(one))]
    found += [written(tree.Attribute(name), reading.derived) for name in (*reading.compared, *own)]
    return ", ".join(dict.fromkeys(found)) or "every event"


def written(operand: tree.Expression, derived: Sequence[DerivedColumn]) -> str:
    """An expression over derived columns as a user wrote it."""
    if not derived:
        return to_text(operand)
    from cer_gpu.plan.derived_columns import written_out

    return to_text(written_out(operand, derived))


def _skipped(plan: Plan, relevant: int) -> str:
    """Which events are dropped before the pattern is matched."""
    if plan.never:
        return "every event"
    if not any(number == 0 for stage in plan.compiled.reading.stages[-1:] for number in stage.table):
        adjacent = any(getattr(node, "contiguous", False) for node in walk(plan.outline.statement))
        why = "each may be part of a match"
        if adjacent:
            why = "the pattern asks for events next to each other, so one of any type between breaks a match"
        return f"no event: {why}"
    remain = "1 kind of events remains" if relevant == 1 else f"{relevant} kinds of events remain"
    return f"events that cannot be part of a match; {remain}"


def _computed(column: DerivedColumn, derived: Sequence[DerivedColumn]) -> str:
    """A value that is computed for all events."""
    text = written(column.expression, derived)
    if isinstance(column.expression, tree.Previous):
        kept = counted(column.expression.distance, "event")
        return f"{text}, from the last {kept} of the stream or partition"
    return f"{text}, for all events"


def _looked_for(outlook: Outlook) -> str:
    """What FOLLOWED BY or PRECEDED BY looks for, and what waits for it."""
    if outlook.before:
        return f"{outlook.written}, in one pass over the events"
    until = "the stream ends" if outlook.reach.high is None else "the time is over"
    waits = f"an event waits until a match of it is found, or {until}"
    return f"{outlook.written}, in one pass over the events; {waits}"


def _partitions(plan: Plan) -> str:
    if partition := plan.compiled.reading.partition:
        key = ", ".join(" or ".join(f"`{name}`" for name in part) for part in partition)
        return f"by {key}\n{forgotten(plan)}"
    return shared_key_told(plan.built.lane) or "none: all events are one stream"


def forgotten(plan: Plan) -> str:
    """When what is kept for a key is dropped."""
    # Where nothing is written, the upper bounds of intervals may add up to a window.
    window = plan.outline.statement.window or plan.compiled.window
    if window is None and plan.compiled.traits.forgets:
        return "an event is kept until its own key has moved on for longer than any interval allows"
    if window is None and in_a_row(plan.outline.query.pattern):
        return "a partial match is dropped at the first event of its key that does not continue it"
    if window is None:
        return "partial matches of a key are kept forever: without a window none expires"
    if window.kind == "events":
        return "an event is kept until as many more of its own key have come as the window counts"
    if window.kind == "attribute":
        return f"an event is kept until later ones of its own key have moved on in `{window.attribute}`"
    return (
        "an event is kept until a later row of its key shows that its window is over\n"
        "(with sort=True or ordered=True, a later row of any key is enough)"
    )


def window_told(outline: Outline, compiled: CompiledQuery) -> str:
    """How far the end of a match may be from its start, and why."""
    window = outline.statement.window
    if window is None and compiled.window is not None:
        return "none is written; the upper bounds of the intervals add up to a window"
    if window is None:
        return "none: the end may be as far from the start as the pattern allows"
    unit = {"events": "events", "time": window.unit}.get(window.kind, f"of `{window.attribute}`")
    size = f"{window.size:,}" if unit is None else f"{window.size:,} {unit}"
    said = f"at most {size} from start to end"
    if outline.bounds:
        written = ", ".join(f"`{to_text(one)}`" for one in outline.bounds)
        return f"{said}: {written} bounds a match from its first event to its last, as WITHIN does"
    return f"{said}: an interval over the whole pattern is as WITHIN" if outline.spans else said


def pushes_told(query: CompiledQuery) -> str:
    """What a push to a stream costs."""
    if query.pushes_run_again:
        return "each push runs the open window again"
    said = "a push costs only what is new in it, however many partial matches are open"
    if query.traits.state == "sorted" or (query.window is not None and query.window.kind == "attribute"):
        said = "a push costs what is new in it, times the logarithm of the open partial matches"
    if any(outlook.waits for outlook in query.outlooks):
        said += ";\na match is reported once it is known what follows; `close` reports the rest"
    if query.filters_answers:
        said += ";\nwhere the attribute falls, an end also looks through matches outside its window"
    if query.pushed_runs_again:
        said += (
            ";\nlisting the matches of an end runs the relevant events of its window again, one step "
            "each, since the choice depends on all matches that begin in the window"
        )
    return said


def device_told(query: CompiledQuery) -> str:
    """What runs on the CPU, whatever the device; when a GPU is taken, or why none is taken unasked."""
    own = query.machine.where("cuda")
    said = f"always on the CPU: {own}" if own else ""
    taken = "a GPU is used with device='cuda', and with device='auto' where it takes less time"
    return "\n".join(part for part in (said, query.machine.where("auto") or taken) if part)


def reports_told(plan: Plan) -> str:
    """Which matches are reported, of those that there are."""
    query, statement = plan.compiled, plan.outline.statement
    said = []
    if query.suppress is not None and isinstance(statement, tree.SelectQuery) and statement.suppress:
        where = " of its partition" if query.suppress.by == "PARTITION" else ""
        length = bound_text(statement.suppress.length)
        said.append(f"no match that ends within {length} after the last one{where} that is reported")
    if query.consume != "NONE":
        where = "everywhere" if query.consume == "ANY" else "in its partition"
        said.append(f"each match drops the partial matches {where}")
    if query.limit is not None:
        said.append(f"at most {query.limit:,} for each end position")
    return "; ".join(said)
