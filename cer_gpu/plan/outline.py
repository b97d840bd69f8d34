"""Makes the outline of a checked query, which every lowering looks at before any data is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.measures import with_what_is_read
from cer_gpu.language.repetition_edges import is_joint
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import has_parameter, nodes, walk
from cer_gpu.logic.binding import reads
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.formulas import correlates, without_besides
from cer_gpu.logic.lp import to_lp
from cer_gpu.logic.outer_predicates import without
from cer_gpu.plan.refusals import beyond_equalities, is_timed

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.partitioning import SharedKey


@dataclass(frozen=True, slots=True)
class Outline:
    """A statement with everything that several lowerings need to know of it, worked out once.

    Attributes
    ----------
    statement : Query or Rule
        Well-formed.
    text : str
        As it was written.
    formula : Pattern or None
        The pattern in LP-normal form, without the SELECT list; None for a rule.
    correlates : bool
        Whether a filter of the formula compares events of two variables, not counting right sides of FOLLOWED
        BY and PRECEDED BY.
    derives : bool
        Whether a filter uses PREV or a function.
    shared : SharedKey or None
        The attributes in which all events of a complex event agree, by the formula's equalities.
    timed : bool
        Whether the pattern has intervals of time, not counting those of FOLLOWED BY and PRECEDED BY and of
        their right sides.
    beyond : str
        The first comparison that is not an equality of two events, in words; empty if there is none.
    hidden : bool
        Whether the SELECT list is `NONE` with measures, so that variables are kept for these only.
    spans : tuple of Bound
        Bounds of intervals that the statement has in its window instead; see `outline`.
    bounds : tuple of Condition
        Conditions that the statement has in its window instead; see `bounded`.
    written : SelectQuery or None
        The statement with these intervals where they are written; see `as_written`.
    previous : bool
        Whether the statement reads PREV where a comparison or an interval is written; see `with_previous`.
    previous_inside : bool
        Whether nothing else reads PREV, so that all events that it reads are of the same match.
    span : number or None
        The longest time from start to end that these intervals allow; None: any.
    """

    statement: tree.Statement
    text: str
    formula: tree.Pattern | None = None
    correlates: bool = False
    derives: bool = False
    shared: SharedKey | None = None
    hidden: bool = False
    timed: bool = False
    beyond: str = ""
    spans: tuple[tree.Bound, ...] = ()
    bounds: tuple[tree.Condition, ...] = ()
    written: tree.SelectQuery | None = None
    previous: bool = False
    previous_inside: bool = False
    span: int | float | None = None

    @property
    def query(self) -> tree.SelectQuery:
        """The statement, if it is no rule."""
        assert isinstance(self.statement, tree.SelectQuery)
        return self.statement

    @property
    def rule(self) -> tree.Rule:
        """The statement, if it is one."""
        assert isinstance(self.statement, tree.Rule)
        return self.statement

    @property
    def pattern(self) -> tree.Pattern:
        """The formula, if the statement is no rule."""
        assert self.formula is not None
        return self.formula

    def by_key(self) -> tuple[tree.Pattern, Mapping[str, Keys] | None] | None:
        """A formula that compares no events, and for each event type the key of the lanes that it runs on.

        Returns
        -------
        (Pattern, mapping of str to Keys, or None), or None
            The key is None if the formula of the query compares no events itself. None if its comparisons do
            not make all events of an answer share one key, the same attributes for all event types.
        """
        if not self.correlates:
            return self.pattern, None
        shared = self.shared
        if shared is None or not shared.uniform or correlates(shared.pattern):
            return None
        return shared.pattern, shared.lane


def over_order(known: Outline, order: str | None) -> Outline:
    """The outline of a query over data whose order is known: a window over this attribute is one of time."""
    window = known.statement.window
    timed = in_time(window, order)
    return known if timed is window else replace(known, statement=replace(known.statement, window=timed))


def bounded(known: Outline, schema: Schema) -> Outline:
    """The outline of a query over data of a schema, with filters that bound a whole match as its window.

    What filters that only compare the times of the first event and the last say, WITHIN says too, but only
    once it is known which attribute is the order of the events.
    """
    if (query := _boundable(known)) is None:
        return known
    from cer_gpu.logic.rewriting.windows_of_filters import with_window

    windowed, conditions = with_window(query, schema)
    return replace(outline(windowed, known.text), bounds=conditions) if conditions else known


def ranked(known: Outline, schema: Schema) -> tuple[Outline, Schema] | None:
    """The outline of a query that compares places of categories in their order, and a schema that has them.

    None where the query compares no ordered categories by order.
    """
    from cer_gpu.logic.rewriting.ranks import with_ranks

    found = with_ranks(known.statement, schema)
    if found is None:
        return None
    statement, placed = found
    made = outline(statement, known.text)
    derives = made.derives or bool(placed.ranks)
    return replace(made, derives=derives, spans=(*known.spans, *made.spans)), placed


def with_previous(known: Outline, schema: Schema | None) -> Outline | None:
    """The outline of a query in which PREV replaces comparisons and intervals of neighbours.

    Parameters
    ----------
    known : Outline
    schema : Schema or None
        None: it is not known which attribute intervals measure, and they stay.

    Returns
    -------
    Outline or None
        None where there is no such comparison or interval.
    """
    query = known.statement
    if isinstance(query, tree.Rule) or not any(
        getattr(node, "contiguous", False) for node in nodes(query.pattern)
    ):
        return None
    from cer_gpu.logic.rewriting import previous_events as rewriting

    pattern = rewriting.comparisons_with_previous(query.pattern)
    if schema is not None and schema.order is not None and known.timed:
        unrolls = not any(map(is_joint, walk((pattern, query.measures))))
        gap = partial(rewriting.since_previous, schema=schema)
        pattern = rewriting.intervals_with_previous(pattern, gap, unrolls)
    if pattern is query.pattern:
        return None
    query, spans = replace(query, pattern=pattern), known.spans
    if not spans:
        query, spans = _canonical(query)
    made = _outline(query, known.text, spans)
    span: int | float | None = None
    inside = not any(isinstance(node, tree.Previous) for node in walk(known.statement))
    if schema is not None and known.timed:
        from cer_gpu.plan.reaches import longest

        span = longest(known.pattern, schema)
    return replace(
        made, hidden=known.hidden, bounds=known.bounds, previous=True, previous_inside=inside, span=span
    )


def with_single_repetitions(known: Outline) -> Outline | None:
    """The outline of a query with the same hits that repeats less; None where there is none.

    Only where events are compared do partial matches differ by what was repeated.
    """
    if not known.correlates or isinstance(known.statement, tree.Rule):
        return None
    from cer_gpu.logic.rewriting.repetitions import with_single_repetitions

    query = with_single_repetitions(known.statement)
    return None if query is None else replace(outline(query, known.text), bounds=known.bounds)


def order_that_bounds(known: Outline) -> tuple[str, tuple[tree.Condition, ...]] | None:
    """The attribute that makes filters of a query a window if it is the order, and these filters."""
    if (query := _boundable(known)) is None:
        return None
    from cer_gpu.logic.rewriting import windows_of_filters

    return windows_of_filters.order_that_bounds(query)


def _boundable(known: Outline) -> tree.SelectQuery | None:
    """The query of an outline, if a filter of it may become its window."""
    query = known.statement
    if not isinstance(query, tree.SelectQuery) or known.hidden or known.spans or not known.correlates:
        return None
    if query.strategy in tree.CHOOSING or query.consume is not tree.Consume.NONE:
        return None
    return None if has_parameter(query) else query


def in_time(window: tree.Window | None, order: str | None) -> tree.Window | None:
    """A window over the order as one of time, in the unit of the data; any other as it is."""
    if window is None or window.kind != "attribute" or window.attribute != order:
        return window
    return replace(window, kind="time", attribute=None)


def outline(statement: tree.Statement, text: str) -> Outline:
    """The part of compilation that needs neither data nor a choice of lowering.

    Parameters
    ----------
    statement : Query or Rule
        Well-formed.

    Raises
    ------
    LimitError
        When the normal form would exceed its budget.
    """
    statement = rewritten_statement(_with_edges(statement))
    if isinstance(statement, tree.Rule):
        return Outline(statement, text)
    canonical, spans = _canonical(statement)
    found = _outline(canonical, text, spans)
    return replace(found, written=statement) if spans else found


def as_written(known: Outline) -> Outline:
    """The outline with intervals where they are written, for an engine that is asked for by name."""
    return known if known.written is None else _outline(known.written, known.text, ())


def _canonical(query: tree.SelectQuery) -> tuple[tree.SelectQuery, tuple[tree.Bound, ...]]:
    """A query with a selector around its pattern as its strategy, and intervals around it as WITHIN; these.

    Intervals stay where others remain inside, unless events are compared: such machines take no intervals.
    """
    spans: tuple[tree.Bound, ...] = ()
    if isinstance(query.pattern, tree.Selector):
        from cer_gpu.logic.rewriting.windows import without_selector  # few queries have one

        query, spans = without_selector(query)
    own = without_besides(query.pattern)
    if spans or not any(map(is_timed, walk(own))):
        return query, spans
    from cer_gpu.logic.rewriting.windows import tightest, without_spans

    pattern, spans = without_spans(query.pattern)
    window = tightest(query.window, spans) if spans else None
    if window is None:
        return query, ()
    if any(map(is_timed, walk(without_besides(pattern)))) and not correlates(own):
        return query, ()
    return replace(query, pattern=pattern, window=window), spans


def _outline(statement: tree.SelectQuery, text: str, spans: tuple[tree.Bound, ...]) -> Outline:
    """The outline of a query in its canonical form, or as it is written."""
    own = without_besides(statement.pattern)
    beyond, formula = beyond_equalities(own), None
    if not beyond:
        try:
            formula = chosen(to_lp(unfolded(bare(statement))), statement)
        except LimitError:
            if not correlates(own):
                raise
            beyond = "a filter that compares events in too many alternatives"
    if formula is None:
        formula = chosen(to_lp(bare(statement)), statement)
    compared = correlates(without_besides(formula))
    if not compared:
        beyond = ""  # what was compared marks nothing, so that the filter holds
    # Inside PARTITION BY a further key would be a finer partition: windows and CONSUME BY mean the other.
    shared = None
    if compared and not beyond and not statement.partition:
        from cer_gpu.plan.partitioning import shared_key  # a process without comparisons need not load it

        shared = shared_key(formula)
    read = with_what_is_read((), statement.measures) if statement.select == () else ()
    if read:
        statement = replace(statement, select=read)
    derived = any(isinstance(node, tree.Previous | tree.Call) for node in walk(statement.pattern))
    timed = any(map(is_timed, walk(own)))
    if beyond and _first_is_greatest(statement):
        statement = replace(statement, strategy=tree.Strategy.ANY)
    return Outline(statement, text, formula, compared, derived, shared, bool(read), timed, beyond, spans)


def _first_is_greatest(query: tree.SelectQuery) -> bool:
    """Whether MAX chooses the first complex event at each end, which is the one that ANY chooses.

    This holds for `(T AS x) :+` with filters around it. A complex event marks every event from its start to
    its end, so if two have the same end, the one that starts earlier marks all events that the other marks.
    (Under MAX, a partial match would keep the registers of all partial matches preferred to it.)
    """
    if query.strategy is not tree.Strategy.MAX:
        return False
    run: tree.Pattern = query.pattern
    while isinstance(run, tree.Filter | tree.Timed):
        run = run.pattern
    if not isinstance(run, tree.Iteration) or not run.contiguous:
        return False
    marked: set[str] = set()
    event = run.pattern
    while isinstance(event, tree.As | tree.Filter):
        if isinstance(event, tree.As):
            marked.add(event.variable)
        event = event.pattern
    if isinstance(event, tree.EventType):
        marked.update(event.variables)
    elif not _one_of_types(event):
        return False
    return len(marked) > 0 and (query.select is None or any(item.variable in marked for item in query.select))


def _one_of_types(pattern: tree.Pattern) -> bool:
    """Whether a pattern is one event of some types, whose marks its type says."""
    if isinstance(pattern, tree.Or):
        return _one_of_types(pattern.left) and _one_of_types(pattern.right)
    return isinstance(pattern, tree.EventType) and pattern.stream is None


def bare(query: tree.SelectQuery) -> tree.Pattern:
    """The pattern of a query without filters on variables that mark nothing.

    A variable that PROJECT drops marks nothing outside of it, so a filter on it holds (the checks note it).
    """
    return without(query.pattern, reads(query.pattern) - variables(query.pattern))


def chosen(formula: tree.Pattern, query: tree.SelectQuery) -> tree.Pattern:
    """The formula with the strategy STRICT of a query around it."""
    return tree.Selector(query.strategy, formula) if query.strategy is tree.Strategy.STRICT else formula


def _with_edges(statement: tree.Statement) -> tree.Statement:
    """A statement whose aggregates of several variables know what tells repetitions apart."""
    if isinstance(statement, tree.Rule) or not any(
        map(is_joint, walk((statement.pattern, statement.measures)))
    ):
        return statement
    from cer_gpu.logic.edges import with_edges  # few queries have any

    return with_edges(statement)


def rewritten_statement(statement: tree.Statement) -> tree.Statement:
    """A statement whose pattern is written as the machines want it."""
    if isinstance(statement, tree.Rule) or not any(map(_is_rewritten, walk(statement.pattern))):
        return statement
    from cer_gpu.logic.rewriting import rewritten  # a process without comparisons need not load it

    pattern = statement.pattern
    if any(isinstance(node, tree.Attribute) and node.prior for node in walk(pattern)):
        from cer_gpu.logic.neighbours import contiguous, prior_as_previous, strict_as_contiguous

        near = contiguous(pattern) if statement.strategy is tree.Strategy.STRICT else None
        if near is not None:
            statement, pattern = replace(statement, strategy=tree.Strategy.ALL), near
        pattern = prior_as_previous(strict_as_contiguous(pattern))
    return replace(statement, pattern=rewritten(pattern))


def _is_rewritten(node: object) -> bool:
    """Whether a rewriting may have something to do: an aggregate, or variables that are compared by order."""
    if isinstance(node, tree.Comparison) and node.op not in ("=", "=="):
        return any(getattr(part, "variable", None) is not None for part in walk(node))
    return isinstance(node, tree.Aggregate)


def listed(formula: tree.Pattern, query: tree.SelectQuery) -> tree.Pattern:
    """The formula with the SELECT list as its outermost projection, unless a strategy chooses first."""
    if query.strategy in tree.CHOOSING or query.select is None:
        return formula
    return tree.Project(formula, tuple(item.variable for item in query.select))


def unlisted(formula: tree.Pattern, query: tree.SelectQuery) -> tree.Pattern:
    """The formula without the projection that stands for the SELECT list."""
    if isinstance(formula, tree.Project) and query.select is not None:
        return formula.pattern
    return formula
