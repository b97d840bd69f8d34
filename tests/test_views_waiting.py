"""Rows that are inserted a few at a time wait until the view is read; what is read is the same."""

from __future__ import annotations

import datetime as dt
import sys
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from random_views import apply, random_deletes, random_rows, random_rule, table
from test_views_random import listed
from view_oracle import Database, answers

import cer_gpu
from cer_gpu.engine.views import kept_view, waiting_rows
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
    return len(view._kept._waiting.updates)


@pytest.mark.draws("seed", 30)
def test_reading_seldom_is_reading_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"waiting {seed}")
    monkeypatch.setattr(waiting_rows, "FULL", rng.choice([2, 5, 1000]))
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
    view.insert("R", of(a=[0] * (waiting_rows.FEW + 1), k=[7] * (waiting_rows.FEW + 1)))
    assert not rows_waiting(view)
    for _ in range(waiting_rows.FULL - 1):
        view.insert("R", of(a=[0], k=[7]))
    assert rows_waiting(view) == waiting_rows.FULL - 1
    view.insert("R", of(a=[0], k=[7]))
    assert rows_waiting(view) == 1  # `delta` may be asked for the last one alone
    assert view.count() == 2 + waiting_rows.FEW + 1 + waiting_rows.FULL


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
        patched.setattr(kept_view.KeptView, "_climb", interrupted)
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
    monkeypatch.setattr(waiting_rows, "MOST", (2 + waiting_rows.FULL + waiting_rows.FEW) ** 2)
    view.insert("R", of(a=[0], k=[7]))
    assert not waiting_rows.WaitingRows().fit(lambda: [1 << 40, 1 << 40])
    assert rows_waiting(view) == 1
    monkeypatch.setattr(waiting_rows, "MOST", 1 << 10)
    assert view.count() == 3
    view.insert("R", of(a=[0], k=[7]))
    assert not rows_waiting(view)


@pytest.mark.draws("seed", 10)
def test_rows_as_dicts_are_the_rows_of_a_table(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"dicts {seed}")
    monkeypatch.setattr(waiting_rows, "FULL", rng.choice([3, 1000]))
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
            with pytest.raises(DataError, match=r"column `n` of the rows for R.*the column is of type int64"):
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
    for wrong, said in (
        ([{"a": 1, "k": 7}, {"a": 2}], "row 1 of the rows for R has no column `k`: it has `a`; give None"),
        ([{"A": 1, "k": 7}], "row 0 of the rows for R has no column `a`: it has `A`, `k`"),
        ([{"a": 1, "k": "seven"}], r"column `k` of the rows for R: .*is of type int64"),
        ([{"a": 2**63 - 1, "k": 7}], "largest int64"),
        ([{"a": 2**63, "k": 7}], "column `a` of the rows for R"),
        ([{1: 2}], "row 0 of the rows for R has no column `[ak]`: it has `1`"),
        ({"a": 1, "k": 7}, "one dict: put the dict of each row into a list"),
        ([{"a": 1, "k": 7}, 5], "the rows for R are a list that holds a int: a list of rows holds a dict"),
        ([(1, 7)], "the rows for R are a list that holds a tuple"),
        ([None], "the rows for R are a list that holds a NoneType"),
    ):
        with pytest.raises(DataError, match=said):
            view.insert("R", wrong)
    new = cer_gpu.maintain(RULE)
    for wrong, said in (
        ([], "an empty list"),
        ([{1: 2}], "have a column 1: a column is named by a text"),
        ([{"a": None, "k": 7}], "column `a` of R is of type null.* insert a table whose columns have types"),
    ):
        with pytest.raises(DataError, match=said):
            new.insert("R", wrong)
    view.insert("R", [])
    assert view.count() == 2
    with pytest.raises(DataError, match="cannot delete"):
        view.delete("R", [{"a": 5, "k": 7}])
    view.delete("R", [{"a": 1, "k": 7}])
    assert view.count() == 1


def test_a_dict_is_the_same_row_whether_it_waits_or_not() -> None:
    view = cer_gpu.maintain("Q(a, x, t) <- R(a = a, x = x), S(a = a, t = t)")
    view.insert(
        "R", pa.table({"a": pa.array([0], pa.int8()), "x": pa.array([9.0], pa.float32()), "note": [1]})
    )
    view.insert("S", [{"a": 300, "t": "x"}])
    for row in (
        {"a": 300, "x": 0.1},
        {"a": 300, "x": 0.1, "note": "text"},
        {"a": 300, "x": 0.1, "note": object()},
    ):
        view.insert("R", [row])
        assert rows_waiting(view) == 1
        assert view.enumerate().to_arrow()["x"].to_pylist() == [0.1]
        view.delete("R", [row])
        assert view.count() == 0
    many = defaultdict(int, {"a": 300})
    with pytest.raises(DataError, match="no column `x`"):
        view.insert("R", [many])
    assert dict(many) == {"a": 300}
    for odd in ([{"a": 1, "t": "\ud800"}], [{"a": 1, "t": "\ud800"}] * 99):
        with pytest.raises(DataError, match=r"column `t` of the rows for S: .*surrogates"):
            view.insert("S", odd)
    view.insert("S", [{"a": 300, "t": "größer"}])
    assert rows_waiting(view) == 1
    again = JoinView.restore(view.snapshot())
    again.insert("R", [{"a": 300, "x": 2.0, "multiplicity": "text"}])
    assert again.count() == 2


def test_times_that_are_finer_than_their_column_are_an_error() -> None:
    fine = dt.datetime(2020, 1, 1, 0, 0, 0, 123456)
    view = cer_gpu.maintain("Q(a, t) <- R(a, t), S(a)")
    view.insert("R", pa.table({"a": [0], "t": pa.array([fine.replace(microsecond=0)], pa.timestamp("s"))}))
    view.insert("S", [{"a": 0}])
    for rows in ([{"a": 1, "t": fine}], pa.table({"a": [1], "t": [fine]})):
        with pytest.raises(
            DataError, match=r"column `t` of R was of type timestamp\[s\] before, and has a finer"
        ):
            view.insert("R", rows)
    view.insert("R", [{"a": 0, "t": fine.replace(microsecond=0, year=2021)}, {"a": 0, "t": None}])
    assert view.enumerate().to_arrow()["t"].null_count == 1
    assert view.count() == 3


def test_an_attribute_may_be_named_as_the_column_of_multiplicities() -> None:
    view = cer_gpu.maintain("Q(m) <- R(a = x, multiplicity = m), S(a = x)")
    view.update(inserts={"R": of(a=[1, 1], multiplicity=[5, 5]), "S": of(a=[1])})
    again = JoinView.restore(view.snapshot())
    again.insert("R", [{"a": 1, "multiplicity": 6}])
    assert listed(again.enumerate()) == {(5,): 2, (6,): 1}


def test_rows_that_wait_never_make_a_multiplicity_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_rows, "FULL", 4)
    monkeypatch.setattr(waiting_rows, "MOST", 150**2)
    view = filled()
    waited = []
    for _ in range(40):
        for name, row in (("R", {"a": 1, "k": 7}), ("S", {"k": 7, "c": 3})):
            view.insert(name, [row] * 3)
            waited.append(rows_waiting(view) > 0)
    # The bound is looked at again each time that rows were taken in.
    assert waited[0]
    assert not waited[-1]
    assert view.count() == (2 + 120) * (1 + 120)


def test_ctrl_c_leaves_a_row_that_waits_or_none() -> None:
    """Wherever it comes while a row is inserted."""
    view = filled()
    home = str(Path(waiting_rows.__file__).parent)
    before, steps, done = view.count(), 0, False
    while not done:
        left = steps

        def line(frame: Any, event: str, _: Any) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.startswith(home):
                return None
            left -= event == "line"
            if left < 0:
                raise KeyboardInterrupt
            return line

        view.insert("R", [{"a": 2, "k": 7}])  # an update before it, which waits too
        before += 1
        sys.settrace(line)
        try:
            view.insert("R", [{"a": 2, "k": 7}])
            done = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        found = view.count()
        assert found in (before, before + 1)
        before = found
        steps += 1
    assert steps > 10
