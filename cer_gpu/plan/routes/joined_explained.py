"""The lines of `explain` about a join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata.pcea import PCEA, Keys
from cer_gpu.frozen import dataclass
from cer_gpu.joins.qtree import compact, draw, q_tree
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.kernels.joins.contract import FEW, LOOKED, PASSED, JoinTables
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.outline import unlisted
from cer_gpu.plan.wording import counted, lanes_cut, lanes_told

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class JoinExplanation:
    """An `Explanation` of a chain of equalities, or of a rule.

    Attributes
    ----------
    statement : Query or Rule
    formula : Pattern or None
        The formula of a chain; None for a rule.
    body : ConjunctiveQuery or None
        The body of a rule; None for a chain.
    automaton : PCEA
    tables : JoinTables
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.Statement
    formula: tree.Pattern | None
    body: ConjunctiveQuery | None
    automaton: PCEA
    tables: JoinTables
    lane: Mapping[str, Keys] | None

    def kind(self) -> str:
        """The class of the query."""
        if self.body is not None:
            return "joined by equality: a hierarchical conjunctive query (Theorem 4.1 of the PCEA paper)"
        return "joined by equality: a chain of events, each compared with the one before it (CCEA)"

    def engine(self) -> str:
        """The kind of automaton that runs."""
        return "parallelized complex event automaton, as tables with join keys"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        if query.window is not None and query.window.kind == "attribute":
            return (
                f"exact; log(window) time per event while `{query.window.attribute}` ascends and is never "
                "null or infinite;\notherwise as many steps as there are answers in a wider window"
            )
        return (
            "log(window) time per event, whatever the number of answers; output-linear delay (Theorem 5.1);\n"
            "counts: at each end as many steps as the window holds partial matches of its keys, at most"
        )

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula of a chain or the trees of a rule, and the automaton."""
        if self.formula is not None and isinstance(self.statement, tree.SelectQuery):
            yield "formula", to_text(unlisted(self.formula, self.statement))
        if self.body is not None:
            tree_of_body = q_tree(self.body)
            yield "q-tree", draw(tree_of_body, self.body)
            yield "compact", draw(compact(tree_of_body), self.body)
        found = self.automaton
        widest = max((len(move.sources) for move in found.transitions), default=0)
        gathers = {0: "no run", 1: "one run"}.get(widest, f"up to {widest} runs")
        yield (
            "automaton",
            f"{len(found.names)} states, {len(found.transitions)} transitions, size {found.size}; "
            f"a transition gathers {gathers}",
        )
        yield "listing", self._form(query)

    @staticmethod
    def _form(query: CompiledQuery) -> str:
        """Whether the answers of a source are listed by lane, from groups or from the structure, and why."""
        assert isinstance(query.machine, JoinMachine)
        if (reason := query.machine.why_structure(query)) is not None:
            return f"from the persistent structure: {reason}"
        dealt = ", dealt by the key that all share," if query.reading.keys.lane_column.size else ""
        groups = f"lists of the events with equal keys{dealt} in the order of the stream"
        if query.machine.by_lane is not None:
            groups = (
                "the events of each key, sorted, in the order of the stream: at an event those of its key\n"
                f"in the window are looked at; where that is more than {LOOKED} for each event and answer,\n"
                "from lists of the events with equal keys"
            )
        if query.machine.chain is not None:
            groups = (
                "the events of each step, sorted by what they share with the next:\n"
                "first each second step with the first steps in its window, then each third step with these"
            )
        return (
            f"from {groups}:\n"
            "an event costs less than in the structure; a part of the stream comes from the structure where\n"
            f"that costs less: where more than {FEW} answers end at an event on average, or more than\n"
            f"{PASSED} partial matches for each event and answer began before the window; with memory=\n"
            "and on a device all of it does"
        )

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.tables.n_symbols - 1

    def keys(self, query: CompiledQuery) -> str:
        """The values that are compared: those that may be equal, space by space."""
        spaces: dict[int, list[str]] = {}
        for column in query.reading.keys.columns:
            text = ", ".join(to_text(key) for key in column.keys)
            spaces.setdefault(column.space, []).append(f"({text})" if len(column.keys) > 1 else text)
        compared = [" = ".join(names) for names in spaces.values()]
        if not compared:
            return "none"
        return "; ".join(compared) + " (equal values numbered once; the look-up table is an array)"

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """Transitions and look-ups for a relevant event."""
        tables = self.tables
        widest = int(np.diff(tables.first).max(initial=0))
        reads = int(np.diff(tables.read_first).max(initial=0))
        cut = lanes_cut(self.lane, query)
        return (
            f"at most {counted(widest, 'transition')} for a relevant event, each with at most "
            f"{counted(reads, 'look-up')}; {cut};\ncomplex events: as many steps as they have marks"
            f"{self._listed(query)}"
        )

    @staticmethod
    def _listed(query: CompiledQuery) -> str:
        """How answers are listed in a window over an attribute, which may be null or fall."""
        window = query.window
        if window is None or window.kind != "attribute":
            return ""
        return (
            f"\nwhere `{window.attribute}` is null or infinite, answers are listed and compared with the "
            "window; where it falls in a lane, all answers of the lane are;\n"
            f"no relevant event is forgotten, since `{window.attribute}` may fall: "
            f"order_by='{window.attribute}' promises that it does not"
        )

    def drawing(self) -> Drawing:
        """The parallelized automaton.

        A transition that gathers several runs goes through a junction, where the edges that lead into it say
        what has to be equal.
        """
        from cer_gpu.plan.drawing import of_parallelized

        return of_parallelized(self.automaton, self.body)
