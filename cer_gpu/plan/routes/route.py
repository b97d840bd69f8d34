"""The interface of a route: from the outline of a query to the sketch of a machine, or to a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from cer_gpu.automata.cea import Predicate
from cer_gpu.errors import Diagnostic
from cer_gpu.frozen import dataclass
from cer_gpu.language.schema import Schema
from cer_gpu.language.tree import Expression
from cer_gpu.plan.compiled import AnswerForm, CompiledQuery, KeyPlan
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.machine import Machine
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a route does not take a query.

    Attributes
    ----------
    reason : str
        The reason in a few words, for `explain`.
    diagnostics : tuple of Diagnostic
        What the route cannot take, with its place in the text; empty if the query is merely of another kind.
    by_window : bool
        Whether it may take the query once it is known that the attribute of its window is the order.
    """

    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    by_window: bool = False


def no_timed_pattern(outline: Outline) -> Refusal | None:
    """Refuse a query that is not a pattern with intervals of time, or compares by more than equality."""
    if outline.formula is None:
        return Refusal("a rule has no pattern")
    if outline.beyond:
        return Refusal(f"it has {outline.beyond}, which is not an equality of two events")
    return None if outline.timed else Refusal("its pattern has no interval of time")


def no_comparing_pattern(outline: Outline) -> Refusal | None:
    """Refuse a query that is not a pattern that compares events, or has intervals of time."""
    if outline.formula is None:
        return Refusal("a rule has no pattern")
    if outline.timed:
        return Refusal("its pattern has intervals of time")
    return None if outline.correlates else Refusal("no filter compares two events")


class Explanation(Protocol):
    """The lines of `explain` about a machine."""

    def kind(self) -> str:
        """The class of the query, with the theorem that it rests on."""
        ...

    def engine(self) -> str:
        """What runs."""
        ...

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        ...

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """More lines: name and text, which may be of several lines."""
        ...

    def relevant(self) -> int:
        """How many kinds of events it reads."""
        ...

    def keys(self, query: CompiledQuery) -> str | None:
        """The values of events that are compared; None if there are none."""
        ...

    def lanes(self) -> str | None:
        """The key that makes lanes without PARTITION BY; None if there is none."""
        ...

    def cost(self, query: CompiledQuery) -> str:
        """How many steps it takes."""
        ...

    def drawing(self) -> Drawing:
        """Its automaton.

        Raises
        ------
        LimitError
            When it has more states than can be drawn.
        """
        ...


@dataclass(frozen=True, slots=True)
class Built:
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
    explanation : Explanation
    span : number or None
        The longest time from start to end that the pattern itself allows; None: any.
    counts_machine : Machine or None
        As in `CompiledQuery`.
    compared : tuple of str
        As in `Reading`.
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
    explanation: Explanation
    span: int | float | None = None
    counts_machine: Machine | None = None
    compared: tuple[str, ...] = ()
    values: tuple[Expression, ...] = ()
    windowed: bool = False


class Sketch(Protocol):
    """A machine before any data is known."""

    @property
    def tests(self) -> tuple[Predicate, ...]:
        """The distinct predicates of events that the machine asks for."""
        ...

    def over(self, schema: Schema) -> Sketch:
        """The sketch once the attributes of the event types are known."""
        ...

    def built(self, diagram: Diagram) -> Built:
        """The machine over the classes of events that a diagram tells apart.

        Raises
        ------
        QueryError
            When a comparison between events cannot be evaluated.
        LimitError
            When the automaton would exceed its budget.
        """
        ...


class Route(Protocol):
    """One way to answer queries. A new engine is a module of this folder with these names."""

    NAME: str
    """What `engine=` calls it."""

    def sketch(self, outline: Outline) -> Sketch | Refusal:
        """Sketch the machine for a query, or say why the route does not take it."""
        ...

    def cost(self, sketch: Any, question: Question) -> Cost:
        """What it costs to answer a question by a machine that it sketched."""
        ...
