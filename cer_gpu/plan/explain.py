"""What `explain` says: the class a query fell in, how it is evaluated, its guarantee and its cost."""

from __future__ import annotations

from collections.abc import Iterator

from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis, MatchAxis, NullAxis, RelationAxis
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.constants import nearest_float
from cer_gpu.plan.planner import Plan

WIDTH = 12


def explain(plan: Plan) -> str:
    """The plan of a query, as text of a few lines."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    query = plan.compiled
    yield _line("class", "regular: every filter speaks of one event (CEL with unary filters)")
    yield _line("engine", "deterministic complex event automaton, as tables; CPU")
    yield _line("guarantee", _guarantee(query))
    yield _line("formula", to_text(plan.outline.formula))
    yield _line("automaton", _automaton(plan))
    yield _line("symbols", _symbols(plan))
    for number, axis in enumerate(query.axes):
        yield _line("reads" if number == 0 else "", _axis(axis))
    yield _line("partitions", _partitions(query))
    yield _line("window", _window(plan.outline.query.window))
    if query.consume != "NONE" or query.limit is not None:
        yield _line("reports", _reports(query))
    yield _line("cost", _cost(plan))


def _line(name: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{name:<{WIDTH}}{first}", *(" " * WIDTH + line for line in rest)])


def _guarantee(query: CompiledQuery) -> str:
    if query.window is not None and query.window.kind == "attribute":
        return f"exact; time per event is constant only while `{query.window.attribute}` ascends"
    return "constant time per event in the length of the stream, output-linear delay"


def _automaton(plan: Plan) -> str:
    cea, deterministic = plan.outline.cea, plan.deterministic
    return (
        f"{cea.n_states} states, {len(cea.transitions)} transitions; deterministic: "
        f"{deterministic.n_states} states, {len(deterministic.transitions)} transitions, "
        f"{len(deterministic.labels) - 1} sets of marks"
    )


def _symbols(plan: Plan) -> str:
    tables = plan.compiled.tables
    relevant = tables.n_symbols - 1
    neutral = "events of any other are dropped before the automaton runs"
    if not any(symbol == 0 for stage in plan.compiled.stages[-1:] for symbol in stage.table):
        neutral = "every event counts: the pattern asks for events next to each other"
    kinds = "kind" if relevant == 1 else "kinds"
    return f"{relevant} relevant {kinds} of events; {neutral}"


def _axis(axis: Axis) -> str:
    match axis:
        case ColumnAxis(column, names):
            return f"`{column}` in {', '.join(names)}"
        case CutAxis(operand, textual, cuts, _):
            shown = ", ".join(str(_plain(cut.value)) for cut in cuts[:6])
            more = f", ... ({len(cuts)} in all)" if len(cuts) > 6 else ""
            kind = "strings, by dictionary" if textual else "one pass"
            return f"{to_text(operand)} cut at {shown}{more} ({kind})"
        case MatchAxis(operand, pattern):
            return f"{to_text(operand)} LIKE '{pattern}' (once for each value of the dictionary)"
        case NullAxis(operand):
            return f"{to_text(operand)} IS NULL"
        case RelationAxis(op, left, right):
            return f"{to_text(left)} {op} {to_text(right)} (two derived columns)"


def _plain(value: object) -> object:
    number = nearest_float(value) if not isinstance(value, str) else value  # type: ignore[arg-type]
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _partitions(query: CompiledQuery) -> str:
    if not query.partition:
        return "none: the whole stream is one lane"
    key = ", ".join(" or ".join(f"`{name}`" for name in part) for part in query.partition)
    return f"by {key}: one lane for each key"


def _window(window: tree.Window | None) -> str:
    if window is None:
        return "none: the end may be as far from the start as the pattern allows"
    unit = {"events": "events", "time": window.unit}.get(window.kind, f"of `{window.attribute}`")
    return f"at most {window.size:,} {unit} from start to end"


def _reports(query: CompiledQuery) -> str:
    said = []
    if query.consume != "NONE":
        where = "everywhere" if query.consume == "ANY" else "in its partition"
        said.append(f"a report drops the partial matches {where}")
    if query.limit is not None:
        said.append(f"at most {query.limit:,} for each end position")
    return "; ".join(said)


def _cost(plan: Plan) -> str:
    tables = plan.compiled.tables
    widest = max((int(tables.first[k + 1] - tables.first[k]) for k in range(tables.n_symbols)), default=0)
    states = max(tables.n_states - 1, 0)
    window = plan.compiled.window
    if window is not None and window.kind == "attribute":
        return (
            f"`{window.attribute}` is not the order: as long as it ascends, hits take at most {widest} steps "
            "for a relevant event;\nwhere it goes down or is null, every start that is still open is looked "
            "at again at each event (quadratic); no relevant event is forgotten"
        )
    pieces = (
        "pieces of a lane run in parallel, each one window early"
        if window is not None
        else "a lane runs in one piece"
    )
    return (
        f"hits: at most {widest} steps for a relevant event; "
        f"counts: at most {2 * widest * (states + 1)}, whatever the window;\n"
        f"complex events: as many steps as they have marks; {pieces}"
    )
