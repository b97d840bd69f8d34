"""Strategies of SELECT over compared steps, if positions alone decide what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cer_gpu.automata.compared_steps import ComparedAutomaton
from cer_gpu.automata.comparisons import beyond
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.marked_automaton import ANY_PLACE
from cer_gpu.kernels.comparisons.contract import Climb, ComparedTables
from cer_gpu.language import tree
from cer_gpu.plan.comparisons import OPERATIONS, ComparedChoice

GROUPS = 60
"""So many states that one event may enter are followed at most where a strategy chooses: bits of a word."""

RISES = ("<", "<=", ">", ">=")


def compared_choice(
    found: ComparedAutomaton, tables: ComparedTables, query: tree.SelectQuery, label_has: np.ndarray
) -> ComparedChoice | None:
    """The choice of a query's strategy; None if it keeps every complex event.

    All matches of `a ; b` have equally many events, so MAX keeps all. For `(T AS x FILTER x.price >
    PRIOR(x).price){6,}` it keeps those into which no further event can be inserted.

    Parameters
    ----------
    found : ComparedAutomaton
    tables : ComparedTables
    query : SelectQuery
        Its strategy is NEXT, LAST or MAX.
    label_has : ndarray, shape (labels, variables), uint8

    Raises
    ------
    QueryError
        CER091, when positions alone do not decide what the strategy keeps.
    """
    strategy = query.strategy.value
    if query.window is not None and query.window.kind == "attribute":
        raise beyond(f"`{strategy}` chooses among the matches that a window over an attribute keeps")
    if not all(found.state_label):
        raise beyond(f"`{strategy}` chooses by marked events, and an event here keeps no mark")
    shown: np.ndarray = (label_has != 0).sum(axis=1) > 0
    if query.strategy is not tree.Strategy.MAX:
        for begin, stop in pairwise(tables.first.tolist()):
            if stop - begin > GROUPS:
                raise beyond(f"one event may enter {stop - begin} states, among which `{strategy}` chooses")
        if _is_ambiguous(found):
            raise beyond(
                f"`{strategy}` keeps all matches with the same events, and here there may be several"
            )
        return ComparedChoice(strategy, None, shown)
    rows = [tuple(row) for row in label_has[1:].tolist()]
    if not shown[1:].all() or len(set(rows)) < len(rows):
        raise beyond("the SELECT list drops marks by which `MAX` chooses")
    if _equally_long(found):
        return None
    climb = _climb(found, tables)
    if climb is None:
        raise beyond("which matches `MAX` keeps depends on more than two events at a time")
    return ComparedChoice(strategy, climb, shown)


def _is_ambiguous(found: ComparedAutomaton) -> bool:
    """Whether two matches may have the same events, so that only their marks tell them apart."""
    leaving: dict[int, list[tuple[int, int]]] = {-1: list(found.starts)}
    for view, symbol, target in found.moves:
        leaving.setdefault(view.source, []).append((symbol, target))

    def follow(pair: tuple[int, int]) -> Iterator[tuple[None, tuple[int, int]]]:
        for symbol, target in leaving.get(pair[0], ()):
            for same, beside in leaving.get(pair[1], ()):
                if same == symbol:
                    yield None, (target, beside)

    pairs = explore((-1, -1), follow, found.final.issuperset, None, "comparing matches")
    arcs = ((source, target) for source, _, target in pairs.edges)
    useful = coreachable(len(pairs.states), arcs, pairs.final)
    return any(pairs.states[place][0] != pairs.states[place][1] for place in useful)


def _arcs(found: ComparedAutomaton) -> Iterator[tuple[int, int]]:
    """The states that follow each other; -1 is before the first."""
    yield from ((-1, state) for _, state in found.starts)
    yield from ((view.source, target) for view, _, target in found.moves)


def _depths(found: ComparedAutomaton) -> dict[int, int]:
    """For each state the least number of events of a run to it."""
    depth, arcs = {-1: 0}, list(dict.fromkeys(_arcs(found)))
    for _ in found.state_label:
        for source, target in arcs:
            if source in depth:
                depth[target] = min(depth.get(target, len(arcs) + 1), depth[source] + 1)
    return depth


def _equally_long(found: ComparedAutomaton) -> bool:
    """Whether all matches have as many events."""
    depth = _depths(found)
    even = all(depth[target] == depth[source] + 1 for source, target in _arcs(found))
    return even and len({depth[state] for state in found.final}) <= 1


def _climb(found: ComparedAutomaton, tables: ComparedTables) -> Climb | None:
    """The automaton as chains of n events and more that rise two by two; None where it is none."""
    depth = _depths(found)
    states = sorted(range(len(found.state_label)), key=lambda state: depth[state])
    least = len(states)
    tests = {view.tests for view in found.views}
    if [depth[state] for state in states] != list(range(1, least + 1)) or len(tests) != 1:
        return None
    if found.final != {states[-1]} or any(view.near != ANY_PLACE for view in found.views):
        return None
    symbols = {symbol for symbol, _ in found.starts}
    moves = {(view.source, symbol, target) for view, symbol, target in found.moves}
    onward = [*pairwise(states), (states[-1], states[-1])]
    every = {(source, symbol, target) for symbol in symbols for source, target in onward}
    if moves != every or set(found.starts) != {(symbol, states[0]) for symbol in symbols}:
        return None
    (shared,) = tests
    ordered = [test for test in shared if test.op != "="]
    if any(test.old != test.new for test in shared) or len(ordered) > 1:
        return None
    if ordered and ordered[0].op not in RISES:
        return None
    group = np.full((found.n_symbols, least), -1, np.int32)
    for symbol in symbols:
        entered = tables.group_state[tables.first[symbol] : tables.first[symbol + 1]].tolist()
        group[symbol] = [entered.index(state) for state in states]
    view = next(number for number, view in enumerate(found.views) if view.source == states[0])
    return Climb(view, OPERATIONS[ordered[0].op] if ordered else -1, group)
