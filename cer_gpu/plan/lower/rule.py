"""Rules: hierarchical conjunctive queries over a stream.

`Q(x, y) <- T(x), S(x, y), R(x, y)` becomes a parallelized complex event automaton, whose transitions join the
runs of the subtrees below a variable (PCEA paper, Theorem 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator

from cer_gpu.automata.symbol_pcea import gather_predicates, over_symbols
from cer_gpu.errors import LimitError
from cer_gpu.joins.hcq import to_pcea
from cer_gpu.joins.hierarchy import diagnose
from cer_gpu.joins.qtree import compact, draw, q_tree
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.language.printer import to_text
from cer_gpu.language.rules import resolve
from cer_gpu.plan.join_arrays import join_arrays
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.lower.join_machine import COSTS, Join, built
from cer_gpu.plan.lower.lowering import BuiltMachine, Candidate, Refusal, Sketch
from cer_gpu.plan.marks import marks_of, tuple_form
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.symbols import Diagram


def lower(outline: Outline) -> Candidate | Refusal:
    """The parallelized automaton of a rule."""
    rule = outline.rule
    body = from_rule(resolve(rule, None))
    if body.comparisons:
        return Refusal(f"`{to_text(body.comparisons[0])}` compares different events of a match")
    if (found := diagnose(body)) is not None:
        return Refusal(found.message)

    def sketch(body: ConjunctiveQuery) -> Sketch:
        """The automaton; until the schema is known, attributes given by position have made-up names."""
        automaton = to_pcea(body)  # unambiguous by construction
        tests = gather_predicates(automaton)
        join = Join(
            "joined by equality: a hierarchical conjunctive query (Theorem 4.1 of the PCEA paper)",
            "the rule is hierarchical: of two variables in one `T(...)`, one is in each that has the other",
            "partial matches are looked up by the values that the events of the rule share",
            automaton,
            common_keys(body),
            lambda: tuple(_trees(body)),
            body,
        )

        def build(diagram: Diagram) -> BuiltMachine:
            """The machine, and what the answers are made of."""
            found = join_arrays(over_symbols(automaton, diagram.outcomes, tests), join.lane)
            filled = marks_of(found.labels, [atom.id for atom in body.atoms])
            machine = JoinMachine(found.tables, found.spaces, filled)
            return built(join, found, tuple_form(rule, body), machine)

        return Sketch(tests, build)

    try:
        assumed = sketch(body)
    except LimitError as error:
        return Refusal.of(error)
    return Candidate(
        COSTS, lambda schema: assumed if schema is None else sketch(from_rule(resolve(rule, schema)))
    )


def _trees(body: ConjunctiveQuery) -> Iterator[tuple[str, str]]:
    """The trees of variables that the automaton is made of."""
    found = q_tree(body)
    yield "q-tree", draw(found, body)
    yield "compact", draw(compact(found), body)
