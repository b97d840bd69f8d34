"""Sketches a chain in which two events are compared: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cer_gpu.automata.apart import ApartChain, apart_chain
from cer_gpu.automata.cea import Identities, Predicate
from cer_gpu.automata.compared import OPERATORS, beyond
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.apart import ApartMachine, apart_arrays
from cer_gpu.plan.compared import look_up
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.outline import Outline, bare, listed
from cer_gpu.plan.partitioning import shared_key
from cer_gpu.plan.routes.apart_explained import ApartExplanation
from cer_gpu.plan.routes.general_sketch import GeneralSketch
from cer_gpu.plan.routes.general_sketch import sketched as sketched_generally
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


@dataclass(frozen=True, slots=True)
class ApartSketch:
    """A chain in which two steps are compared, before any data is known.

    Attributes
    ----------
    statement : Query
    chain : ApartChain
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    followed : GeneralSketch
        The sketch of the machine that lists matches and runs streams.
    schema : Schema or None
    """

    statement: tree.SelectQuery
    chain: ApartChain
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None
    followed: GeneralSketch
    schema: Schema | None = None

    def over(self, schema: Schema) -> ApartSketch:
        """The sketch with the types of what is compared."""
        return replace(self, followed=self.followed.over(schema), schema=schema)

    def built(self, diagram: Diagram) -> Built:
        """The machines over the classes of events.

        Raises
        ------
        QueryError
            When decimals are compared, whose order the ranks do not keep exactly.
        """
        if self.schema is not None and _compares_decimals(self.chain, self.schema):
            raise beyond("a decimal is compared, and only engine='general' compares decimals exactly")
        found = self.followed.built(diagram)
        run = found.machine
        assert isinstance(run, GeneralMachine)
        arrays = apart_arrays(self.chain, run.symbols, self.tests, self.lane)

        def machine(streamed: GeneralMachine) -> ApartMachine:
            return ApartMachine(arrays.tables, arrays.apart, len(arrays.keys.columns), streamed)

        assert isinstance(found.hits_machine, GeneralMachine)
        return replace(
            found,
            hits_machine=machine(found.hits_machine),
            counts_machine=machine(replace(run, product="counts")),
            keys=arrays.keys,
            explanation=ApartExplanation(
                self.statement,
                self.followed.formula,
                run,
                self.lane,
                found.values,
                old=self.chain.old,
                new=self.chain.new,
            ),
        )


def _compares_decimals(chain: ApartChain, schema: Schema) -> bool:
    """Whether a side of a comparison is a decimal."""
    reader = ConstantReader(schema)
    for test in chain.tests:
        for side in (test.old, test.new):
            try:
                if reader.type_of(side).type is ValueType.DECIMAL:
                    return True
            except KeyError:
                continue  # the type of a derived column is known to the run alone
    return False


def sketched(outline: Outline, query: tree.SelectQuery) -> ApartSketch | Refusal:
    """The chain of a query.

    Raises
    ------
    QueryError
        CER091, when a look-up does not express a comparison.
    LimitError
        When the formula is too large.
    """
    formula = to_lp(unfolded(bare(query)))
    shared = None if query.partition else shared_key(formula, OPERATORS)
    chain = apart_chain(listed(formula if shared is None else shared.pattern, query))
    if isinstance(chain, str):
        return Refusal(chain)
    look_up(chain.tests)
    followed = sketched_generally(outline)
    lane = None if shared is None else shared.lane
    if followed.lane is not None and followed.lane != lane:
        return Refusal("the key that its events share does not follow from its equalities alone")
    known = Identities()
    tests = {known.of(predicate): predicate for predicate in (*followed.tests, *chain.predicates)}
    return ApartSketch(query, chain, tuple(tests.values()), lane, followed)
