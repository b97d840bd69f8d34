"""Makes the automata of a regular query: for its matches, for the events before a start, for the strategy.

Where one is too large, the subformula that makes it so is found and named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cer_gpu.automata.cea import CEA, DeterministicCEA, Predicate, distinct
from cer_gpu.automata.construct import construct, relabelled, trim
from cer_gpu.automata.determinise import DEFAULT_BUDGET, determinise
from cer_gpu.automata.match import Budget, of_deterministic, with_barred_starts
from cer_gpu.automata.minimise import merge_symbols, minimise, registers
from cer_gpu.automata.operators.formula import FormulaAutomaton, OperatorSizes
from cer_gpu.automata.operators.monitors import MonitorSplit, monitored
from cer_gpu.automata.operators.selectors import is_single, select
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import SequenceSteps, TransitionTables
from cer_gpu.kernels.runs.programs import sequence_steps
from cer_gpu.language import tree
from cer_gpu.language.printer import abridged
from cer_gpu.language.walk import own_children
from cer_gpu.plan.automaton import SequenceChoice
from cer_gpu.plan.marks import mark_columns, marks_of
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class RegularAutomata:
    """The automata that a regular query runs on.

    Attributes
    ----------
    automaton : DeterministicCEA
        Over symbols, minimal.
    symbol_of : sequence of int
        The symbol of each class of events, which the monitor reads or, without one, the automaton.
    monitor : Monitor or None
    applied : tuple of Applied
        The operators by which the automaton was put together; none for a plain formula.
    """

    automaton: DeterministicCEA
    symbol_of: Sequence[int]
    monitor: Monitor | None
    applied: tuple[OperatorSizes, ...]


@dataclass(frozen=True, slots=True)
class SelectedAutomaton:
    """The automaton after the strategy of SELECT has chosen.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    later : bool
        Whether it chooses among the complex events of each end after they are found: if a window or CONSUME
        BY decides which there are, and the choice depends on that.
    single : bool
        Whether it keeps exactly one complex event of each end.
    tables : TransitionTables or None
        The automaton of the complex events that it keeps; None if it is over the budget and not needed.
    monitor : Monitor or None
        Renames the symbols of the query for `tables`; None if `tables` is None or reads the query's symbols:
        then the choice depends on no window.
    label_has : ndarray, shape (labels, variables), uint8
        The variables that each label of `tables` marks.
    applied : Applied
        The sizes of the automaton before and after.
    """

    strategy: str
    later: bool
    single: bool
    tables: TransitionTables | None
    monitor: Monitor | None
    label_has: np.ndarray
    applied: OperatorSizes

    @property
    def n_symbols(self) -> int:
        """How many symbols its automaton reads."""
        return 0 if self.tables is None else self.tables.n_symbols


def deterministic(
    formula: tree.Pattern, automaton: CEA | FormulaAutomaton, tests: tuple[Predicate, ...], diagram: Diagram
) -> RegularAutomata:
    """The automaton of a regular query, and the monitor of the prefix where it needs one.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form.
    automaton : CEA or Composed
        Of the formula.
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    diagram : Diagram
        Of these predicates.

    Raises
    ------
    LimitError
        When the automaton is over the budget; it names the operator.
    """
    if isinstance(automaton, CEA):
        merged = merge_symbols(minimise(_determinised(formula, automaton, tests, diagram)))
        return RegularAutomata(merged.automaton, merged.symbol, None, ())
    from cer_gpu.automata.operators.compose import compose  # few queries have such operators

    budget = Budget()
    composed = compose(automaton.formula, diagram.outcomes, tests, budget)
    found = monitored(composed.match, budget)
    if found.needed:
        return RegularAutomata(found.automaton, found.symbol_of, monitor_of(found), composed.applied)
    symbols = [found.symbol[0][symbol] for symbol in found.symbol_of]
    return RegularAutomata(found.automaton, symbols, None, composed.applied)


def _determinised(
    formula: tree.Pattern, automaton: CEA, tests: tuple[Predicate, ...], diagram: Diagram
) -> DeterministicCEA:
    try:
        return determinise(automaton, diagram.outcomes, tests)
    except LimitError as error:
        if len(diagram.outcomes) > DEFAULT_BUDGET // SHARE:
            # Any part of the pattern would be large over so many classes.
            raise LimitError(
                f"{error}\nThis comes from the filters: together they divide the events into "
                f"{len(diagram.outcomes):,} classes"
            ) from None
        blamed = cause(formula, diagram.outcomes, tests)
        raise LimitError(
            f"{error}\nThe smallest part of the pattern that is too large:\n  {abridged(blamed)}"
        ) from None


def select_machine(machine: DeterministicCEA, query: tree.SelectQuery) -> SelectedAutomaton:
    """The automaton of the complex events that a strategy chooses among those of another automaton.

    Parameters
    ----------
    machine : DeterministicCEA
        Of the pattern, before the SELECT list.
    query : Query
        Its strategy is NEXT, LAST or MAX. Under a window over an attribute no complex event may start at some
        events, and the automaton has symbols for such events too.

    Raises
    ------
    LimitError
        When the automaton is over the budget and is needed.
    """
    strategy, n_symbols = query.strategy, machine.n_symbols
    if query.window is not None and query.window.kind == "attribute":
        machine = with_barred_starts(machine)
    match = of_deterministic(machine)
    single = strategy is not tree.Strategy.MAX and is_single(match)
    later = query.window is not None or query.consume is not tree.Consume.NONE
    budget = Budget()
    what = f"the automaton of the strategy `{strategy.value}`"
    states = match.automaton.n_states
    try:
        chosen = select(strategy, match, budget, what)
        if query.select is not None:
            from cer_gpu.automata.configurations.unary_operators import LabelOperator
            from cer_gpu.automata.operators.compose import combined

            around = (tree.Project(query.pattern, tuple(item.variable for item in query.select)), None)
            chosen = combined(
                lambda one: LabelOperator(one, lambda label: relabelled(label, around)),
                [chosen],
                budget,
                what,
            )
        found = monitored(chosen, budget)
    except LimitError as error:
        if single and later:  # the engine chooses among the runs themselves
            applied = OperatorSizes(strategy.value, (states,), states)
            return SelectedAutomaton(
                strategy.value, later, single, None, None, np.empty((0, 0), np.uint8), applied
            )
        raise LimitError(f"{error}, or choose another strategy than `{strategy.value}`") from None
    # What is chosen may never mark some variable of the pattern: its column is there, and empty.
    variables, _ = mark_columns(machine.labels, query.select)
    label_has = marks_of(found.automaton.labels, variables)
    monitor = monitor_of(found)
    read = np.array(found.symbol_of)
    monitor = Monitor(monitor.follow[:, read], monitor.symbol[:, read])
    applied = OperatorSizes(strategy.value, (states,), chosen.automaton.n_states)
    whole = tables(found.automaton)
    folded = None if single else _folded(whole, monitor, n_symbols)
    if folded is not None:
        return SelectedAutomaton(strategy.value, False, single, folded, None, label_has, applied)
    return SelectedAutomaton(strategy.value, later, single, whole, monitor, label_has, applied)


def _folded(whole: TransitionTables, monitor: Monitor, n_symbols: int) -> TransitionTables | None:
    """An automaton behind a monitor as one over the symbols that the monitor reads.

    That is possible where the monitor has one state, so that a symbol is renamed alike wherever it stands.
    Of `A ; B+` MAX leaves the sets with all B's since their A: one for each A, whichever of these are
    admitted as starts. Of `(A ; B) OR B` it leaves a B alone only where no A before it is admitted.

    Parameters
    ----------
    whole : TransitionTables
    monitor : Monitor
        Over the symbols of the query, or over these and then those of events at which none starts.
    n_symbols : int
        Of the query.

    Returns
    -------
    TransitionTables or None
        None where there are several states, or where an event that is no start leaves others than those that
        start there.
    """
    if len(monitor.follow) > 1:
        return None
    read = [np.arange(whole.first[symbol], whole.first[symbol + 1]) for symbol in monitor.symbol[0]]
    for own, barred in zip(read, read[n_symbols:]):
        going = own[whole.source[own] != 0]
        if not all(np.array_equal(column[going], column[barred]) for column in whole[1:]):
            return None
    rows = np.concatenate(read[:n_symbols])
    first = np.cumsum([0, *map(len, read[:n_symbols])]).astype(np.int32)
    return TransitionTables(first, *(column[rows] for column in whole[1:]))


def monitor_of(found: MonitorSplit) -> Monitor:
    """The arrays of a monitor."""
    return Monitor(
        np.array(found.follow, np.int32),
        np.array(found.symbol, np.uint16),
    )


def tables(automaton: DeterministicCEA) -> TransitionTables:
    """The arrays of an automaton over merged symbols; states that differ only in being final are one."""
    register = registers(automaton)
    first_of: dict[int, int] = {}
    for state, number in enumerate(register):
        first_of.setdefault(number, state)
    rows = [step for step in automaton.transitions if first_of[register[step.source]] == step.source]
    rows.sort(key=lambda step: (step.symbol, register[step.source], step.label))
    count = np.bincount([step.symbol for step in rows], minlength=automaton.n_symbols)
    return TransitionTables(
        first=np.concatenate([[0], np.cumsum(count)]).astype(np.int32),
        source=np.array([register[step.source] for step in rows], np.int32),
        label=np.array([step.label for step in rows], np.int32),
        target=np.array([register[step.target] for step in rows], np.int32),
        accepting=np.array([step.target in automaton.final for step in rows], np.uint8),
    )


def shown_labels(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """For each label of the automaton, the label in results; 0 if the SELECT list drops all its marks.

    Parameters
    ----------
    before, after : ndarray, shape (labels, variables), uint8
        The variables that each label of either automaton marks.

    Returns
    -------
    ndarray, shape (labels of `before`,), int32
    """
    place = {row.tobytes(): number for number, row in reversed(list(enumerate(after)))}
    return np.array([place.get(row.tobytes(), 0) if row.any() else 0 for row in before], np.int32)


def chosen_sequence(
    every: TransitionTables, selected: SelectedAutomaton, shown: np.ndarray
) -> SequenceChoice | None:
    """The steps of what NEXT or LAST leaves; None where complex events are more than rows of single events.

    An event that the strategy's automaton reads as another symbol, or as a neutral one, is told by that
    symbol. What is left consists of events that it does not leave out.

    Parameters
    ----------
    every : TransitionTables
        Of all complex events, over the symbols of the query.
    selected : SelectedAutomaton
    shown : ndarray, shape (labels,), int32
        For each label of `every` that in results.
    """
    steps = sequence_steps(every) if selected.single else None
    if steps is None or not steps.labels.all():
        return None
    may = steps.may
    if not selected.later and selected.monitor is not None:
        assert selected.tables is not None
        read = selected.monitor.symbol
        may = np.zeros((len(may), selected.n_symbols), np.uint8)
        for symbol in range(1, selected.n_symbols):
            own = np.unique(steps.may[:, np.flatnonzero((read == symbol).any(axis=0))], axis=1)
            if own.shape[1] != 1:
                return None
            may[:, symbol] = own[:, 0]
    return SequenceChoice(SequenceSteps(may, shown[steps.labels]), selected.strategy == "LAST")


SHARE = 16
"""An operand whose automaton takes more than 1 / SHARE of the budget is to blame."""

_STATES = 8_000
"""States of the nondeterministic automata that a search may build: a quarter of a second."""


def cause(
    formula: tree.Pattern,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
    budget: int = DEFAULT_BUDGET,
) -> tree.Pattern:
    """The smallest subformula to blame for an automaton over the budget.

    Descends from `formula` as long as an operand alone, with the AS and PROJECT around it, takes more than
    a sixteenth of the budget. An exploding automaton passes that soon, so this costs little; in a very large
    formula the search ends early.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form; its deterministic automaton is over the budget.
    symbols, predicates
        Those of the whole formula, as given to `determinise`, each predicate once.
    budget : int

    Returns
    -------
    Pattern
        A node of `formula`.
    """
    threshold = budget // SHARE
    left = _STATES
    around: list[tree.As | tree.Project] = []
    while True:
        if isinstance(formula, tree.As | tree.Project):
            around.append(formula)
        for operand in () if isinstance(formula, tree.Filter) else own_children(formula):
            cea = trim(construct(_wrapped(operand, around)))
            left -= cea.n_states
            if left < 0:
                return formula
            if len(distinct((*predicates, *(move.predicate for move in cea.transitions)))) > len(predicates):
                continue  # alone, an operand may look ahead or back in another way than in the whole formula
            try:
                determinise(cea, symbols, predicates, threshold)
            except LimitError:
                formula = operand
                break
        else:
            return formula


def _wrapped(operand: tree.Pattern, around: Sequence[tree.As | tree.Project]) -> tree.Pattern:
    for node in reversed(around):
        operand = replace(node, pattern=operand)
    return operand
