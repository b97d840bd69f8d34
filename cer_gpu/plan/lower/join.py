"""Rules of any form: with comparisons between atoms, not hierarchical, cyclic, or disconnected.

`Q(x) <- Buy(symbol = x, price = p), Sell(symbol = x, price = q), q > 1.05 * p` is answered by lookups: from
the latest event of an answer to one atom after another, through indexes by equal values and by order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cer_gpu.automata.cea import distinct, identity
from cer_gpu.joins.hierarchy import diagnose, is_acyclic
from cer_gpu.joins.lookups import Lookup, LookupPlan, Path, lookup_plan
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.joins.theta.rule_query import ANSWER, ROW, listed_query, whole_query
from cer_gpu.joins.unify import self_join
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.language.words import written
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.join_arrays import SlotColumns, ask_lanes
from cer_gpu.plan.lower.lowering import (
    BuiltMachine,
    Candidate,
    Description,
    PlainWords,
    Refusal,
    Sketch,
    drawing,
)
from cer_gpu.plan.marks import tuple_form
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.phrases import counted
from cer_gpu.plan.symbols import Diagram
from cer_gpu.plan.tuples import TupleMachine

COSTS: dict[Question, Cost] = {
    "hits": Cost(10, 1, "look-ups of one atom after another"),
    "counts": Cost(10, 1, "look-ups of one atom after another"),
    "lists": Cost(10, 3, "look-ups of one atom after another"),
    "pushes": Cost(10, 3, "look-ups of one atom after another"),
}


def lower(outline: Outline) -> Candidate | Refusal:
    """How the atoms of a rule are looked up."""
    return Candidate(COSTS, lambda schema: _sketch(outline.rule, schema))


def _sketch(rule: tree.Rule, schema: Schema | None) -> Sketch:
    """The look-ups; until the schema is known, attributes that are given by position have made-up names."""
    body = from_rule(resolve(rule, schema))
    lookups, lane = lookup_plan(body), common_keys(body)
    joined = [self_join([atom]) for atom in body.atoms]
    tests = distinct(one.predicate for one in joined if one is not None)
    number = {identity(test): place for place, test in enumerate(tests)}
    # For each atom the number of its test; None if no event fits it.
    fitting = [None if one is None else number[identity(one.predicate)] for one in joined]

    def build(diagram: Diagram) -> BuiltMachine:
        """The machine, and what the answers are made of."""
        numbers = {frozenset[int](): 0}
        symbol_of = [
            numbers.setdefault(
                frozenset(atom for atom, test in enumerate(fitting) if test is not None and test in outcome),
                len(numbers),
            )
            for outcome in diagram.outcomes
        ]
        fits = np.array([[atom.id in atoms for atom in body.atoms] for atoms in numbers], bool)
        columns = SlotColumns(lane)
        number_of = _columns_of(columns, lookups)
        built, _ = columns.built()
        asked = np.zeros((len(numbers), len(built)), bool)
        for (_, atom), column in number_of.items():
            asked[fits[:, atom], column] = True
        lane_column = columns.lane_column(
            body.atoms[min(atoms)].type.name if atoms else None for atoms in numbers
        )
        ask_lanes(asked, lane_column)
        known = {} if schema is None else schema.units
        compared = _compared(lookups)
        units = {name: unit for name, unit in known.items() if name in compared}
        machine = TupleMachine("run", lookups, fits, number_of, units)
        return BuiltMachine(
            machine=machine,
            hits_machine=replace(machine, product="hits"),
            counts_machine=replace(machine, product="counts"),
            form=tuple_form(rule, body),
            symbol_of=symbol_of,
            n_symbols=len(numbers),
            keys=KeyPlan(built, lane_column, asked),
            never=not fits.any(axis=0).all(),
            lane=lane,
            explained=lambda compiled: Description(
                kind=_kind(body),
                engine=(
                    "lookups: from the latest event of an answer to one atom after another, through sorted "
                    "indexes"
                ),
                guarantee=_guarantee(compiled),
                plain=PlainWords(
                    "a rule with comparisons between events" if body.comparisons else _kind_plain(body),
                    "from the latest event of a match, the other events are looked up one after another",
                    "O(log n) per look-up for n events in the window; an event costs as many look-ups as "
                    "there are\npartial matches that it may complete",
                ),
                structure=(
                    ("lookups", "\n".join(_path(path, body, lookups) for path in lookups.paths)),
                    *_growth(body, compiled),
                    *_faster(body, lookups, compiled),
                ),
                relevant=len(numbers) - 1,
                cost=_cost(lookups, compiled),
                keys=_keys(body, lookups),
            ),
            drawing=lambda: drawing.of_rule(body, lookups),
            compared=compared,
        )

    return Sketch(tests, build)


def _columns_of(columns: SlotColumns, lookups: LookupPlan) -> Mapping[tuple[int, int], int]:
    """The column of each joined variable at each atom that has it; those of one variable share a space."""
    found: dict[tuple[int, int], int] = {}
    for number, joined in enumerate(lookups.joined):
        keys = {atom: (tree.Attribute(name),) for atom, name in joined.attribute_of.items()}
        first = next(iter(keys.values()))
        for atom, key in keys.items():
            found[number, atom] = columns.number(key)
            columns.link(first, key)
    return found


def _compared(lookups: LookupPlan) -> tuple[str, ...]:
    """The attributes whose values are compared."""
    sides = [side for one in lookups.compared for side in one.sides]
    names: Sequence[str] = [name for side in sides for name in sorted(attributes_of(side))]
    checked = [name for one in lookups.checked for _, name in one.place_of.values()]
    return tuple(dict.fromkeys([*names, *checked]))


def _kind(body: ConjunctiveQuery) -> str:
    """The class of the query."""
    shape = "acyclic" if is_acyclic(body) else "cyclic"
    if body.comparisons:
        return f"a rule with comparisons between atoms, {shape} in its equalities"
    hierarchical = diagnose(body) is None
    return f"a conjunctive query, {'hierarchical' if hierarchical else f'{shape}, not hierarchical'}"


def _kind_plain(body: ConjunctiveQuery) -> str:
    """Which rule it is, in the words of a user."""
    return "a hierarchical rule" if diagnose(body) is None else "a rule that is not hierarchical"


def _guarantee(query: CompiledQuery) -> str:
    """What an event and an answer cost, whatever the data."""
    within = "" if query.window is None else " in its window"
    return (
        "exact, in memory that does not grow with the number of answers; a lookup takes logarithmic "
        f"time\nand gives the events of one key{within}: as many steps as there are partial answers"
    )


def _keys(body: ConjunctiveQuery, lookups: LookupPlan) -> str:
    """The variables that join atoms, and the comparisons between them."""
    said = [
        f"`{written(joined.name)}` joins {', '.join(body.atoms[atom].text for atom in joined.attribute_of)}"
        for joined in lookups.joined
    ]
    said += [f"{to_text(one.source)} (by order)" for one in lookups.compared]
    said += [f"{to_text(one.source)} (checked for each partial answer)" for one in lookups.checked]
    return "\n".join(said) or "none"


def _growth(body: ConjunctiveQuery, query: CompiledQuery) -> Iterator[tuple[str, str]]:
    """That the cost may grow faster than the events."""
    if len(body.atoms) > 2 and query.window is None:
        yield (
            "growth",
            "without WITHIN each event is looked up with all partial matches before it, also those that no\n"
            "last event completes: with few different keys, 10 times as many events take up to 100 times as\n"
            "long for hits and lists, and for counts where the event types are joined in a circle",
        )


def _cost(lookups: LookupPlan, query: CompiledQuery) -> str:
    """How many steps it takes."""
    apart = [len(path.steps) - path.apart for path in lookups.paths]
    most = max((len(path.steps) for path in lookups.paths), default=0)
    saved = (
        f"counting multiplies over the last {counted(min(apart), 'atom')} of each path, without listing them"
        if min(apart, default=0) > 1
        else "counting sums over the last atom of each path, without listing it"
    )
    told = f"{counted(most, 'lookup')} for an event and each atom that it fits; {saved}"
    plain = query.window is None and query.limit is None and query.consume == "NONE"
    if plain and whole_query(lookups) is not None:
        told += (
            "\ncount() counts all answers over a join tree, as a view does, where that takes fewer steps "
            "than\nthere are partial answers: O(n log n) with one inequality between two atoms"
        )
    if listed_query(lookups) is not None:
        told += (
            "\nif most partial answers lead to no answer, a view lists the answers, and a window deletes "
            "old events from it:\nif there are more partial answers, which are counted first, than "
            f"{ROW} for each event that fits an\natom and {ANSWER} for each answer"
        )
    return told


def _path(path: Path, body: ConjunctiveQuery, lookups: LookupPlan) -> str:
    first = body.atoms[path.latest].text
    rest = "".join(f", then {_step(step, body, lookups)}" for step in path.steps)
    return f"from {first}{rest}"


def _step(step: Lookup, body: ConjunctiveQuery, lookups: LookupPlan) -> str:
    by = [f"`{written(lookups.joined[number].name)}`" for number, _ in step.equal]
    by += [to_text(lookups.compared[number].source) for number in step.compared]
    found = body.atoms[step.atom].text
    return f"{found} by {' and '.join(by)}" if by else f"every {found}"


def _faster(body: ConjunctiveQuery, lookups: LookupPlan, query: CompiledQuery) -> Iterator[tuple[str, str]]:
    """Which change of the rule would make it fast."""
    hints = []
    if query.window is None:
        hints.append("WITHIN bounds the events that a look-up finds")
    alone = [step for path in lookups.paths for step in path.steps if not step.equal]
    if alone and not query.reading.keys.columns:
        hints.append(
            "a variable that event types share (`T(symbol = x), S(symbol = x)`) makes a look-up fast"
        )
    found = diagnose(body)
    if found is not None and not body.comparisons:
        hints.append(f"a hierarchical rule takes O(log n) per event: {found.hints[0]}")
    if hints:
        yield "faster", ";\n".join(hints)
