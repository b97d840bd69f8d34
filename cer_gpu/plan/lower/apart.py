"""Chains in which two steps, neighbours or not, are compared: counted without partial matches.

`A AS a ; B ; C AS c FILTER c.price > a.price` is a chain: its matches are the ways through its steps. How
many begin at the A that are cheaper than a C is a sum over ranks of prices. To list matches, and on a
stream, the machine of configurations runs.
"""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.automata.cea import distinct
from cer_gpu.automata.comparisons import beyond
from cer_gpu.automata.step_pairs import StepPairChain, apart_chain
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan.comparisons import look_up
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.cost import CONFIGURATIONS, LISTING, Cost, Question
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.lower.general import formula_of, sketch_of
from cer_gpu.plan.lower.lowering import BuiltMachine, Candidate, Description, PlainWords, Refusal, Sketch
from cer_gpu.plan.lower.ordered import compared_formula
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.phrases import lanes_cut
from cer_gpu.plan.step_pairs import StepPairMachine, apart_arrays
from cer_gpu.plan.symbols import Diagram

COSTS: dict[Question, Cost] = {
    "hits": Cost(4, note="sums over ranks"),
    "counts": Cost(4, note="sums over ranks"),
    **{question: CONFIGURATIONS[question] for question in LISTING},
}
"""Matches are listed as the general machine does."""


def lower(outline: Outline) -> Candidate | Refusal:
    """The chain of a query that compares two of its events."""
    query = outline.query
    try:
        formula, lane = compared_formula(query)
        chain = apart_chain(formula)
        if isinstance(chain, str):
            return Refusal(chain)
        look_up(chain.tests)
        followed, followed_lane = formula_of(outline)
    except (LimitError, QueryError) as error:
        return Refusal.of(error)
    if followed_lane is not None and followed_lane != lane:
        return Refusal("the key that its events share does not follow from its equalities alone")

    def sketch(schema: Schema | None) -> Sketch:
        """The machines, given the types of what is compared."""
        listing = sketch_of(query, followed, followed_lane, schema)
        tests = distinct((*listing.tests, *chain.predicates))

        def build(diagram: Diagram) -> BuiltMachine:
            """The machines over the classes of events.

            Raises
            ------
            QueryError
                When decimals are compared, whose order the ranks do not keep exactly.
            """
            if schema is not None and _compares_decimals(chain, schema):
                raise beyond("a decimal is compared, and only engine='general' compares decimals exactly")
            found = listing.build(diagram)
            run, hits = found.machine, found.hits_machine
            assert isinstance(run, GeneralMachine)
            assert isinstance(hits, GeneralMachine)
            tables, apart, keys = apart_arrays(chain, run.symbols, tests, lane)

            def machine(streamed: GeneralMachine) -> StepPairMachine:
                return StepPairMachine(tables, apart, len(keys.columns), streamed)

            def explained(compiled: CompiledQuery) -> Description:
                return replace(
                    found.explained(compiled),
                    kind=(
                        f"compared: step {chain.new + 1} of a chain with step {chain.old + 1}, so that "
                        "matches are\ncounted by the values of these two, whatever lies between them"
                    ),
                    engine=(
                        "hits and counts: the events of the earlier step in the order of their values, with "
                        "sums and maxima\nover ranges; to list matches, and on a stream: configurations"
                    ),
                    guarantee=(
                        "hits and counts: log(window) time per event, whatever the number of matches; "
                        "listed: no match\nis found twice, output-linear delay, an event costs what is open "
                        "around it"
                    ),
                    plain=PlainWords(
                        f"step {chain.new + 1} is compared with step {chain.old + 1}, and no other steps are",
                        "hits and counts: the events of the earlier step are sorted by their values, with "
                        "running sums;\nlisting and streams: partial matches are kept one by one",
                        "hits and counts: O(log n) per event for n events in the window, however many "
                        "matches there are;\nlisting and streams: as many steps as there are partial matches "
                        "that an event may extend",
                    ),
                    structure=(("formula", to_text(followed)),),
                    cost=(
                        f"one or two ranges of ranks for each event of step {chain.new + 1}; "
                        f"{lanes_cut(lane, compiled)}"
                    ),
                )

            return replace(
                found,
                hits_machine=machine(hits),
                counts_machine=machine(replace(run, product="counts")),
                keys=keys,
                lane=lane,
                explained=explained,
            )

        return Sketch(tests, build)

    return Candidate(COSTS, sketch)


def _compares_decimals(chain: StepPairChain, schema: Schema) -> bool:
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
