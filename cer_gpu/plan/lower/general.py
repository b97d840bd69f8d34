"""Every query: intervals on any operator, comparisons between any events, and what needs neither.

`PROJECT(A AS a ; A ;[= 1 s] A | a)` has no deterministic timed automaton: any event may be the second one.
`A AS a ; B ; C AS c FILTER c.price > a.price` has none without registers. Both are made deterministic as the
stream runs: open partial matches are kept with the times at which their clocks were set and the values that
later events are compared with. So is any other query that asks for it, `A ; B WITHIN 5 EVENTS` too, and a
rule as a pattern of its atoms: this lowering is the last one that is asked, and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cer_gpu.automata.configurations.comparisons import (
    conditions_in,
    is_correlated,
    iterations_around,
    patterns_in,
    subpatterns,
)
from cer_gpu.automata.configurations.formulas import AttributeSpanWindow, predicates_of, stepped
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.automata.configurations.subset_values import subset_values
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.printer import abridged, to_text
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables, in_a_row, nodes, walk
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan, MarkForm
from cer_gpu.plan.configuration_machine import machine_of, remembers
from cer_gpu.plan.cost import CONFIGURATIONS
from cer_gpu.plan.general import GeneralMachine, StrategyChoice
from cer_gpu.plan.lower.lowering import (
    LISTED,
    BuiltMachine,
    Candidate,
    Description,
    PlainWords,
    Refusal,
    Sketch,
    drawing,
)
from cer_gpu.plan.marks import mark_form, tuple_form
from cer_gpu.plan.named_ends import end_named
from cer_gpu.plan.outline import Outline, bare, chosen, in_time, listed, outline
from cer_gpu.plan.reaches import ASSUMED, longest
from cer_gpu.plan.refusals import is_timed
from cer_gpu.plan.regular_automata import shown_labels
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing

AROUND = (tree.Unless, tree.All, tree.And, tree.Selector, tree.Project, tree.OtherEvent)
"""Operators that keep the clocks of several events at once."""


DOUBLED = 20
"""After so many doublings the limit of open partial matches is near: 1 to 4 million, by what they keep."""

UNBOUNDED = (
    "without WITHIN all partial matches stay open, and each event is compared with up to all of them:\n"
    "10 times as many events take about 100 times as long, and longer if several values are kept;\n"
    "10,000 events of the pattern in a partition take about a second, 100,000 about two minutes"
)
"""What is said of a query that compares each event with all before it; a comparison takes about 10 ns."""


def lower(outline: Outline) -> Candidate | Refusal:
    """The machine of any query; a formula is worked out once, for all schemas."""
    if isinstance(outline.statement, tree.Rule):
        return Candidate(CONFIGURATIONS, lambda schema: _sketch_of_rule(outline, schema))
    formula = cache(lambda: formula_of(outline))
    return Candidate(CONFIGURATIONS, lambda schema: sketch_of(outline.query, *formula(), schema))


def formula_of(outline: Outline) -> tuple[tree.Pattern, Mapping[str, Keys] | None]:
    """The formula of a pattern without WITHIN, strategy and list of SELECT, and the key of its lanes.

    Raises
    ------
    LimitError
        When the normal form would exceed its budget.
    """
    formula, lane = outline.pattern, None
    if outline.correlates:
        from cer_gpu.plan.partitioning import keyed  # a process without comparisons need not load it

        if not outline.beyond:
            formula = chosen(to_lp(bare(outline.query)), outline.query)
        if not outline.query.partition:
            formula, lane = keyed(formula)
    return formula, lane


def sketch_of(
    query: tree.SelectQuery,
    formula: tree.Pattern,
    lane: Mapping[str, Keys] | None,
    schema: Schema | None,
    rule: bool = False,
) -> Sketch:
    """The machines of a pattern; a window over the order is one of time.

    Parameters
    ----------
    query : SelectQuery
    formula, lane
        From `formula_of`.
    schema : Schema or None
        Has the order attribute and its unit, for intervals.
    rule : bool
        Whether the pattern is that of a rule: one event for each atom, in any order.
    """
    tests = predicates_of(formula)
    if schema is not None:
        query = replace(query, window=in_time(query.window, schema.order))
    known = ASSUMED if schema is None else schema

    def machine_for(
        product: Literal["run", "hits"], part: Any, symbols: tuple[frozenset[int], ...]
    ) -> GeneralMachine:
        """The machine of a formula; for hits it reads what the window of the query measures, too."""
        machine = machine_of(stepped(part, symbols, tests), part, symbols, tests, known)
        measured, window = set(), query.window
        if window is not None and product == "hits" and window.kind != "attribute":
            measured.add(TIME if window.kind == "time" else 1 - TIME)
        return replace(
            machine,
            product=product,
            timed=machine.timed or TIME in measured,
            placed=machine.placed or 1 - TIME in measured,
            prefix=remembers(formula),
        )

    def build(diagram: Diagram) -> BuiltMachine:
        """The machines over the classes of events."""
        numbers: dict[frozenset[int], int] = {}
        idle = stepped(formula, diagram.outcomes, tests).idle
        symbol_of = [
            0 if still else numbers.setdefault(outcome, len(numbers) + 1)
            for outcome, still in zip(diagram.outcomes, idle, strict=True)
        ]
        symbols = (frozenset[int](), *numbers)
        whole = _within(listed(formula, query), query.window)
        machine = machine_for("run", whole, symbols)
        automaton = stepped(whole, symbols, tests)
        form = mark_form(automaton.labels, query)
        if query.strategy in tree.CHOOSING:
            chosen, label_has = _chosen(query.strategy, form)
            machine, form = replace(machine, chosen=chosen), replace(form, label_has=label_has)
        return BuiltMachine(
            machine=machine,
            hits_machine=machine_for("hits", _spanned(tree.Project(formula, ()), query.window), symbols),
            form=form,
            symbol_of=symbol_of,
            n_symbols=len(symbols),
            keys=KeyPlan.of_lane(lane, len(symbols)),
            never=len(symbols) == 1,
            lane=lane,
            explained=lambda compiled: Description(
                kind=_kind(formula, machine, lane is not None, rule),
                engine=_engine(machine),
                guarantee="no match is found twice, output-linear delay; an event costs as much as is open "
                "around it",
                plain=_plain(formula, machine, rule),
                structure=(
                    ("formula", to_text(formula)),
                    *growth_told(formula, machine, query.window),
                    *_advice(query, machine, lane is not None, rule, compiled),
                ),
                relevant=len(symbols) - 1,
                cost=_cost(formula, machine, lane is not None or bool(query.partition), compiled),
                keys=", ".join(map(to_text, automaton.columns)) or None,
            ),
            drawing=lambda: _drawing(formula),
            counts_machine=replace(machine, product="counts"),
            values=automaton.columns,
            windowed=query.window is not None and query.window.kind == "attribute",
            span=longest(formula, known),
        )

    return Sketch(tests, build)


def _sketch_of_rule(known: Outline, schema: Schema | None) -> Sketch:
    """A rule as a pattern; until the schema is known, attributes given by position have made-up names."""
    from cer_gpu.joins.patterns import name_of, pattern_of  # a process without rules need not load it
    from cer_gpu.joins.query import from_rule

    rule = known.rule
    body = from_rule(resolve(rule, schema))
    query = tree.SelectQuery(pattern_of(body), window=rule.window, span=rule.span)
    sketch = sketch_of(query, *formula_of(outline(query, known.text)), schema, rule=True)

    def build(diagram: Diagram) -> BuiltMachine:
        """The machines over the classes of events, whose answers have an event for each atom."""
        built = sketch.build(diagram)
        assert isinstance(built.form, MarkForm)
        assert isinstance(built.machine, GeneralMachine)
        variables = built.form.variables
        fills = np.zeros((len(built.form.label_has), len(body.atoms)), np.uint8)
        for atom in body.atoms:
            if name_of(atom) in variables:  # else no event fits it
                fills[:, atom.id] = built.form.label_has[:, variables.index(name_of(atom))]
        machine = replace(built.machine, label_atoms=fills)
        return replace(built, machine=machine, form=tuple_form(rule, body))

    return Sketch(sketch.tests, build)


def _chosen(strategy: tree.Strategy, form: MarkForm) -> tuple[StrategyChoice, np.ndarray]:
    """How a strategy chooses, and which variables the labels mark that are shown of what it leaves.

    Labels are in the order of the names that they mark, as everywhere: answers that mark the same positions
    come in this order.
    """
    names = np.array(form.variables, object)
    rows = np.unique(form.label_has, axis=0)
    marking = sorted(rows[rows.any(1)], key=lambda row: sorted(names[row != 0]))
    shown = np.array([np.zeros(len(names)), *marking], np.uint8)
    return StrategyChoice(strategy.name, shown_labels(form.label_has, shown)), shown


def _within(formula: Any, window: tree.Window | None) -> Any:
    """A formula with the window of the query as an operator."""
    if window is None:
        return formula
    if window.kind == "attribute":
        return _spanned(formula, window)
    unit = window.unit if window.kind == "time" else EVENTS
    return tree.Timed(formula, tree.Interval(None, tree.Bound(window.size, unit)))


def _spanned(formula: Any, window: tree.Window | None) -> Any:
    """A formula with a window over an attribute as an operator."""
    if window is None or window.kind != "attribute" or window.attribute is None:
        return formula
    return AttributeSpanWindow(formula, tree.Attribute(window.attribute), window.size)


def _kind(formula: tree.Pattern, machine: GeneralMachine, laned: bool, rule: bool) -> str:
    """The class of the query, and the operators that make it so."""
    if rule:
        return "a rule, as a pattern with one event for each atom, in any order"
    found = next(iter(conditions_in(formula)), None)
    if found is not None:
        return f"compared: `{to_text(found)}` needs the values of earlier events"
    if not _is_timed(formula):
        own = "" if not laned else ", beside the key that all events of a match share"
        return f"regular: every filter speaks of one event{own}"
    if machine.registers:
        return "compared: WITHIN over an attribute stands beside an interval"
    return f"timed: {_reason(formula)}"


def _plain(formula: tree.Pattern, machine: GeneralMachine, rule: bool) -> PlainWords:
    """The same in the words of a user."""
    found = next(iter(conditions_in(formula)), None)
    if rule:
        why = "a rule, run as a pattern whose events come in any order"
    elif found is not None:
        why = f"`{to_text(found)}` needs the values of earlier events"
    elif not _is_timed(formula):
        why = "every filter is about one event"
    elif machine.registers:
        why = "WITHIN over an attribute is combined with a bound of time"
    else:
        why = _reason(formula)
    how = "partial matches are kept one by one, with the values and times that later events need"
    if machine.registers and machine.held is None:
        how += f";\nthey are compared in Python, which is slow, since 64 bits do not hold {machine.beyond}"
    speed = f"an event costs as many steps as there are partial matches that it may extend;\n{LISTED}"
    return PlainWords(why, how, speed)


def growth_told(
    formula: tree.Pattern, machine: GeneralMachine, window: tree.Window | None
) -> Iterator[tuple[str, str]]:
    """That the cost grows faster than the events, and an estimate of it; nothing where it does not."""
    if (found := next(subset_values(formula), None)) is not None:
        said = "partial matches may double with each event in the window"
        yield "growth", f"{said}:\n{found.growth};\n{_most(window)}"
    elif machine.registers and window is None and not _kept_in_a_row(formula):
        yield "growth", UNBOUNDED


def _kept_in_a_row(formula: tree.Pattern) -> bool:
    """Whether values are kept only while events follow one another without a gap."""
    for node in subpatterns(formula):
        if not is_correlated(node):
            continue
        names = condition_variables(node.condition)
        earlier = any(getattr(part, "prior", "") for part in walk(node.condition))
        repetitions = iterations_around(formula, node) if earlier else []
        if not in_a_row(repetitions[-1] if repetitions else _smallest(node, names)):
            return False
    return True


def _smallest(pattern: tree.Pattern, names: frozenset[str]) -> tree.Pattern:
    """The smallest part of a pattern that marks all events of some variables."""
    inside = next((one for one in patterns_in(pattern) if names <= variables(one)), None)
    return pattern if inside is None else _smallest(inside, names)


def _most(window: tree.Window | None) -> str:
    """How far partial matches can double."""
    if window is not None and window.kind == "events" and window.size < DOUBLED:
        events = int(window.size) + 1
        return f"a window has at most {events} events, so at most {2**events:,} partial matches are open"
    return f"about {DOUBLED} such events at once reach the limit of open partial matches (LimitError)"


def _is_timed(formula: tree.Pattern) -> bool:
    """Whether an interval of time stands in the pattern."""
    return any(map(is_timed, subpatterns(formula)))


def _reason(formula: tree.Pattern) -> str:
    """Why partial matches are kept one by one."""
    if any(isinstance(node, tree.Timed) for node in nodes(formula)):
        return "a window inside the pattern is open while other intervals come and go"
    found = next((node for node in nodes(formula) if isinstance(node, AROUND)), None)
    if found is not None:
        return f"`{abridged(found)}` needs the times of several events at once"
    return "its intervals speak of events that are not marked, so that several may be meant"


def _engine(machine: GeneralMachine) -> str:
    """What runs."""
    if not (machine.registers or machine.timed or machine.placed):
        return "configurations: partial matches, made deterministic on the stream"
    if not machine.registers:
        return (
            "configurations: partial matches with the times at which their clocks were set, made\n"
            "deterministic on the stream"
        )
    how = "compiled"
    if machine.held is None:
        how = f"one by one in Python, as no words of 64 bits hold {machine.beyond}"
    return (
        "configurations: partial matches with the values that later events are compared with, made\n"
        f"deterministic on the stream; compared {how}"
    )


def _advice(
    query: tree.SelectQuery, machine: GeneralMachine, laned: bool, rule: bool, compiled: CompiledQuery
) -> Iterator[tuple[str, str]]:
    """Which small changes of the query would make it fast."""
    if not machine.registers:
        return
    found = []
    if machine.held is None:
        found.append(
            "comparisons between numbers, times, texts and decimals are compiled:\n"
            f"cast a column, or avoid {machine.beyond}"
        )
    if (subset := next(subset_values(query.pattern), None)) is not None:
        found.append(subset.remedy.replace(", or ask", ",\nor ask"))
    if not rule and (advice := end_named(query.pattern)) is not None:
        found.append(advice)
    if not laned and not query.partition:
        found.append(
            "if an attribute is equal in all events of a match, PARTITION BY it: an event is then "
            "compared\n"
            "only with the partial matches of its partition"
        )
    if compiled.window is None:
        found.append("WITHIN drops partial matches that are too old")
    if found:
        yield "faster", "\n".join(found)


def _cost(formula: tree.Pattern, machine: GeneralMachine, laned: bool, query: CompiledQuery) -> str:
    """What an event costs; `laned`: whether there are lanes."""
    cores = "the cores share the lanes" if laned and query.consume != "ANY" else "one core"
    if machine.registers:
        return (
            "an event is compared with the configurations of its lane that its kind changes, at worst\n"
            "one for each start that is open and each of the values that are kept; if its first\n"
            "comparison is with one of these values (= < <= > >=), it looks up those that fit;\n"
            f"{_choice(machine)}{cores}"
        )
    said = (
        "an event touches the configurations of its lane that its kind changes: for a chain of marked\n"
        "steps as many as there are events in its gaps, at worst that to the power of the number of "
        "clocks"
    )
    if not _is_timed(formula):
        said = (
            "an event touches the configurations of its lane that its kind changes: at most as many as\n"
            "the automaton of the pattern has states, once it is deterministic"
        )
    if query.window is not None:
        said += ";\nfor counts and lists, times the number of starts that are open in WITHIN"
    return f"{said}; {_choice(machine)}{cores}"


def _choice(machine: GeneralMachine) -> str:
    """What the choice of the strategy costs."""
    chosen = machine.chosen
    if chosen is None:
        return ""
    left = "the partial matches that no other of its\nown contains"
    if chosen.strategy != "MAX":
        left = "the best of its partial\nmatches"
    return f"{chosen.strategy}: where something\nends, each node of the structure below it keeps {left}; "


def _drawing(formula: tree.Pattern) -> Drawing:
    """The timed automaton before it is made deterministic.

    Raises
    ------
    LimitError
        When timed automata do not express an operator, or there are too many states.
    """
    from cer_gpu.automata.timed.agreement import merged_clocks
    from cer_gpu.automata.timed.construction import timed_cea
    from cer_gpu.automata.timed.parts import BeyondTimedCELError

    units = any(isinstance(node, tree.Bound) and node.unit is not None for node in walk(formula))
    try:
        timed = timed_cea(formula)
    except BeyondTimedCELError as error:
        raise LimitError(
            f"{error}: its automaton is made while the stream runs, and cannot be drawn"
        ) from None
    return drawing.of_timed(merged_clocks(timed).timed, units)
