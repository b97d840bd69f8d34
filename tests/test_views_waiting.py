"""Rows that are inserted a few at a time wait until the view is read; what is read is the same."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from random_views import apply, random_deletes, random_rows, random_rule, table
from test_views_random import listed
from view_oracle import Database, answers

import cer_gpu
from cer_gpu.engine.views import kept, waiting
from cer_gpu.errors import CerError, DataError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.views import JoinView

RULE = "Q(a, k, c) <- R(a, k), S(k, c), a < c"


def of(**columns: list[Any]) -> pa.Table:
    return pa.table(columns)


def filled() -> JoinView:
    view = cer_gpu.maintain(RULE)
    view.insert("R", of(a=[1, 2], k=[7, 7]))
    view.insert("S", of(k=[7], c=[3]))
    return view


def rows_waiting(view: JoinView) -> int:
    return view._kept._waiting.updates


@pytest.mark.parametrize("seed", range(30))
def test_reading_seldom_is_reading_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"waiting {seed}")
    monkeypatch.setattr(waiting, "FULL", rng.choice([2, 5, 1000]))
    text, relations = random_rule(rng, rng.randint(1, 4))
    rule = parse(text)
    assert isinstance(rule, t.Rule)
    view = cer_gpu.maintain(text)
    database: Database = {name: Counter() for name in relations}
    view.update(inserts={name: table([], kinds) for name, kinds in relations.items()})
    for _ in range(25):
        before = answers(rule, database)
        name = rng.choice(list(relations))
        rows, sign = random_rows(rng, relations[name], rng.randint(0, 3)), 1
        if rng.random() < 0.15:
            rows, sign = random_deletes(rng, database[name], 3), -1
        apply(database, name, rows, sign)
        changed = table(rows, relations[name])
        view.update(**{"inserts" if sign > 0 else "deletes": {name: changed}})
        read = rng.choice(["nothing", "nothing", "nothing", "delta", "count", "answers", "snapshot"])
        wanted = answers(rule, database)
        if read == "delta":
            change = {row: wanted[row] - before[row] for row in wanted | before}
            assert listed(view.delta()) == {row: n for row, n in change.items() if n}, text
        elif read == "count":
            assert view.count() == wanted.total()
        elif read == "answers":
            assert listed(view.enumerate()) == wanted
        elif read == "snapshot":
            assert listed(JoinView.restore(view.snapshot()).enumerate()) == wanted
    assert listed(view.enumerate()) == answers(rule, database)


def test_rows_wait_until_the_view_is_read() -> None:
    view = filled()
    for a in range(5):
        view.insert("R", of(a=[a], k=[7]))
    assert rows_waiting(view) == 5
    assert view.count() == 5
    assert not rows_waiting(view)
    assert listed(view.delta()) == Counter()
    view.insert("S", of(k=[7], c=[1]))
    view.insert("S", of(k=[7], c=[2]))
    assert view.count() == 9
    assert listed(view.delta()) == {(0, 7, 2): 1, (1, 7, 2): 2}


def test_many_rows_do_not_wait() -> None:
    view = filled()
    view.insert("R", of(a=[0] * (waiting.FEW + 1), k=[7] * (waiting.FEW + 1)))
    assert not rows_waiting(view)
    for _ in range(waiting.FULL - 1):
        view.insert("R", of(a=[0], k=[7]))
    assert rows_waiting(view) == waiting.FULL - 1
    view.insert("R", of(a=[0], k=[7]))
    assert rows_waiting(view) == 1  # `delta` may be asked for the last one alone
    assert view.count() == 2 + waiting.FEW + 1 + waiting.FULL


def test_groups_take_rows_that_waited() -> None:
    view = cer_gpu.maintain("Q(k; COUNT(*), SUM(c)) <- R(a, k), S(k, c), a < c")
    view.insert("R", of(a=[1], k=[7]))
    view.insert("S", of(k=[7], c=[3]))
    assert view.enumerate().to_arrow()["SUM(c)"].to_pylist() == [3]
    for c in (4, 5, 6):
        view.insert("S", of(k=[7], c=[c]))
    assert rows_waiting(view) == 3
    assert listed(view.delta()) == {(7, 3, 12): -1, (7, 4, 18): 1}
    assert view.enumerate().to_arrow()["COUNT(*)"].to_pylist() == [4]


def test_a_row_that_is_deleted_may_have_waited() -> None:
    view = filled()
    view.insert("R", of(a=[0], k=[7]))
    assert rows_waiting(view) == 1
    view.delete("R", of(a=[0], k=[7]))
    assert view.count() == 2
    view.insert("R", of(a=[0], k=[7]))
    with pytest.raises(DataError, match="cannot delete"):
        view.delete("R", of(a=[9], k=[7]))
    assert view.count() == 3


def test_a_listing_does_not_go_on_after_an_insert() -> None:
    view = filled()
    found = iter(view.enumerate().batches(1))
    next(found)
    view.insert("R", of(a=[0], k=[7]))
    with pytest.raises(CerError, match="updated while"):
        next(found)


def test_a_wrong_row_changes_nothing() -> None:
    view = filled()
    view.insert("R", of(a=[0], k=[7]))
    with pytest.raises(DataError, match="column `c`"):
        view.update(inserts={"R": of(a=[0], k=[7]), "S": of(k=[7], c=["x"])})
    with pytest.raises(DataError, match="largest int64"):
        view.insert("R", of(a=[2**63 - 1], k=[7]))
    assert view.count() == 3


def test_rows_wait_again_where_taking_them_in_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    view = filled()
    for a in range(3):
        view.insert("R", of(a=[a], k=[7]))

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(kept.KeptView, "_climb", interrupted)
        with pytest.raises(KeyboardInterrupt):
            view.count()
    assert rows_waiting(view) == 3
    assert view.count() == 5


@pytest.mark.parametrize(
    "rule",
    [
        "Q(a, k, c) <- R(a, k), S(k, c), a + 1 < c",  # the sum may not fit
        "Q(a, k, c) <- R(a, k), S(k, c), T(c, a)",  # there may be too many pairs
    ],
)
def test_what_may_fail_does_not_wait(rule: str) -> None:
    view = cer_gpu.maintain(rule)
    view.update(inserts={"R": of(a=[1], k=[7]), "S": of(k=[7], c=[3])})
    if "T" in rule:
        view.insert("T", of(c=[3], a=[1]))
    view.insert("R", of(a=[2], k=[7]))
    assert not rows_waiting(view)


def test_a_multiplicity_that_may_be_too_large_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    view = filled()
    monkeypatch.setattr(waiting, "MOST", (2 + waiting.FULL + waiting.FEW) ** 2)
    view.insert("R", of(a=[0], k=[7]))
    assert not waiting.WaitingRows().fit(lambda: [1 << 40, 1 << 40])
    assert rows_waiting(view) == 1
    monkeypatch.setattr(waiting, "MOST", 1 << 10)
    assert view.count() == 3
    view.insert("R", of(a=[0], k=[7]))
    assert not rows_waiting(view)


@pytest.mark.parametrize("seed", range(10))
def test_rows_as_dicts_are_the_rows_of_a_table(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"dicts {seed}")
    monkeypatch.setattr(waiting, "FULL", rng.choice([3, 1000]))
    text, relations = random_rule(rng, rng.randint(1, 3))
    views = [cer_gpu.maintain(text) for _ in range(2)]
    for view in views:
        view.update(inserts={name: table([], kinds) for name, kinds in relations.items()})
    database: Database = {name: Counter() for name in relations}
    for _ in range(20):
        name = rng.choice(list(relations))
        rows, sign = random_rows(rng, relations[name], rng.randint(1, 3)), 1
        if rng.random() < 0.2:
            rows, sign = random_deletes(rng, database[name], 2), -1
        if not rows:
            continue
        apply(database, name, rows, sign)
        changed = table(rows, relations[name])
        for view, given in zip(views, (changed, changed.to_pylist())):
            view.update(**{"inserts" if sign > 0 else "deletes": {name: given}})
        if rng.random() < 0.3:
            assert listed(views[0].delta()) == listed(views[1].delta()), text
    assert listed(views[0].enumerate()) == listed(views[1].enumerate()), text


def test_dicts_of_each_type_wait_and_others_are_read_as_a_table() -> None:
    view = cer_gpu.maintain("Q(n, x, s, n2) <- R(n, x, s), S(n2, s), n < n2")
    view.insert("R", [{"n": 1, "x": 0.5, "s": "one"}, {"n": 2, "x": None, "s": "two"}])
    view.insert("S", [{"n2": 2, "s": "one"}])
    view.insert("R", [{"n": 0, "x": -1.5, "s": "one", "more": 9}])
    assert rows_waiting(view) == 1
    view.insert("S", of(n2=[5], s=["two"]))
    assert rows_waiting(view) == 2
    for odd in (
        {"n": 1, "x": 2, "s": "two"},
        {"n": 0, "x": None, "s": "two"},
        {"n": True, "x": 0.5, "s": "a"},
    ):
        if odd["n"] is True:
            with pytest.raises(
                DataError, match=r"column `n` of the rows for R.*before, it was of type int64"
            ):
                view.insert("R", [odd])
        else:
            view.insert("R", [odd])
            assert not rows_waiting(view)
    found = {(row["n"], row["x"], row["s"]) for row in view.enumerate().to_arrow().to_pylist()}
    assert found == {
        (1, 0.5, "one"),
        (0, -1.5, "one"),
        (2, None, "two"),
        (1, 2.0, "two"),
        (0, None, "two"),
    }


def test_wrong_dicts_change_nothing() -> None:
    view = filled()
    with pytest.raises(DataError, match="row 1 of the rows for R has the columns a, and row 0 has a, k"):
        view.insert("R", [{"a": 1, "k": 7}, {"a": 2}])
    with pytest.raises(DataError, match="column `a` of R is missing: the table has A, k"):
        view.insert("R", [{"A": 1, "k": 7}])
    with pytest.raises(DataError, match=r"column `k` of the rows for R: .*was of type int64"):
        view.insert("R", [{"a": 1, "k": "seven"}])
    with pytest.raises(DataError, match="largest int64"):
        view.insert("R", [{"a": 2**63 - 1, "k": 7}])
    with pytest.raises(DataError, match="column `a` of the rows for R"):
        view.insert("R", [{"a": 2**63, "k": 7}])
    with pytest.raises(DataError, match="one dict: put"):
        view.insert("R", {"a": 1, "k": 7})
    with pytest.raises(DataError, match="an empty list"):
        cer_gpu.maintain(RULE).insert("R", [])
    view.insert("R", [])
    assert view.count() == 2
    with pytest.raises(DataError, match="cannot delete"):
        view.delete("R", [{"a": 5, "k": 7}])
    view.delete("R", [{"a": 1, "k": 7}])
    assert view.count() == 1
