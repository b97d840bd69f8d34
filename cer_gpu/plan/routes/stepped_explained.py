"""The lines of `explain` that patterns of steps and patterns of one clock have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.outline import unlisted
from cer_gpu.plan.wording import lanes_told

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


@dataclass(frozen=True, slots=True)
class SteppedExplanation(ABC):
    """The part that the explanations of these patterns share; each adds its automaton.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    lane: Mapping[str, Keys] | None

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula and the automaton."""
        yield "formula", to_text(unlisted(self.formula, self.statement))
        yield "automaton", self._sizes()
        if not self._ends():
            yield "answers", "none: no complex event is possible, whatever the events"

    def keys(self, query: CompiledQuery) -> str | None:
        """None: nothing is compared."""
        return None

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    @abstractmethod
    def _sizes(self) -> str:
        """How many states and transitions the automaton has."""

    @abstractmethod
    def _ends(self) -> bool:
        """Whether the automaton has a final state."""


def widest(symbols: Iterable[int]) -> int:
    """How many transitions an event may take at most, given the symbol of each."""
    number: dict[int, int] = {}
    for symbol in symbols:
        number[symbol] = number.get(symbol, 0) + 1
    return max(number.values(), default=0)
