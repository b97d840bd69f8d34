"""Worked examples of the CEPL thesis (A. Grez, 2017), by chapter and formula, on reference and engine."""

from __future__ import annotations

import polars as pl
import pytest

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.logic.lp import is_lp, to_lp
from cer_gpu.reference.dnf import is_dnf, to_dnf
from cer_gpu.reference.events import Event
from cer_gpu.reference.safe_formulas import is_safe, to_safe
from cer_gpu.reference.selection import next_key
from cer_gpu.reference.semantics import matches

FIGURE_2_1 = tuple(
    Event(kind, {"id": sensor, "tmp" if kind == "T" else "hum": value})
    for kind, sensor, value in (
        ("H", 2, 35),
        ("T", 0, 45),
        ("H", 0, 20),
        ("H", 1, 25),
        ("T", 1, 40),
        ("T", 0, 42),
        ("T", 1, 25),
        ("H", 1, 70),
        ("H", 0, 18),
    )
)
"""The stream S of Figure 2.1."""

FIRE = "FILTER x.tmp > 40 AND y.hum <= 25 AND x.id = 0 AND y.id = 0"
PHI_1 = f"(T AS x ; H AS y) {FIRE}"
PHI_1_PUSHED = "(T AS x FILTER x.tmp > 40 AND x.id = 0) ; (H AS y FILTER y.hum <= 25 AND y.id = 0)"
PHI_2 = f"((T AS x ; H AS y) OR (H AS y ; T AS x)) {FIRE}"
PHI_3 = (
    "(H AS x ; (T AS y FILTER y.id = 1)+ ; H AS z) FILTER x.hum < 30 AND z.hum > 60 AND x.id = 1 AND z.id = 1"
)
PHI_4 = "(H AS x ; (T AS y FILTER y.id = x.id)+ ; H AS z) FILTER x.hum < 30 AND z.hum > 60 AND x.id = z.id"
PHI_5 = "H AS x FILTER y.tmp <= 30"
PHI_6 = "T AS x ; ((T AS y FILTER x.tmp >= 40) OR (H AS y FILTER x.tmp < 40))"
PSI = "T AS x ; T AS x"
JUMP = (
    "((T AS x FILTER x.tmp < 20) ; (T AS y FILTER y.tmp > 40)) "
    "UNLESS (T AS z FILTER z.tmp >= 20 AND z.tmp <= 40)"
)


def formula(text: str) -> t.Pattern:
    query = parse(f"SELECT * WHERE {text}")
    assert isinstance(query, t.SelectQuery)
    return query.pattern


def positions(pattern: t.Pattern, events: tuple[Event, ...] = FIGURE_2_1) -> set[frozenset[int]]:
    """The matches of the thesis: the sets of marked positions."""
    return {match.positions() for match in matches(pattern, events)}


def on_engine(query: str, events: tuple[Event, ...] = FIGURE_2_1) -> set[frozenset[int]]:
    """The same by the engine; its counts and hits have to agree with what it lists."""
    rows = [{"type": event.type, **event.attributes} for event in events]
    table = pl.DataFrame(rows, infer_schema_length=None)
    compiled = cer.compile(query)
    found = list(compiled.run(table))
    assert compiled.count(table) == len(found)
    assert compiled.hits(table)["position"].to_pylist() == sorted({ce.end for ce in found})
    marked = [frozenset(position for marks in ce.marks.values() for position in marks) for ce in found]
    assert all((ce.start, ce.end) == (min(m), max(m)) for ce, m in zip(found, marked))
    return set(marked)


def temperatures(*values: int) -> tuple[Event, ...]:
    return tuple(Event("T", {"id": 0, "tmp": value}) for value in values)


def sets(*members: set[int]) -> set[frozenset[int]]:
    return {frozenset(member) for member in members}


EXAMPLES = {
    "phi_1": (PHI_1, sets({1, 2}, {1, 8}, {5, 8})),
    "phi_1 pushed": (PHI_1_PUSHED, sets({1, 2}, {1, 8}, {5, 8})),
    "phi_2": (PHI_2, sets({1, 2}, {1, 8}, {5, 8}, {2, 5})),
    "phi_2 with ALL (3.3)": (f"(T AS x ALL H AS y) {FIRE}", sets({1, 2}, {1, 8}, {5, 8}, {2, 5})),
    "phi_3": (PHI_3, sets({3, 4, 6, 7}, {3, 6, 7}, {3, 4, 7})),
    "phi_4": (PHI_4, sets({3, 4, 6, 7}, {3, 6, 7}, {3, 4, 7})),
    "phi_6": (PHI_6, sets({1, 4}, {1, 5}, {1, 6}, {4, 5}, {4, 6}, {5, 6}, {6, 7}, {6, 8})),
    "STRICT(phi_1) (4)": (f"STRICT({PHI_1})", sets({1, 2})),
    "NXT(phi_1) (4)": (f"NXT({PHI_1})", sets({1, 2}, {1, 8})),
    "MAX(phi_1) (4)": (f"MAX({PHI_1})", sets({1, 2}, {1, 8}, {5, 8})),
    "MAX(phi_3) (4)": (f"MAX({PHI_3})", sets({3, 4, 6, 7})),
    "NXT(phi_3) (4)": (f"NXT({PHI_3})", sets({3, 4, 6, 7})),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    text, expected = EXAMPLES[name]
    assert positions(formula(text)) == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_rewritten(name: str) -> None:
    text, expected = EXAMPLES[name]
    assert positions(to_lp(formula(text))) == expected
    assert positions(to_dnf(formula(text))) == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_on_the_engine(name: str) -> None:
    text, expected = EXAMPLES[name]
    assert on_engine(f"SELECT * WHERE {text}") == expected


STRATEGIES = {
    "STRICT": (PHI_1, sets({1, 2})),
    "NEXT": (PHI_1, sets({1, 2}, {1, 8})),
    "MAX": (PHI_1, sets({1, 2}, {1, 8}, {5, 8})),
    "LAST": (PHI_1, sets({1, 2}, {5, 8})),
    "NEXT phi_3": (PHI_3, sets({3, 4, 6, 7})),
    "MAX phi_3": (PHI_3, sets({3, 4, 6, 7})),
    "LAST phi_3": (PHI_3, sets({3, 4, 6, 7})),
}
"""Chapter 4 with the selector as the strategy of SELECT; LAST is not of the thesis."""


@pytest.mark.parametrize("name", STRATEGIES)
def test_chapter_4_as_a_strategy_on_the_engine(name: str) -> None:
    text, expected = STRATEGIES[name]
    assert on_engine(f"SELECT {name.split()[0]} * WHERE {text}") == expected


JUMPS = {
    "a jump": ((15, 45), sets({0, 1})),
    "a temperature between": ((15, 30, 45), sets()),
    "two low ones, two high ones": ((15, 10, 45, 50), sets({0, 2}, {1, 2}, {0, 3}, {1, 3})),
    "between, but of another jump": ((15, 30, 10, 45), sets({2, 3})),
    "both bounds are between": ((15, 20, 19, 41, 40, 41), sets({2, 3})),
}


@pytest.mark.parametrize("name", JUMPS)
def test_section_3_3_unless_is_a_jump_without_a_temperature_between(name: str) -> None:
    values, expected = JUMPS[name]
    assert positions(formula(JUMP), temperatures(*values)) == expected
    assert on_engine(f"SELECT * WHERE {JUMP}", temperatures(*values)) == expected


def test_section_5_1_phi_5_is_not_well_formed() -> None:
    with pytest.raises(cer.QueryError) as caught:
        cer.compile(f"SELECT * WHERE {PHI_5}")
    (finding,) = caught.value.diagnostics
    assert finding.code == "CER022"
    assert "`y`" in finding.message


def test_section_4_next_order() -> None:
    assert next_key(frozenset({5, 8})) < next_key(frozenset({1, 8}))
    assert next_key(frozenset({3, 6, 7})) < next_key(frozenset({3, 4, 6, 7}))


def test_lemma_4_1_next_refines_inclusion() -> None:
    # M1 a subset of M2 implies M1 <= M2, here with the common last position of matches that compare.
    assert next_key(frozenset({3, 7})) < next_key(frozenset({3, 6, 7})) < next_key(frozenset({3, 5, 6, 7}))


def test_section_5_1_safe_formulas() -> None:
    assert all(is_safe(formula(text)) for text in (PHI_1, PHI_2, PHI_3, PHI_4, PHI_6, JUMP))
    assert not is_safe(formula(PSI))


def test_section_5_1_psi_is_unsatisfiable_for_valuations_and_not_for_sets() -> None:
    two = FIGURE_2_1[4:6]
    assert positions(to_safe(formula(PSI)), two) == set()
    assert positions(formula(PSI), two) == sets({0, 1})


def test_section_5_1_unsafe_disjuncts_are_dropped() -> None:
    # Of the four disjuncts of (T AS x OR T AS y) ; (T AS x OR T AS y) two use a name twice.
    unsafe = formula("(T AS x OR T AS y) ; (T AS x OR T AS y)")
    assert to_safe(unsafe) == formula("(T AS x ; T AS y) OR (T AS y ; T AS x)")


def test_lemma_5_3_or_moves_to_the_top() -> None:
    assert not is_dnf(formula("(T AS x OR H AS x) ; H AS y"))
    assert to_dnf(formula("(T AS x OR H AS x) ; H AS y")) == formula("(T AS x ; H AS y) OR (H AS x ; H AS y)")
    assert is_dnf(formula("(T OR H)+"))


def test_section_5_2_which_formulas_are_in_lp_normal_form() -> None:
    assert not is_lp(formula(PHI_1))
    assert not is_lp(formula(PHI_2))
    assert is_lp(to_lp(formula(PHI_1)))
    assert to_lp(formula(PHI_1)) == to_lp(formula(PHI_1_PUSHED))


def test_theorem_5_3_lifts_the_predicates_of_phi_6() -> None:
    # One disjunct for each way to decide x.tmp >= 40 and x.tmp < 40; where both are false nothing matches.
    assert to_lp(formula(PHI_6)) == formula(
        "(T FILTER T[tmp >= 40 AND tmp < 40]) AS x ; (T AS y OR H AS y)"
        " OR (T FILTER T[tmp >= 40 AND NOT tmp < 40]) AS x ; T AS y"
        " OR (T FILTER T[tmp < 40 AND NOT tmp >= 40]) AS x ; H AS y"
    )
