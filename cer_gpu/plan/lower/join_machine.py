"""Joins by equality, of chains and rules alike: the machine of a parallelized automaton, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cer_gpu.automata.pcea import PCEA, Keys
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.kernels.joins.contract import FEW, PASSED, JoinTables
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled_query import AnswerForm, CompiledQuery
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.join_arrays import JoinArrays
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.lower.lowering import LISTED, BuiltMachine, Description, PlainWords, drawing
from cer_gpu.plan.phrases import counted, lanes_cut

COSTS: dict[Question, Cost] = {
    "hits": Cost(3, note="hash look-ups"),
    "counts": Cost(6, note="hash look-ups"),
    "lists": Cost(4, 3, "hash look-ups, nodes of a structure"),
    "pushes": Cost(6, 3, "hash look-ups, nodes of a structure"),
}


@dataclass(frozen=True, slots=True)
class Join:
    """What chains and rules say of themselves.

    Attributes
    ----------
    kind : str
        As in `Description`.
    why, how : str
        As in `PlainWords`.
    automaton : PCEA
        Before it is made unambiguous.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    told : function
        The lines of `explain` before the automaton.
    body : ConjunctiveQuery or None
        The body of a rule; None for a chain.
    """

    kind: str
    why: str
    how: str
    automaton: PCEA
    lane: Mapping[str, Keys] | None
    told: Callable[[], Sequence[tuple[str, str]]]
    body: ConjunctiveQuery | None = None


def built(join: Join, found: JoinArrays, form: AnswerForm, machine: JoinMachine) -> BuiltMachine:
    """The machine of a join, with what explains it."""
    return BuiltMachine(
        machine=machine,
        hits_machine=machine,
        form=form,
        symbol_of=found.symbol_of,
        n_symbols=found.tables.n_symbols,
        keys=found.keys,
        never=False,
        lane=join.lane,
        explained=lambda compiled: Description(
            kind=join.kind,
            engine="parallelized complex event automaton, as tables with join keys",
            guarantee=_guarantee(compiled),
            plain=PlainWords(join.why, join.how, _speed(compiled)),
            structure=(
                *join.told(),
                ("automaton", _sizes(join.automaton)),
                ("listing", _listing(compiled)),
            ),
            relevant=found.tables.n_symbols - 1,
            cost=_cost(found.tables, join.lane, compiled),
            keys=_keys(compiled),
        ),
        drawing=lambda: drawing.of_parallelized(join.automaton, join.body),
    )


def _guarantee(query: CompiledQuery) -> str:
    """What an event and an answer cost, whatever the data."""
    if query.window is not None and query.window.kind == "attribute":
        return (
            f"exact; log(window) time per event while `{query.window.attribute}` ascends and is never "
            "null or infinite;\notherwise as many steps as there are answers in a wider window"
        )
    return (
        "log(window) time per event, whatever the number of answers; output-linear delay (Theorem 5.1);\n"
        "counts: at each end as many steps as the window holds partial matches of its keys, at most"
    )


def _speed(query: CompiledQuery) -> str:
    """The same in the words of a user."""
    said = f"O(log n) per event for n events in the window, however many matches there are;\n{LISTED}"
    if query.window is None or query.window.kind != "attribute":
        return said
    return f"{said};\nwhere `{query.window.attribute}` falls, the matches of a wider window are checked"


def _sizes(automaton: PCEA) -> str:
    """How many states and transitions an automaton has."""
    widest = max((len(move.sources) for move in automaton.transitions), default=0)
    gathers = {0: "no run", 1: "one run"}.get(widest, f"up to {widest} runs")
    return (
        f"{len(automaton.names)} states, {len(automaton.transitions)} transitions, size {automaton.size}; "
        f"a transition gathers {gathers}"
    )


def _listing(query: CompiledQuery) -> str:
    """Whether the answers of a source are listed from groups or from the structure, and why."""
    assert isinstance(query.machine, JoinMachine)
    if (reason := query.machine.why_structure(query)) is not None:
        return f"from the persistent structure: {reason}"
    dealt = ", dealt by the key that all share," if query.reading.keys.lane_column.size else ""
    return (
        f"from lists of the events with equal keys{dealt} in the order of the stream:\n"
        "an event costs less than in the structure; a part of the stream comes from the structure where\n"
        f"that costs less: where more than {FEW} answers end at an event on average, or more than\n"
        f"{PASSED} partial matches for each event and answer began before the window; with memory=\n"
        "and on a device all of it does"
    )


def _keys(query: CompiledQuery) -> str:
    """The values that are compared: those that may be equal, space by space."""
    spaces: dict[int, list[str]] = {}
    for column in query.reading.keys.columns:
        text = ", ".join(to_text(key) for key in column.keys)
        spaces.setdefault(column.space, []).append(f"({text})" if len(column.keys) > 1 else text)
    compared = [" = ".join(names) for names in spaces.values()]
    if not compared:
        return "none"
    return "; ".join(compared) + " (equal values numbered once; the look-up table is an array)"


def _cost(tables: JoinTables, lane: Mapping[str, Keys] | None, query: CompiledQuery) -> str:
    """Transitions and look-ups for a relevant event."""
    widest = int(np.diff(tables.first).max(initial=0))
    reads = int(np.diff(tables.read_first).max(initial=0))
    cut = lanes_cut(lane, query)
    return (
        f"at most {counted(widest, 'transition')} for a relevant event, each with at most "
        f"{counted(reads, 'look-up')}; {cut};\ncomplex events: as many steps as they have marks"
        f"{_in_attribute(query)}"
    )


def _in_attribute(query: CompiledQuery) -> str:
    """How answers are listed in a window over an attribute, which may be null or fall."""
    window = query.window
    if window is None or window.kind != "attribute":
        return ""
    return (
        f"\nwhere `{window.attribute}` is null or infinite, answers are listed and compared with the "
        "window; where it falls in a lane, all answers of the lane are;\n"
        f"no relevant event is forgotten, since `{window.attribute}` may fall: "
        f"order_by='{window.attribute}' promises that it does not"
    )
