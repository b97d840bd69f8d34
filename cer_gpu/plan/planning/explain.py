"""The text of `explain`: the class of a query, how it is evaluated, its guarantee and its cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cer_gpu.language import tree
from cer_gpu.language.printer import bound_text, to_text
from cer_gpu.language.scalar_functions import nearest_float
from cer_gpu.language.walk import walk
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis, GivenAxis, MatchAxis, NullAxis, RelationAxis
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.cost import QUESTIONS
from cer_gpu.plan.outlook import Outlook
from cer_gpu.plan.phrases import counted, lanes_told
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.printable_text import brief, printable

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import DerivedColumn
    from cer_gpu.plan.outline import Outline

WIDTH = 12

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


def explain(plan: Plan, told: Sequence[str] = (), place: str = "", ordered: bool = True) -> str:
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
    """
    lines = [*_lines(plan), *([_line("params", "\n".join(told))] if told else [])]
    if not ordered and (advice := _order_advised(plan.outline)) is not None:
        lines.append(_line("order", advice))
    return printable("\n".join(lines) + "\n") + (f"{'device':<{WIDTH}}{place}\n" if place else "")


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

        return to_mermaid(drawing)
    from cer_gpu.plan.svg import to_svg

    return to_svg(drawing)


def _lines(plan: Plan) -> Iterator[str]:
    query = plan.compiled
    of = plan.built.explained(query)
    yield _line("class", of.kind)
    yield _line("engine", of.engine)
    yield _line("routes", _routes(plan))
    yield _line("guarantee", of.guarantee)
    for name, text in of.structure:
        yield _line(name, text)
    if plan.outline.timed:
        # A query without time need not load these.
        from cer_gpu.plan.planning.without_intervals import one_window_advised
        from cer_gpu.plan.timed_lines import time_lines

        if (advice := one_window_advised(plan.outline)) is not None:
            yield _line("faster", advice)
        yield _line("time", "\n".join(time_lines(plan.outline)))
    yield _line("symbols", _symbols(plan, of.relevant))
    for number, axis in enumerate(query.reading.axes):
        yield _line("reads" if number == 0 else "", _axis(axis, query.reading.derived))
    for number, column in enumerate(query.reading.derived):
        yield _line("derives" if number == 0 else "", _derived(column, query.reading.derived))
    for number, outlook in enumerate(query.outlooks):
        yield _line("looks" if number == 0 else "", _outlook(outlook))
    if of.keys is not None:
        yield _line("keys", of.keys)
    yield _line("partitions", _partitions(plan))
    yield _line("window", _window(plan.outline, plan.compiled))
    if query.consume != "NONE" or query.suppress is not None or query.limit is not None:
        yield _line("reports", _reports(plan))
    yield _line("cost", of.cost)
    yield _line("costs", _costs(plan))
    if plan.outline.timed:
        yield _line("device", _device(query))
    yield _line("stream", _pushes(query))


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


def _line(name: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{name:<{WIDTH}}{first}", *(" " * WIDTH + line for line in rest)])


def _routes(plan: Plan) -> str:
    """What every route said of the query, the chosen one first."""
    ranked = sorted(plan.said, key=lambda one: one[0] != plan.engine)
    said = {name: "takes it" if refusal is None else f"no: {refusal.reason}" for name, refusal in ranked}
    if plan.alone:
        said[plan.engine] = "takes it, and runs it"
    else:
        runs = plan.chosen.questions()
        said |= {name: f"takes it, and runs {_listed(asked)}" for name, asked in runs.items()}
    return "\n".join(f"{name}: {text}" for name, text in said.items())


def _listed(words: Sequence[str]) -> str:
    """Words of a sentence: "hits, counts and lists"."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


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
    def written(operand: tree.Expression) -> str:
        if not derived:
            return to_text(operand)
        from cer_gpu.plan.derived_columns import written_out

        return to_text(written_out(operand, derived))

    match axis:
        case ColumnAxis(column, names):
            return f"`{column}` in {', '.join(names)}"
        case CutAxis(operand, textual):
            constants = axis.constants
            shown = ", ".join(str(_plain(value)) for value in constants[:6])
            more = f", ... ({len(constants):,} in all)" if len(constants) > 6 else ""
            kind = "strings, by dictionary" if textual else "one pass"
            return f"{written(operand)} cut at {shown}{more} ({kind})"
        case MatchAxis(operand, pattern):
            return f"{written(operand)} LIKE '{pattern}' (once for each value of the dictionary)"
        case NullAxis(operand):
            return f"{written(operand)} IS NULL"
        case GivenAxis(leaf):
            return f"{to_text(leaf)} (its bound comes with the call, and the plan stays)"
        case RelationAxis(op, left, right):
            return f"{written(left)} {op} {written(right)} (two derived columns)"


def _derived(column: DerivedColumn, derived: Sequence[DerivedColumn]) -> str:
    """What a derived column is computed from, and what it costs."""
    from cer_gpu.plan.derived_columns import written_out

    text = to_text(written_out(column.expression, derived))
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
            cost += (
                ";\nthe next event of the lane that is looked for decides: no queues, one look at each event"
            )
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
        return f"by {key}: one lane for each key\n{_forgotten(plan)}"
    return lanes_told(plan.built.lane) or "none: the whole stream is one lane"


def _forgotten(plan: Plan) -> str:
    """When what is kept for a key is dropped."""
    # Where nothing is written, the upper bounds of intervals may add up to a window.
    window = plan.outline.statement.window or plan.compiled.window
    if window is None and plan.compiled.traits.forgets:
        return "an event is kept until its own key has moved on for longer than any interval allows"
    if window is None:
        return "partial matches of a key are kept for ever: without a window none expires"
    if window.kind == "events":
        return "an event is kept until as many more of its own key have come as the window counts"
    if window.kind == "attribute":
        return f"an event is kept until later ones of its own key have moved on in `{window.attribute}`"
    return "an event is kept until its own key moves on in time, or all keys do (sort=True, ordered=True)"


def _window(outline: Outline, compiled: CompiledQuery) -> str:
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


def _pushes(query: CompiledQuery) -> str:
    if query.pushes_run_again:
        return "each push runs the open window again"
    said = "a push costs only what is new in it, however many partial matches are open"
    if query.traits.state == "sorted" or (query.window is not None and query.window.kind == "attribute"):
        said = "a push costs what is new in it, times the logarithm of the open partial matches"
    if any(outlook.waits for outlook in query.outlooks):
        said += ";\nan answer is reported once it is known what follows; `close` reports the rest"
    if query.filters_answers:
        said += ";\nwhere the attribute falls, an end also looks through answers outside its window"
    if query.pushed_runs_again:
        said += (
            ";\nlisting the complex events of an end runs the relevant events of its window again, one step "
            "each, since the choice depends on all complex events that begin in the window"
        )
    return said


def _device(query: CompiledQuery) -> str:
    """What runs on the CPU, whatever the device; when a GPU is taken, or why none is taken unasked."""
    own = query.machine.where("cuda")
    said = f"always on the CPU: {own}" if own else ""
    taken = "a GPU is used with device='cuda', and with device='auto' for very many events"
    return "\n".join(part for part in (said, query.machine.where("auto") or taken) if part)


def _reports(plan: Plan) -> str:
    query, statement = plan.compiled, plan.outline.statement
    said = []
    if query.suppress is not None and isinstance(statement, tree.SelectQuery) and statement.suppress:
        where = " of its partition" if query.suppress.by == "PARTITION" else ""
        length = bound_text(statement.suppress.length)
        said.append(f"no answer that ends within {length} after the last one{where} that is reported")
    if query.consume != "NONE":
        where = "everywhere" if query.consume == "ANY" else "in its partition"
        said.append(f"each answer drops the partial matches {where}")
    if query.limit is not None:
        said.append(f"at most {query.limit:,} for each end position")
    return "; ".join(said)
