"""Queries of which an event type occurs nowhere: dictionaries tell it, and the answers are those without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from walk_grammar import CLAUSES, INSIDE, RULES, WRAPPERS, constructs

import cer_gpu as cer
from cer_gpu.engine.read.classify import Classifier
from cer_gpu.errors import DataError, QueryError
from cer_gpu.language.parser import parse
from cer_gpu.language.walk import needed_types

CONSTRUCTS = {name: query for name, query in constructs() if name in {*WRAPPERS, *INSIDE, *CLAUSES, *RULES}}


def stream(missing: str, seed: int, rows: int = 12) -> pa.Table:
    """Random events of all types but one, in the order of time."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in "ABCD" if kind != missing]
    return pa.table(
        {
            "type": pa.array(rng.choice(kinds, rows)),
            "ts": pa.array(np.cumsum(rng.integers(0, 2_000_000, rows)), pa.timestamp("us")),
            "id": rng.integers(0, 2, rows),
            "v": rng.integers(0, 5, rows),
            "p": rng.integers(0, 5, rows).astype(float),
            "s": pa.array(rng.choice(["x", "y"], rows)),
        }
    )


def encoded(events: pa.Table) -> pa.Table:
    """The same events, with types as codes of a dictionary."""
    return events.set_column(0, "type", events["type"].dictionary_encode())


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_dictionaries_change_no_answer(name: str) -> None:
    query = cer.compile(CONSTRUCTS[name])
    for seed, missing in enumerate(["A", "B", "C", "D", "E"]):
        events = stream(missing, seed)
        found = []
        for given in (events, encoded(events)):
            try:
                answers = query.run(given, order_by="ts").to_arrow().to_pylist()
                found.append(
                    (answers, query.count(given, order_by="ts"), len(query.hits(given, order_by="ts")))
                )
            except (DataError, QueryError) as error:
                found.append((str(error), 0, 0))
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("SELECT * WHERE A ; (B OR C) ; D?", "A"),
        ("SELECT * WHERE (A ; B) OR (A ; C)", "A"),
        ("SELECT * WHERE (A ; B+) UNLESS C", "AB"),
        ("SELECT * WHERE A ALL (B : NOT (C))", "AB"),
        ("SELECT * WHERE A FOLLOWED BY [<= 3 s] B", "AB"),
        ("SELECT * WHERE A NOT FOLLOWED BY [<= 3 s] B", "A"),
        ("SELECT * WHERE MAX((A AS a){2,3} FILTER a[v > 3])", "A"),
        ("Q(x) <- A(id = x), B(id = x)", "AB"),
    ],
)
def test_which_types_every_match_needs(query: str, needed: str) -> None:
    assert needed_types(parse(query)) == set(needed)


def test_rows_are_not_classified_where_no_match_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a row was classified")

    events = encoded(stream("C", 1))
    monkeypatch.setattr(Classifier, "in_groups", fail)
    monkeypatch.setattr(Classifier, "relevant", fail)
    with pytest.warns(UserWarning, match="no event has the type `C`"):
        assert cer.compile("SELECT * WHERE A ; B ; C WITHIN 3 s").count(events, order_by="ts") == 0


def test_the_order_of_rows_is_checked_all_the_same() -> None:
    events = encoded(stream("C", 1))
    with pytest.raises(DataError, match="order"):
        cer.compile("SELECT * WHERE A ; C WITHIN 3 s").count(events.take([3, 2, 1]), order_by="ts")
