"""The text of `explain`: `verbose`, the class of a query, its automaton, its guarantee and its cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.scalar_functions import nearest_float
from cer_gpu.language.walk import walk
from cer_gpu.notebook import MERMAID, SVG, RenderedText
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis, GivenAxis, MatchAxis, NullAxis, RelationAxis
from cer_gpu.plan.cost import QUESTIONS
from cer_gpu.plan.outlook import Outlook
from cer_gpu.plan.phrases import counted, lanes_told
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.planning.summary import (
    REWRITTEN,
    WIDTH,
    device_told,
    forgotten,
    line,
    listed,
    pushes_told,
    reports_told,
    summary,
    window_told,
    written,
)
from cer_gpu.printable_text import brief, printable

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import DerivedColumn
    from cer_gpu.plan.outline import Outline

FORMATS = ("text", "mermaid", "svg")


def check_format(name: Any) -> None:
    """Raise a ValueError for a format in which no query is explained."""
    if isinstance(name, str) and name in FORMATS:
        return
    formats = 'format is "text", "mermaid" or "svg"'
    if isinstance(name, str):
        raise ValueError(f"{formats}, not {brief(name)}")
    raise ValueError(
        f"the first argument of explain is format, not {brief(name)}: pass the events by name, as in "
        f"explain(events=...); {formats}"
    )


def explain(
    plan: Plan, told: Sequence[str] = (), place: str = "", ordered: bool = True, verbose: bool = False
) -> str:
    """The plan of a query, as text of a few lines.

    Parameters
    ----------
    plan : Plan
    told : sequence of str
        A line for each parameter.
    place : str
        The device, and why it is this one; empty where none was chosen.
    ordered : bool
        Whether the plan knows which attribute is the order of the events, if one is.
    verbose : bool
        Whether to say also what runs inside: the class of the query, the automaton, the steps of each engine.
    """
    lines = [
        *(_lines(plan) if verbose else summary(plan)),
        *([line("params", "\n".join(told))] if told else []),
    ]
    if not ordered and (advice := _order_advised(plan.outline)) is not None:
        lines.append(line("order", advice))
    device = f"{'device':<{WIDTH}}{place}\n" if place else ""
    return RenderedText.of(printable("\n".join(lines) + "\n") + device)


def drawn(plan: Plan, format: str) -> str:
    """The automaton of a plan, as a Mermaid flowchart or an SVG document.

    Raises
    ------
    LimitError
        When it has more states than can be drawn.
    CerError
        For "svg", when the package that draws it is not installed.
    """
    drawing = plan.built.drawing()
    if format == "mermaid":
        from cer_gpu.plan.mermaid import to_mermaid

        return RenderedText.of(to_mermaid(drawing), MERMAID)
    from cer_gpu.plan.svg import to_svg

    return RenderedText.of(to_svg(drawing), SVG)


def _lines(plan: Plan) -> Iterator[str]:
    query = plan.compiled
    of = plan.built.explained(query)
    yield line("class", of.kind)
    yield line("engine", of.engine)
    yield line("routes", _routes(plan))
    yield line("guarantee", of.guarantee)
    for name, text in of.structure:
        yield line(name, text)
    if plan.outline.previous:
        yield line("rewritten", REWRITTEN)
    if plan.outline.timed:
        # A query without time need not load these.
        from cer_gpu.plan.planning.timed_lines import one_window_advised, time_lines

        if (advice := one_window_advised(plan.outline)) is not None:
            yield line("faster", advice)
        yield line("time", "\n".join(time_lines(plan.outline)))
    yield line("symbols", _symbols(plan, of.relevant))
    for number, axis in enumerate(query.reading.axes):
        yield line("reads" if number == 0 else "", _axis(axis, query.reading.derived))
    for number, column in enumerate(query.reading.derived):
        yield line("derives" if number == 0 else "", _derived(column, query.reading.derived))
    for number, outlook in enumerate(query.outlooks):
        yield line("looks" if number == 0 else "", _outlook(outlook))
    if of.keys is not None:
        yield line("keys", of.keys)
    yield line("partitions", _partitions(plan))
    yield line("window", window_told(plan.outline, plan.compiled))
    if query.consume != "NONE" or query.suppress is not None or query.limit is not None:
        yield line("reports", reports_told(plan))
    yield line("cost", of.cost)
    yield line("costs", _costs(plan))
    if plan.outline.timed:
        yield line("device", device_told(query))
    yield line("stream", pushes_told(query))


def _order_advised(outline: Outline) -> str | None:
    """That a filter is a window once it is known what orders the events; None where none is."""
    from cer_gpu.plan.outline import order_that_bounds

    if (found := order_that_bounds(outline)) is None:
        return None
    name, conditions = found
    written = " AND ".join(map(to_text, conditions))
    return (
        f"with order_by={name!r}, `{written}` is a window, and need not be compared:\n"
        f"explain(events=..., order_by={name!r}) shows what runs then"
    )


def _routes(plan: Plan) -> str:
    """What every route said of the query, the chosen one first."""
    ranked = sorted(plan.said, key=lambda one: one[0] != plan.engine)
    said = {name: "takes it" if refusal is None else f"no: {refusal.reason}" for name, refusal in ranked}
    if plan.alone:
        said[plan.engine] = "takes it, and runs it"
    else:
        runs = plan.chosen.questions()
        said |= {name: f"takes it, and runs {listed(asked)}" for name, asked in runs.items()}
    return "\n".join(f"{name}: {text}" for name, text in said.items())


def _costs(plan: Plan) -> str:
    """What every route that takes the query would cost, the chosen one first."""
    lines = ["steps for a relevant event (+ for a match), of about 20 ns:"]
    costs = {question: plan.chosen.costs(question) for question in QUESTIONS}
    for name in sorted(plan.chosen.taken, key=lambda name: name != plan.engine):
        said: dict[str, list[str]] = {}
        for question in QUESTIONS:
            cost = costs[question][name]
            more = f" (+{cost.match:g})" if cost.match else ""
            said.setdefault(cost.note, []).append(f"{question} {cost.event:g}{more}")
        lines.append(f"{name}: " + "; ".join(f"{', '.join(one)}: {note}" for note, one in said.items()))
    return "\n".join(lines)


def _symbols(plan: Plan, relevant: int) -> str:
    neutral = "events of any other are dropped before the automaton runs"
    if plan.never:
        neutral = "no event is relevant"
    elif not any(symbol == 0 for stage in plan.compiled.reading.stages[-1:] for symbol in stage.table):
        adjacent = any(getattr(node, "contiguous", False) for node in walk(plan.outline.statement))
        why = "the pattern asks for events next to each other" if adjacent else "each may be part of a match"
        neutral = f"every event is relevant: {why}"
    kinds = "kind" if relevant == 1 else "kinds"
    return f"{relevant} relevant {kinds} of events; {neutral}"


def _axis(axis: Axis, derived: Sequence[DerivedColumn]) -> str:
    match axis:
        case ColumnAxis(column, names):
            return f"`{column}` in {', '.join(names)}"
        case CutAxis(operand, textual):
            constants = axis.constants
            shown = ", ".join(str(_plain(value)) for value in constants[:6])
            more = f", ... ({len(constants):,} in all)" if len(constants) > 6 else ""
            kind = "strings, by dictionary" if textual else "one pass"
            return f"{written(operand, derived)} cut at {shown}{more} ({kind})"
        case MatchAxis(operand, pattern):
            return f"{written(operand, derived)} LIKE '{pattern}' (once for each value of the dictionary)"
        case NullAxis(operand):
            return f"{written(operand, derived)} IS NULL"
        case GivenAxis(leaf):
            return f"{to_text(leaf)} (its bound comes with the call, and the plan stays)"
        case RelationAxis(op, left, right):
            return f"{written(left, derived)} {op} {written(right, derived)} (two derived columns)"


def _derived(column: DerivedColumn, derived: Sequence[DerivedColumn]) -> str:
    """What a derived column is computed from, and what it costs."""
    text = written(column.expression, derived)
    if isinstance(column.expression, tree.Previous):
        count = column.expression.distance
        kept = f"the last {counted(count, 'event')} of the stream, or of each partition, kept"
        return f"{text} (a column, before events are dropped; {kept})"
    return f"{text} (a column, computed for all events)"


def _outlook(outlook: Outlook) -> str:
    """What a derived column of bits says, what it costs, and what waits for it."""
    machine = outlook.machine
    heard = (outlook.tables.n_symbols if machine is None else len(machine.symbols)) - 1
    asked = int((outlook.becomes[:, 0] != outlook.becomes[:, 1]).sum())
    cost = (
        f"{outlook.written}\n"
        f"a derived column of bits, by one pass of the CPU over {counted(heard, 'kind')} of events that make "
        f"it and {counted(asked, 'kind')} that read it"
    )
    if machine is not None:
        one_by_one = machine.registers and machine.held is None
        cost += (
            ";\nits pattern has intervals or compares events: partial matches are followed with "
            f"{'values' if machine.registers else 'clocks'}"
            f"{', one at a time' if one_by_one else ''}"
        )
    if not outlook.before:
        if outlook.by_next:
            which = "next event" if outlook.reach.low == 0 else "first event in the interval"
            cost += f";\nthe {which} of the lane that is looked for decides"
            cost += ": no queues, one look at each event"
        until = "the stream ends" if outlook.reach.high is None else "the interval is over"
        held = f"an event that reads it is held back until the bit is known: a match is found, or {until}"
        return f"{cost};\n{held}"
    if machine is not None:
        return f"{cost}, from their start to the event that asks"
    more = "" if outlook.reach.low == 0 else ", and those that are too near"
    return f"{cost};\nit keeps the latest start in each state of its automaton{more}"


def _plain(value: object) -> object:
    number = nearest_float(value) if not isinstance(value, str) else value
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _partitions(plan: Plan) -> str:
    if partition := plan.compiled.reading.partition:
        key = ", ".join(" or ".join(f"`{name}`" for name in part) for part in partition)
        return f"by {key}: one lane for each key\n{forgotten(plan)}"
    return lanes_told(plan.built.lane) or "none: the whole stream is one lane"
