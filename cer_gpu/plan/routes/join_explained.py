"""The lines of `explain` about a rule whose atoms are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.automata.pcea import Keys
from cer_gpu.frozen import dataclass
from cer_gpu.joins.hierarchical import diagnose, is_acyclic
from cer_gpu.joins.lookups import Lookup, LookupPlan, Path
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.joins.theta.whole import ANSWER, ROW, listed_query, whole_query
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.words import written
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.wording import counted, lanes_told

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class LookupExplanation:
    """An `Explanation` of a rule of any form.

    Attributes
    ----------
    statement : Rule
    body : ConjunctiveQuery
    lookups : LookupPlan
    n_symbols : int
        The number of classes of events that it tells apart, including events that fit no atom.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.Rule
    body: ConjunctiveQuery
    lookups: LookupPlan
    n_symbols: int
    lane: Mapping[str, Keys] | None

    def kind(self) -> str:
        """The class of the query."""
        shape = "acyclic" if is_acyclic(self.body) else "cyclic"
        if self.body.comparisons:
            return f"a rule with comparisons between atoms, {shape} in its equalities"
        hierarchical = diagnose(self.body) is None
        return f"a conjunctive query, {'hierarchical' if hierarchical else f'{shape}, not hierarchical'}"

    def engine(self) -> str:
        """What runs."""
        return "lookups: from the latest event of an answer to one atom after another, through sorted indexes"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        within = "" if query.window is None else " in its window"
        return (
            "exact, in memory that does not grow with the number of answers; a lookup takes logarithmic "
            f"time\nand gives the events of one key{within}: as many steps as there are partial answers"
        )

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """How the answers that end at an event of each atom are found, and what would be faster."""
        paths = [self._path(path) for path in self.lookups.paths]
        yield "lookups", "\n".join(paths)
        if (hint := self._faster(query)) is not None:
            yield "faster", hint

    def relevant(self) -> int:
        """How many kinds of events it reads."""
        return self.n_symbols - 1

    def keys(self, query: CompiledQuery) -> str:
        """The variables that join atoms, and the comparisons between them."""
        said = [
            f"`{written(joined.name)}` joins {self._names(joined.attribute_of)}"
            for joined in self.lookups.joined
        ]
        said += [f"{to_text(one.source)} (by order)" for one in self.lookups.compared]
        said += [f"{to_text(one.source)} (checked for each partial answer)" for one in self.lookups.checked]
        return "\n".join(said) or "none"

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """How many steps it takes."""
        apart = [len(path.steps) - path.apart for path in self.lookups.paths]
        most = max((len(path.steps) for path in self.lookups.paths), default=0)
        saved = (
            f"counting multiplies over the last {counted(min(apart), 'atom')} of each path, without listing "
            "them"
            if min(apart, default=0) > 1
            else "counting sums over the last atom of each path, without listing it"
        )
        told = f"{counted(most, 'lookup')} for an event and each atom that it fits; {saved}"
        plain = query.window is None and query.limit is None and query.consume == "NONE"
        if plain and whole_query(self.lookups) is not None:
            told += (
                "\ncount() counts all answers over a join tree, as a view does, where that takes fewer steps "
                "than\nthere are partial answers: O(n log n) with one inequality between two atoms"
            )
        if listed_query(self.lookups) is not None:
            told += (
                "\nif most partial answers lead to no answer, a view lists the answers, and a window deletes "
                "old events from it:\nif there are more partial answers, which are counted first, than "
                f"{ROW} for each event that fits an\natom and {ANSWER} for each answer"
            )
        return told

    def drawing(self) -> Drawing:
        """The atoms, with what joins them."""
        from cer_gpu.plan.drawing_rule import of_rule

        return of_rule(self.body, self.lookups)

    def _path(self, path: Path) -> str:
        first = self.body.atoms[path.latest].text
        rest = "".join(f", then {self._step(step)}" for step in path.steps)
        return f"from {first}{rest}"

    def _step(self, step: Lookup) -> str:
        by = [f"`{written(self.lookups.joined[number].name)}`" for number, _ in step.equal]
        by += [to_text(self.lookups.compared[number].source) for number in step.compared]
        found = self.body.atoms[step.atom].text
        return f"{found} by {' and '.join(by)}" if by else f"every {found}"

    def _names(self, atoms: Mapping[int, str]) -> str:
        return ", ".join(self.body.atoms[atom].text for atom in atoms)

    def _faster(self, query: CompiledQuery) -> str | None:
        """Which change of the rule would make it fast."""
        hints = []
        if query.window is None:
            hints.append("WITHIN bounds the events that a lookup gives")
        alone = [step for path in self.lookups.paths for step in path.steps if not step.equal]
        if alone and not query.reading.keys.columns:
            hints.append(
                "a variable that atoms share (`T(symbol = x), S(symbol = x)`) makes a lookup by hash"
            )
        found = diagnose(self.body)
        if found is not None and not self.body.comparisons:
            hints.append(f"a hierarchical rule takes log(window) time for an event: {found.hints[0]}")
        return ";\n".join(hints) or None
