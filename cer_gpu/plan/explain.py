"""What `explain` says: the class a query fell in, how it is evaluated, its guarantee and its cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cer_gpu.automata.cea import CEA, DeterministicCEA
from cer_gpu.automata.compose import Applied, Composed
from cer_gpu.automata.pcea import PCEA
from cer_gpu.joins.qtree import compact, draw, q_tree
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis, MatchAxis, NullAxis, RelationAxis
from cer_gpu.plan.compiled import CompiledQuery, Monitor
from cer_gpu.plan.constants import nearest_float
from cer_gpu.plan.machines import Selected
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.planner import Plan

WIDTH = 12

BOUNDS = {
    "`AND`": "at most |p| * |q| (Theorem 7.2)",
    "`ALL`": "a product of (|p| + 1) * (|q| + 1) (Theorem 7.2), made deterministic",
    "`UNLESS`": "at most |p| * |q| * 2^|q| (Theorem 7.2)",
    "`STRICT`": "at most 3 * |p| (Theorem 7.4)",
    "`NXT`": "at most |p| * 3^|p| (Theorem 7.3); 1-ambiguous: one run for each complex event",
    "`LAST`": "at most |p| * 4^|p| (as Theorem 7.3); 1-ambiguous: one run for each complex event",
    "`MAX`": "at most |p| * 3^|p| (Theorem 7.5); 1-ambiguous: one run for each complex event",
}
"""What the thesis says of the size of an operator's automaton, |p| being that of its operand."""


NEVER = "none: no complex event is possible, whatever the events"


def explain(plan: Plan) -> str:
    """The plan of a query, as text of a few lines."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    query, outline = plan.compiled, plan.outline
    yield _line("class", _class(plan))
    yield _line("engine", _engine(plan))
    yield _line("guarantee", _guarantee(query))
    if outline.formula is not None:
        yield _line("formula", to_text(_without_list(outline)))
    if outline.body is not None:
        tree_of_body = q_tree(outline.body)
        yield _line("q-tree", draw(tree_of_body, outline.body))
        yield _line("compact", draw(compact(tree_of_body), outline.body))
    yield _line("automaton", _automaton(plan))
    if plan.never:
        yield _line("answers", NEVER)
    applied = () if plan.regular is None else plan.regular.applied
    if sized := [one for one in applied if one.operator in BOUNDS]:
        yield _line("operators", "\n".join(map(_applied, sized)))
    if query.monitor is not None and not plan.never:
        yield _line("prefix", _prefix(query.monitor))
    if plan.selected is not None:
        yield _line("strategy", _strategy(plan, plan.selected))
    yield _line("symbols", _symbols(plan))
    for number, axis in enumerate(query.axes):
        yield _line("reads" if number == 0 else "", _axis(axis))
    if query.joins is not None:
        yield _line("keys", _keys(query))
    yield _line("partitions", _partitions(plan))
    yield _line("window", _window(outline.statement.window))
    if query.consume != "NONE" or query.limit is not None:
        yield _line("reports", _reports(query))
    yield _line("cost", _cost(plan))


def _without_list(outline: Outline) -> tree.Pattern:
    """The formula without the projection that stands for the SELECT list."""
    formula = outline.formula
    assert formula is not None
    assert isinstance(outline.statement, tree.Query)
    if isinstance(formula, tree.Project) and outline.statement.select is not None:
        return formula.pattern
    return formula


def _class(plan: Plan) -> str:
    if plan.outline.body is not None:
        return "joined by equality: a hierarchical conjunctive query (Theorem 4.1 of the PCEA paper)"
    if plan.compiled.joins is not None:
        return "joined by equality: a chain of events, each compared with the one before it (CCEA)"
    if plan.outline.lane is not None:
        return (
            "regular: the correlation makes all events of a complex event share a key, which parts the stream"
        )
    if isinstance(plan.outline.automaton, Composed):
        return "regular: every filter speaks of one event (CEPL: operators and selectors, made one automaton)"
    return "regular: every filter speaks of one event (CEL with unary filters)"


def _engine(plan: Plan) -> str:
    if plan.compiled.joins is not None:
        return "parallelized complex event automaton, as tables with join keys"
    return "deterministic complex event automaton, as tables"


def _line(name: str, text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{name:<{WIDTH}}{first}", *(" " * WIDTH + line for line in rest)])


def _guarantee(query: CompiledQuery) -> str:
    if query.window is not None and query.window.kind == "attribute":
        return f"exact; time per event is constant only while `{query.window.attribute}` ascends"
    if query.joins is not None:
        return (
            "log(window) time per event, whatever the number of answers; output-linear delay (Theorem 5.1);\n"
            "counts: at each end as many steps as the window holds partial matches of its keys, at most"
        )
    if query.selects_later and query.selection is not None and not query.selection.single:
        return "constant time per event for hits; counts and complex events run the window of each end again"
    return "constant time per event in the length of the stream, output-linear delay"


def _automaton(plan: Plan) -> str:
    found = plan.outline.automaton
    if isinstance(found, PCEA):
        widest = max((len(move.sources) for move in found.transitions), default=0)
        gathers = {0: "no run", 1: "one run"}.get(widest, f"up to {widest} runs")
        return (
            f"{len(found.names)} states, {len(found.transitions)} transitions, size {found.size}; "
            f"a transition gathers {gathers}"
        )
    machine = plan.machine
    assert isinstance(machine, DeterministicCEA)
    before = (
        f"{found.n_states} states, {len(found.transitions)} transitions; " if isinstance(found, CEA) else ""
    )
    return (
        f"{before}deterministic: "
        f"{_count(machine.n_states, 'state')}, {_count(len(machine.transitions), 'transition')}, "
        f"{len(machine.labels) - 1} sets of marks"
    )


def _applied(one: Applied) -> str:
    before = " and ".join(f"{states:,}" for states in one.before)
    return f"{one.operator}: {before} states before, {one.after:,} after; {BOUNDS[one.operator]}"


def _prefix(monitor: Monitor) -> str:
    return (
        f"what a selector chooses depends on all events before: a monitor of {len(monitor.follow):,} states "
        "reads them\nonce, one state for each lane"
    )


def _strategy(plan: Plan, selected: Selected) -> str:
    left = "one complex event" if selected.plan.single else "those with the chosen positions"
    if selected.plan.strategy == "MAX":
        left = "those that are part of no other"
    name, query = selected.plan.strategy, plan.compiled
    if not query.selects_later:
        sized = _applied(replace(selected.applied, operator=f"`{'NXT' if name == 'NEXT' else name}`"))
        return f"{name} leaves {left} at each end, by an automaton without a window\n{sized}"
    if selected.plan.single:
        how = "paths are ranked along the window: at most |Q|^2 steps for a relevant event"
    else:
        how = "each end runs its window again: the relevant events in it, for every end"
    return f"{name} leaves {left} at each end, chosen inside the window\n{how}; hits need no choice"


def _keys(query: CompiledQuery) -> str:
    spaces: dict[int, list[str]] = {}
    for column in query.key_columns:
        text = ", ".join(to_text(key) for key in column.keys)
        spaces.setdefault(column.space, []).append(f"({text})" if len(column.keys) > 1 else text)
    compared = [" = ".join(names) for names in spaces.values()]
    return (
        "; ".join(compared) + " (equal values numbered once; the look-up table is an array)"
        if compared
        else "none"
    )


def _symbols(plan: Plan) -> str:
    tables = plan.compiled.tables or plan.compiled.joins
    assert tables is not None
    relevant = tables.n_symbols - 1
    neutral = "events of any other are dropped before the automaton runs"
    if plan.never:
        neutral = "no event counts"
    elif not any(symbol == 0 for stage in plan.compiled.stages[-1:] for symbol in stage.table):
        neutral = "every event counts: the pattern asks for events next to each other"
    kinds = "kind" if relevant == 1 else "kinds"
    return f"{relevant} relevant {kinds} of events; {neutral}"


def _axis(axis: Axis) -> str:
    match axis:
        case ColumnAxis(column, names):
            return f"`{column}` in {', '.join(names)}"
        case CutAxis(operand, textual, cuts, _):
            values = list(dict.fromkeys(str(_plain(cut.value)) for cut in cuts))
            shown = ", ".join(values[:6])
            more = f", ... ({len(values)} in all)" if len(values) > 6 else ""
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


def _partitions(plan: Plan) -> str:
    query = plan.compiled
    if query.partition:
        key = ", ".join(" or ".join(f"`{name}`" for name in part) for part in query.partition)
        return f"by {key}: one lane for each key"
    if plan.outline.lane is None:
        return "none: the whole stream is one lane"
    keys = {event_type: ", ".join(map(to_text, keys)) for event_type, keys in plan.outline.lane.items()}
    distinct = dict.fromkeys(keys.values())
    if len(distinct) == 1:
        return f"one lane for each value of {next(iter(distinct))}, which all events of an answer share"
    each = ", ".join(f"{name} of {event_type}" for event_type, name in keys.items())
    return f"one lane for each value of {each}, which all events of an answer share"


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
    if tables is None:
        return _join_cost(plan)
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
    counts = f"at most {2 * widest * (states + 1)}, whatever the window"
    if plan.compiled.selects_later and plan.selected is not None:
        counts = (
            f"and the choice at most {(states + 1) ** 2} more, whatever the window"
            if plan.selected.plan.single
            else "as many as the windows of all ends have, together"
        )
    return (
        f"hits: at most {widest} steps for a relevant event; counts: {counts};\n"
        f"complex events: as many steps as they have marks; {pieces}"
    )


def _join_cost(plan: Plan) -> str:
    joins, window = plan.compiled.joins, plan.compiled.window
    assert joins is not None
    widest = max((int(joins.first[k + 1] - joins.first[k]) for k in range(joins.n_symbols)), default=0)
    reads = max(
        (int(joins.read_first[k + 1] - joins.read_first[k]) for k in range(len(joins.label))), default=0
    )
    pieces = "each lane runs on its own" if plan.outline.lane or plan.compiled.partition else "one lane"
    if window is not None:
        pieces += ", long ones in pieces that start one window early"
    return (
        f"at most {_count(widest, 'transition')} for a relevant event, each with at most "
        f"{_count(reads, 'look-up')}; {pieces};\ncomplex events: as many steps as they have marks"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
