"""From timed automata back to formulas (timed CEL paper, Proposition 4.4 and Lemmas A.1 to A.5)."""

from __future__ import annotations

from random import Random

import pytest
from formula_of_automaton import formula_of
from random_timed import (
    KINDS,
    automaton,
    formula,
    of_automaton,
    of_formula,
    small_formula,
    stream,
)
from single_clock import (
    check_bound,
    check_bounded,
    is_reset_distinct,
    of_clock,
    reset_distinct,
    strongly_deterministic,
)

from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.clocks import checks_of
from cer_gpu.automata.timed.construction import timed_cea
from cer_gpu.automata.timed.timed_cea import TimedCEA, disjunction_free
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import nodes

TYPES = tuple(t.EventType(kind) for kind in KINDS)


def size(pattern: t.Pattern) -> int:
    return sum(1 for _ in nodes(pattern))


def is_of_windows(pattern: t.Pattern) -> bool:
    """Whether a formula has none of `; + ;[I] :[I] +[I] :+[I]`."""
    return all(
        node.contiguous and node.gap is None
        for node in nodes(pattern)
        if isinstance(node, t.Sequence | t.Iteration)
    )


def check_round_trip(timed: TimedCEA, rng: Random) -> int | None:
    """How many complex events were compared; None where the formula is too large."""
    try:
        back = formula_of(timed, TYPES)
    except LimitError:
        return None
    if size(back) > 5_000:
        return None
    assert is_of_windows(back)
    answers = 0
    for _ in range(2):
        events = stream(rng, 6)
        found = of_automaton(timed, events)
        assert of_formula(back, events) == found
        answers += len(found)
    return answers


@pytest.mark.draws("seed", 3)
def test_formula_to_automaton_to_formula(seed: int) -> None:
    rng = Random(f"back {seed}")
    answers: list[int] = []
    while len(answers) < 20:
        made, timed = small_formula(rng, 25)
        few = merged_clocks(timed).timed
        found = check_round_trip(timed if rng.random() < 0.5 else few, rng)
        if found is not None:
            answers.append(found)
            events = stream(rng, 6)
            assert of_formula(made, events) == of_formula(formula_of(few, TYPES), events)
    assert sum(answers) > 20


@pytest.mark.draws("seed", 2)
def test_automaton_to_formula(seed: int) -> None:
    rng = Random(f"automata {seed}")
    answers: list[int] = []
    while len(answers) < 20:
        found = check_round_trip(automaton(rng), rng)
        if found is not None:
            answers.append(found)
    assert sum(answers) > 20


def test_what_is_written_back_is_read_again() -> None:
    pattern = parse("SELECT * WHERE (A AS x ;[> 1 s] B) WITHIN [<= 2.5 s]").pattern
    back = formula_of(merged_clocks(timed_cea(pattern)).timed, TYPES)
    assert parse(f"SELECT * WHERE {to_text(back)}").pattern == back


def test_an_automaton_without_runs_has_a_formula_without_complex_events() -> None:
    pattern = parse("SELECT * WHERE (A) WITHIN [> 1 s]").pattern
    events = stream(Random(0), 6)
    back = formula_of(timed_cea(pattern), TYPES)
    assert of_formula(back, events) == of_formula(pattern, events) == set()


def test_conditions_without_disjunctions() -> None:
    """Lemma A.1, also where a clock of another alternative is unset."""
    rng = Random("disjunctions")
    answers = 0
    for _ in range(60):
        timed = automaton(rng)
        events = stream(rng, 6)
        free = disjunction_free(timed)
        for move in free.transitions:
            checks_of(move.condition)  # refuses disjunctions
        found = of_automaton(timed, events)
        assert of_automaton(free, events) == found
        answers += len(found)
    assert answers > 100


def test_bounded_checks_and_resets_apart() -> None:
    """Lemmas A.2 and A.4, for automata of one clock."""
    rng = Random("one clock")
    unbounded = mixed = answers = 0
    for _ in range(60):
        timed = of_clock(disjunction_free(automaton(rng)), 0)
        events = stream(rng, 6)
        found = of_automaton(timed, events)
        answers += len(found)
        bounded = check_bounded(timed)
        assert of_automaton(bounded, events) == found
        assert check_bound(bounded) is not None
        unbounded += check_bound(timed) is None
        mixed += not is_reset_distinct(bounded)

        marked = strongly_deterministic(bounded)
        for leaving in marked.timed.leaving():
            assert len({move.label for move in leaving}) == len(leaving)
        first, second = reset_distinct(marked.timed)
        assert is_reset_distinct(first)
        assert is_reset_distinct(second)
        together = of_automaton(first, events) & of_automaton(second, events)
        assert together == of_automaton(marked.timed, events)
        kept = frozenset(marked.kept)
        assert found == {
            (start, end, frozenset((at, label & kept) for at, label in marks if label & kept))
            for start, end, marks in together
        }
    assert answers > 100
    assert unbounded > 5
    assert mixed > 5


def test_formulas_of_the_paper_alone() -> None:
    """Round trips of formulas with the paper's operators alone, of their own clocks."""
    rng = Random("paper")
    done = 0
    while done < 25:
        made = formula(rng, rng.randrange(1, 4), paper=True)
        timed = timed_cea(made)
        if timed.size <= 25 and check_round_trip(timed, rng) is not None:
            done += 1
