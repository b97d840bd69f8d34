"""The lines of `explain` about chains in which two steps are compared."""

from __future__ import annotations

from collections.abc import Iterator

from cer_gpu.frozen import dataclass
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.routes.general_explained import GeneralExplanation
from cer_gpu.plan.wording import lanes_cut


@dataclass(frozen=True, slots=True)
class ApartExplanation(GeneralExplanation):
    """An `Explanation` of a chain in which two steps are compared.

    Attributes
    ----------
    old, new : int
        The steps that are compared, from 0.
    """

    old: int = 0
    new: int = 0

    def kind(self) -> str:
        """The class of the query."""
        return (
            f"compared: step {self.new + 1} of a chain with step {self.old + 1}, so that matches "
            "are\ncounted by the values of these two, whatever lies between them"
        )

    def engine(self) -> str:
        """What runs."""
        return (
            "hits and counts: the events of the earlier step in the order of their values, with sums and "
            "maxima\nover ranges; to list matches, and on a stream: configurations"
        )

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        return (
            "hits and counts: log(window) time per event, whatever the number of matches; listed: no match\n"
            "is found twice, output-linear delay, an event costs what is open around it"
        )

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula."""
        yield "formula", to_text(self.formula)

    def cost(self, query: CompiledQuery) -> str:
        """What an event costs."""
        cut = lanes_cut(self.lane, query)
        return f"one or two ranges of ranks for each event of step {self.new + 1}; {cut}"
