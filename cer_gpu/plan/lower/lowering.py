"""What every lowering is made of: from the outline of a query to a machine, or to a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cer_gpu.automata.cea import Predicate
from cer_gpu.errors import CerError, Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.language.tree import Beside, Expression, Rule
from cer_gpu.language.walk import nodes
from cer_gpu.lazy_modules import LazyModule
from cer_gpu.plan.compiled_query import AnswerForm, CompiledQuery, KeyPlan
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.machine import Machine
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.refusals import beside_correlation, strategy_beside_chain
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    import cer_gpu.plan.drawing as drawing
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing
else:
    drawing = LazyModule("cer_gpu.plan.drawing")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a lowering does not take a query.

    Attributes
    ----------
    reason : str
        The reason in a few words, for `explain`.
    diagnostics : tuple of Diagnostic
        What the lowering cannot take, with its place in the text; empty if the query is merely of another
        kind.
    by_window : bool
        Whether it may take the query once it is known that the attribute of its window is the order.
    """

    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    by_window: bool = False

    @classmethod
    def of(cls, error: CerError) -> Refusal:
        """The refusal of a query whose machine is impossible or too large."""
        if isinstance(error, QueryError):
            return cls(error.diagnostics[0].message, error.diagnostics)
        return cls(str(error).splitlines()[0])


Condition = Callable[[Outline], Refusal | None]
"""Refuses some queries by their outline alone."""


@dataclass(frozen=True, slots=True)
class PlainWords:
    """What a machine is and does, for a reader who knows the query language and no automata.

    Attributes
    ----------
    why : str
        What of the query this engine is for.
    how : str
        What it keeps and does.
    speed : str
        What an event costs, and what a match costs.
    """

    why: str
    how: str
    speed: str


LISTED = "listing takes time in proportion to what is listed"
"""What a match costs in most engines, in the words of a user."""


@dataclass(frozen=True, slots=True)
class Description:
    """The lines of `explain` about a machine.

    Attributes
    ----------
    kind : str
        The class of the query, with the theorem that it rests on.
    engine : str
        What runs.
    guarantee : str
        What an event and an answer cost, whatever the data.
    plain : PlainWords
        The same in the words of a user: `explain` without `verbose` says no more of the machine.
    structure : sequence of (str, str)
        More lines: name and text, which may be of several lines.
    relevant : int
        How many kinds of events it reads.
    cost : str
        How many steps it takes.
    keys : str or None
        The values of events that are compared; None if there are none.
    """

    kind: str
    engine: str
    guarantee: str
    plain: PlainWords
    structure: Sequence[tuple[str, str]]
    relevant: int
    cost: str
    keys: str | None = None


@dataclass(frozen=True, slots=True)
class BuiltMachine:
    """A machine for data of a schema, with what the planner and `explain` need to know of it.

    Attributes
    ----------
    machine, hits_machine : Machine
        As in `CompiledQuery`.
    form : AnswerForm
    symbol_of : sequence of int
        For each class of events that the diagram tells apart the symbol that the machine reads.
    n_symbols : int
    keys : KeyPlan
    never : bool
        Whether no complex event is possible.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share; None if there are none.
    explained : function of a CompiledQuery
        What `explain` says of the machine in a query.
    drawing : function
        Draws its automaton. It raises a LimitError if there are more states than can be drawn.
    span : number or None
        The longest time from start to end that the pattern itself allows; None: any.
    counts_machine : Machine or None
        As in `CompiledQuery`.
    compared : tuple of str
        As in `RowReading`.
    values : tuple of Expression
        The values of each relevant event that a general machine reads besides its symbol.
    windowed : bool
        Whether the machine itself checks the window of the query.
    """

    machine: Machine
    hits_machine: Machine
    form: AnswerForm
    symbol_of: Sequence[int]
    n_symbols: int
    keys: KeyPlan
    never: bool
    lane: Mapping[str, Keys] | None
    explained: Callable[[CompiledQuery], Description]
    drawing: Callable[[], Drawing]
    span: int | float | None = None
    counts_machine: Machine | None = None
    compared: tuple[str, ...] = ()
    values: tuple[Expression, ...] = ()
    windowed: bool = False


@dataclass(frozen=True, slots=True)
class Sketch:
    """A machine before its symbols are known.

    Attributes
    ----------
    tests : tuple of Predicate
        The distinct predicates of events that the machine asks for.
    build : function of a Diagram
        Makes the machine over the classes of events that a diagram tells apart. It raises a QueryError if a
        comparison between events cannot be evaluated, and a LimitError if the automaton would exceed its
        budget.
    """

    tests: tuple[Predicate, ...]
    build: Callable[[Diagram], BuiltMachine]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a lowering makes of a query that it takes.

    Attributes
    ----------
    costs : mapping of Question to Cost
        What it costs to answer each question.
    over : function of a Schema or None
        The sketch of the machine once the attributes of the event types are known; None: they are not. It
        returns the same sketch for every schema if the schema makes no difference.
    cuda : bool
        Whether CUDA devices find hits and counts of its machine.
    """

    costs: Mapping[Question, Cost]
    over: Callable[[Schema | None], Sketch]
    cuda: bool = True

    @classmethod
    def of(cls, costs: Mapping[Question, Cost], sketch: Sketch) -> Candidate:
        """A candidate of one sketch, whose predicates name the attributes."""
        return cls(costs, lambda _: sketch)


def is_pattern(outline: Outline) -> Refusal | None:
    """Refuse rules."""
    return Refusal("a rule has no pattern") if isinstance(outline.statement, Rule) else None


def is_rule(outline: Outline) -> Refusal | None:
    """Refuse patterns."""
    return None if isinstance(outline.statement, Rule) else Refusal("it is a pattern, not a rule")


def has_intervals(outline: Outline) -> Refusal | None:
    """Refuse a pattern without intervals of time."""
    return None if outline.timed else Refusal("its pattern has no interval of time")


def has_no_intervals(outline: Outline) -> Refusal | None:
    """Refuse a pattern with intervals of time."""
    return Refusal("its pattern has intervals of time") if outline.timed else None


def compares(outline: Outline) -> Refusal | None:
    """Refuse a pattern that does not compare events."""
    return None if outline.correlates else Refusal("no filter compares two events")


def compares_beyond_equality(outline: Outline) -> Refusal | None:
    """Refuse a pattern that compares events by equality alone."""
    return None if outline.beyond else Refusal("all its comparisons are equalities")


def compares_by_equality_alone(outline: Outline) -> Refusal | None:
    """Refuse a pattern that compares events by more than equality."""
    beyond = outline.beyond
    return Refusal(f"it has {beyond}, which is not an equality of two events") if beyond else None


def has_no_window_over_attribute(outline: Outline) -> Refusal | None:
    """Refuse a window over an attribute, unless it is known to be the order."""
    window = outline.statement.window
    if window is None or window.kind != "attribute":
        return None
    return Refusal("its window is over an attribute, whose values may fall", by_window=True)


def looks_at_nothing_beside(outline: Outline) -> Refusal | None:
    """Refuse FOLLOWED BY and PRECEDED BY."""
    if any(isinstance(node, Beside) for node in nodes(outline.query.pattern)):
        return Refusal("it asks for what follows or precedes")
    return None


def chooses_nothing(outline: Outline) -> Refusal | None:
    """Refuse a strategy that chooses by marked positions."""
    strategy = outline.query.strategy
    if strategy not in tree.CHOOSING:
        return None
    return Refusal(f"the strategy `{strategy.value}` chooses among matches")


def chooses_nothing_beside_comparisons(outline: Outline) -> Refusal | None:
    """Refuse operators and strategies that choose among the matches of events that are compared."""
    query = outline.query
    found = beside_correlation(query) or strategy_beside_chain(query)
    return Refusal(found[0].message, tuple(found)) if found else None


def has_no_operators_beside_comparisons(outline: Outline) -> Refusal | None:
    """Refuse operators that depend on more than the events that are compared."""
    found = beside_correlation(outline.query) if outline.correlates else []
    return Refusal(found[0].message, tuple(found)) if found else None


@dataclass(frozen=True, slots=True)
class Lowering:
    """One way to answer queries: the module of this folder that is named as the engine.

    Its function `lower(outline)` returns a `Candidate` or a `Refusal`. It raises a LimitError if the
    automaton would exceed its budget and no other lowering is to be asked instead.

    Attributes
    ----------
    name : str
        What `engine=` calls it.
    conditions : tuple of Condition
        What the outline alone decides; a process whose queries do not meet them need not load the module.
    costs : mapping of Question to Cost, or None
        What it costs, if it takes every query that meets the conditions: then its module is loaded only where
        it answers a question. None: the module says so.
    """

    name: str
    conditions: tuple[Condition, ...] = ()
    costs: Mapping[Question, Cost] | None = None

    def lower(self, outline: Outline) -> Candidate | Refusal:
        """The machine for a query, or why this lowering does not take it."""
        for condition in self.conditions:
            if (refusal := condition(outline)) is not None:
                return refusal
        if self.costs is None:
            return self._lowered(outline)
        later = cache(lambda: self._lowered(outline))
        return Candidate(self.costs, lambda schema: later().over(schema))

    def _lowered(self, outline: Outline) -> Any:
        return import_module(f"cer_gpu.plan.lower.{self.name}").lower(outline)
