"""Forms that the laws say are the same: the same matches, whichever engine runs each."""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random

import cliffs
import pytest
from equivalent_forms import LAWS, other_form
from random_questions import events, question

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text


def matches(query: t.SelectQuery, seed: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cer.compile(to_text(query)).run(events(seed, 60), order_by="ts").to_arrow()
    # A key that is written as equalities is no column of the result.
    names = sorted(name for name in found.schema.names if name != "k")
    return sorted(map(repr, found.select(names).to_pylist()))


@pytest.mark.parametrize("law", LAWS)
def test_both_forms_have_the_same_matches(law: str) -> None:
    rng = Random(f"forms {law}")
    applied = answered = 0
    for _ in range(2000):
        query = question(rng)
        other = LAWS[law](rng, query)
        if other is None or applied == 15:
            continue
        applied += 1
        seed = rng.randrange(1000)
        wanted = matches(query, seed)
        assert matches(other, seed) == wanted, f"{to_text(query)} -- {to_text(other)}"
        answered += len(wanted) > 0
    assert applied == 15
    assert answered > 0


@pytest.mark.draws("seed", 60)
def test_several_laws_one_after_another(seed: int) -> None:
    rng = Random(f"several forms {seed}")
    query = question(rng)
    other, _ = other_form(rng, query)
    assert matches(other, seed) == matches(query, seed), f"{to_text(query)} -- {to_text(other)}"


def test_every_law_is_drawn() -> None:
    rng, drawn = Random("laws"), Counter[str]()
    for _ in range(400):
        drawn.update(other_form(rng, question(rng))[1])
    assert set(drawn) == set(LAWS)


def test_what_a_hunt_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """Everything is a cliff where a factor of nearly nothing is asked for."""
    assert cliffs.main(["--pairs", "2", "--rows", "500"]) == 0
    assert capsys.readouterr().out == "2 pairs of forms, 0 found\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cliffs, "LEAST_S", 0)
        assert cliffs.main(["--pairs", "2", "--rows", "500", "--factor", "0.1"]) == 1
    printed = capsys.readouterr().out
    assert "times as long (" in printed
    assert " ms  " in printed
    assert "SELECT" in printed


def test_a_form_that_takes_too_long_is_stopped() -> None:
    slow, table = parse("SELECT * WHERE (A ; B) WITHIN [<= 900 s] ; C"), events(1, 20_000)
    assert isinstance(slow, t.SelectQuery)
    assert cliffs.timed(slow, "count", table, 0.001) == cliffs.Timing(None, 0.001)
