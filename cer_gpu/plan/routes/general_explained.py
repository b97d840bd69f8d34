"""The lines of `explain` about a pattern that is made deterministic as it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.automata.configurations.compared import conditions_in, subpatterns
from cer_gpu.errors import LimitError
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.printer import abridged, to_text
from cer_gpu.language.walk import nodes, walk
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.evaluated import is_timed
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.routes.ends_named import end_named
from cer_gpu.plan.wording import lanes_told

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class GeneralExplanation:
    """An `Explanation` of a pattern of any kind.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form.
    machine : GeneralMachine
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    values : tuple of Expression
        The values of events that partial matches keep.
    rule : bool
        Whether the pattern is that of a rule: one event for each atom, in any order.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    machine: GeneralMachine
    lane: Mapping[str, Keys] | None
    values: tuple[tree.Expression, ...] = ()
    rule: bool = False

    def kind(self) -> str:
        """The class of the query, and the operators that make it so."""
        if self.rule:
            return "a rule, as a pattern with one event for each atom, in any order"
        found = next((one for one in conditions_in(self.formula)), None)
        if found is not None:
            return f"compared: `{to_text(found)}` needs the values of earlier events"
        if not self._timed:
            own = "" if self.lane is None else ", beside the key that all events of a match share"
            return f"regular: every filter speaks of one event{own}"
        if self.machine.registers:
            return "compared: WITHIN over an attribute stands beside an interval"
        return f"timed: {self.reason()}"

    @property
    def _timed(self) -> bool:
        """Whether an interval of time stands in the pattern."""
        return any(map(is_timed, subpatterns(self.formula)))

    def reason(self) -> str:
        """Why partial matches are kept one by one."""
        if any(isinstance(node, tree.Timed) for node in nodes(self.formula)):
            return "a window inside the pattern is open while other intervals come and go"
        found = next((node for node in nodes(self.formula) if isinstance(node, _AROUND)), None)
        if found is not None:
            return f"`{abridged(found)}` keeps clocks of several events at once"
        return "its intervals speak of events that are not marked, so that several may be meant"

    def engine(self) -> str:
        """What runs."""
        if not (self.machine.registers or self.machine.timed or self.machine.placed):
            return "configurations: partial matches, made deterministic on the stream"
        if not self.machine.registers:
            return (
                "configurations: partial matches with the times at which their clocks were set, made\n"
                "deterministic on the stream"
            )
        how = "compiled"
        if self.machine.held is None:
            how = f"one by one in Python, as no words of 64 bits hold {self.machine.beyond}"
        return (
            "configurations: partial matches with the values that later events are compared with, made\n"
            f"deterministic on the stream; compared {how}"
        )

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        return "no match is found twice, output-linear delay; an event costs as much as is open around it"

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula, and what it asks of clocks."""
        yield "formula", to_text(self.formula)
        if self.machine.registers and (advice := self._advice(query)):
            yield "faster", "\n".join(advice)

    def _advice(self, query: CompiledQuery) -> list[str]:
        """Which small changes of the query would make it fast."""
        found = []
        if self.machine.held is None:
            found.append(
                "comparisons of numbers, times, texts and decimals beside each other are compiled:\n"
                f"cast a column, or avoid {self.machine.beyond}"
            )
        if not self.rule and (advice := end_named(self.statement.pattern)) is not None:
            found.append(advice)
        if self.lane is None and not self.statement.partition:
            found.append(
                "if an attribute is equal in all events of a match, PARTITION BY it: an event is then "
                "compared\n"
                "only with the partial matches of its partition"
            )
        if query.window is None:
            found.append("WITHIN drops partial matches that are too old")
        return found

    def relevant(self) -> int:
        """How many kinds of events it reads."""
        return len(self.machine.symbols) - 1

    def keys(self, query: CompiledQuery) -> str | None:
        """The values that are kept."""
        return ", ".join(to_text(one) for one in self.values) or None

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """What an event costs."""
        if self.machine.registers:
            return (
                "an event is compared with the configurations of its lane that its kind changes, at worst\n"
                "one for each start that is open and each of the values that are kept; if its first\n"
                "comparison is with one of these values (= < <= > >=), it looks up those that fit;\n"
                f"{self._choice()}{self._cores(query)}"
            )
        said = (
            "an event touches the configurations of its lane that its kind changes: for a chain of marked\n"
            "steps as many as there are events in its gaps, at worst that to the power of the number of "
            "clocks"
        )
        if not self._timed:
            said = (
                "an event touches the configurations of its lane that its kind changes: at most as many as\n"
                "the automaton of the pattern has states, once it is deterministic"
            )
        if query.window is not None:
            said += ";\nfor counts and lists, times the number of starts that are open in WITHIN"
        return f"{said}; {self._choice()}{self._cores(query)}"

    def _cores(self, query: CompiledQuery) -> str:
        """How many cores may work."""
        laned = self.lane is not None or bool(self.statement.partition)
        if not laned or query.consume == "ANY":
            return "one core"
        return "the cores share the lanes"

    def _choice(self) -> str:
        """What the choice of the strategy costs."""
        chosen = self.machine.chosen
        if chosen is None:
            return ""
        left = "the partial matches that no other of its\nown contains"
        if chosen.strategy != "MAX":
            left = "the best of its partial\nmatches"
        return f"{chosen.strategy}: where something\nends, each node of the structure below it keeps {left}; "

    def drawing(self) -> Drawing:
        """The timed automaton before it is made deterministic.

        Raises
        ------
        LimitError
            When timed automata do not express an operator, or there are too many states.
        """
        from cer_gpu.automata.timed.agreement import merged_clocks
        from cer_gpu.automata.timed.construction import timed_cea
        from cer_gpu.automata.timed.parts import BeyondTimedCELError
        from cer_gpu.plan.drawing import of_timed

        units = any(isinstance(node, tree.Bound) and node.unit is not None for node in walk(self.formula))
        try:
            timed = timed_cea(self.formula)
        except BeyondTimedCELError as error:
            raise LimitError(
                f"{error}: its automaton is made while the stream runs, and cannot be drawn"
            ) from None
        return of_timed(merged_clocks(timed).timed, units)


_AROUND = (tree.Unless, tree.All, tree.And, tree.Selector, tree.Project, tree.OtherEvent)
