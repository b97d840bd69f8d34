"""The lines of `explain` about a timed query: its class (timed CEL paper), and advice to write one WITHIN."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.automata.cea import OutlookTest
from cer_gpu.automata.timed.parts import BeyondTimedCELError
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, timed_predicates
from cer_gpu.automata.timed.timed_class import class_lines, timed_class
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.walk import leaves_of, rebuild, walk
from cer_gpu.logic.rewriting.places import with_conjuncts
from cer_gpu.plan.assumed_types import assumed_schema
from cer_gpu.plan.axes import OutlookAxis
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.lower import BY_NAME
from cer_gpu.plan.lower.lowering import Refusal
from cer_gpu.plan.outline import Outline, listed, outline
from cer_gpu.plan.refusals import is_timed
from cer_gpu.plan.symbols import fold


def time_lines(outline: Outline) -> list[str]:
    """What is known of the clocks of a timed query, in words; empty for a query without time.

    Parameters
    ----------
    outline : Outline
        Of a query.
    """
    statement, formula = outline.statement, outline.formula
    if not outline.timed or formula is None or isinstance(statement, tree.Rule):
        return []
    compared = outline.correlates
    if compared:
        formula = with_conjuncts(formula, lambda part: not _compares(part))
    bare, formula = formula, listed(_with_window(formula, statement.window), statement)
    apart = ""
    try:
        found = timed_class(formula, lambda timed: _classes(timed, outline))
        if found.not_one_clock and bare != formula:
            alone = timed_class(listed(bare, statement), lambda timed: _classes(timed, outline))
            if alone.one_clock is not None:
                apart = "it is but for WITHIN, which can be kept apart"
    except BeyondTimedCELError as error:
        return [str(error)]
    except LimitError as error:
        return [f"its class is not known: {error}"]
    except (QueryError, TypeError):
        return []
    units = any(isinstance(node, tree.Bound) and node.unit is not None for node in walk(formula))
    lines = class_lines(found, "ns" if units else None)
    if apart:
        lines[-1] += f"; {apart}"
    return ["without its comparisons between events:", *lines] if compared else lines


def _with_window(formula: tree.Pattern, window: tree.Window | None) -> tree.Pattern:
    """The formula with WITHIN of the query, where that measures time, as a window around it."""
    if window is None or window.kind != "time":
        return formula
    return tree.Timed(formula, tree.Interval(None, tree.Bound(window.size, window.unit)))


def _compares(condition: tree.Condition) -> bool:
    """Whether a condition has a part that is no `x[P]`."""
    return not all(isinstance(leaf, tree.Every | tree.Truth) for leaf in leaves_of(condition))


def _classes(timed: TimedCEA, outline: Outline) -> EventClasses:
    """The classes of events that the predicates of an automaton tell apart, whatever the data."""
    tests = timed_predicates(timed)
    looks = [node for node in walk(tests) if isinstance(node, OutlookTest)]
    window = outline.statement.window
    spoken = (*tests, outline.formula) if outline.derives else tests
    schema = assumed_schema(spoken, window)
    deriver = None
    if outline.derives:
        from cer_gpu.plan.derived_columns import Deriver

        deriver = Deriver(schema)
    columns = RoleColumns("type", "stream")
    builder = AxisBuilder(ConstantReader(schema), columns, list(dict.fromkeys(looks)), deriver)
    axes, formulas = builder.build(tests)
    diagram = fold((*axes, *(OutlookAxis() for _ in dict.fromkeys(looks))), formulas)
    return EventClasses(tests, diagram.outcomes)


def one_window_advised(given: Outline) -> str | None:
    """What `explain` says of a query whose intervals keep it from the engines of look-ups; None of others.

    Parameters
    ----------
    given : Outline
        Of a query with intervals of time.
    """
    query = given.statement
    if not given.beyond or isinstance(query, tree.Rule):
        return None
    if not all(isinstance(BY_NAME[engine].lower(given), Refusal) for engine in ("timed", "clock")):
        return None
    bare = outline(replace(query, pattern=_without_intervals(query.pattern)), given.text)
    for engine in ("ordered", "apart"):
        if not isinstance(BY_NAME[engine].lower(bare), Refusal):
            return (
                "with one WITHIN instead of its intervals, if that is what you mean, the engine "
                f"`{engine}`\nwould run it faster"
            )
    return None


def _without_intervals(pattern: tree.Pattern) -> tree.Pattern:
    """The pattern without the intervals of its own operators."""
    if isinstance(pattern, tree.Timed):
        return _without_intervals(pattern.pattern)
    if isinstance(pattern, tree.Sequence | tree.Iteration) and is_timed(pattern):
        pattern = replace(pattern, gap=None)
    return rebuild(pattern, _without_intervals)
