"""Type columns of whole numbers and of booleans: the same answers as with the types as strings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.checked_query import check

QUERY = "SELECT * FROM S WHERE `4624` AS a ; `4625` + AS b ; `-1` AS c FILTER b[v > 3] WITHIN 9 EVENTS"
MANY = (
    "SELECT * FROM S WHERE (`1` OR `3` OR `7` OR `12` OR `30` OR `4624`) AS a ; `4625` AS b WITHIN 3 EVENTS"
)


def table(kind: pa.DataType, values: list[Any], n: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    chosen = [values[number] for number in rng.integers(0, len(values), n)]
    return pa.table({"event_id": pa.array(chosen, kind), "v": rng.integers(0, 9, n), "ts": np.arange(n)})


def with_strings(numbers: pa.Table) -> pa.Table:
    return numbers.set_column(0, "event_id", numbers["event_id"].cast(pa.string()))


@pytest.mark.crossed
@pytest.mark.parametrize("kind", [pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("query", [QUERY, MANY])
def test_types_that_are_whole_numbers(kind: pa.DataType, query: str) -> None:
    values = [1, 3, 12, 4624, 4625, 4625, 5000, None]
    if pa.types.is_signed_integer(kind):
        values.append(-1)
    numbers = table(kind, values)
    compiled = cer.compile(query)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = compiled.run(with_strings(numbers), type_column="event_id", order_by="ts").to_arrow()
        assert compiled.run(numbers, type_column="event_id", order_by="ts").to_arrow().equals(wanted)
        assert compiled.count(numbers, type_column="event_id") == len(wanted)
        with compiled.stream(type_column="event_id", order_by="ts") as stream:
            pushed = [stream.push(numbers.slice(start, 7)).to_arrow() for start in range(0, len(numbers), 7)]
    assert pa.concat_tables(pushed).equals(wanted)
    assert len(wanted) or not pa.types.is_signed_integer(kind)


def test_types_that_are_booleans() -> None:
    flags = table(pa.bool_(), [True, False, None])
    compiled = cer.compile("SELECT * FROM S WHERE `true` AS a : `false` AS b FILTER a[v > 5]")
    wanted = compiled.run(with_strings(flags), type_column="event_id").to_arrow()
    assert compiled.run(flags, type_column="event_id").to_arrow().equals(wanted)
    assert len(wanted)


def test_numbers_beyond_the_type_of_the_column_match_nothing() -> None:
    numbers = table(pa.int8(), [1, 127, -128])
    compiled = cer.compile("SELECT * FROM S WHERE `127` AS a : `-128` AS b")
    assert compiled.count(numbers, type_column="event_id") > 0
    beyond = cer.compile("SELECT * FROM S WHERE `128` AS a : `4624` AS b")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert beyond.count(numbers, type_column="event_id") == 0
    assert "no event has the type `4624`" in [str(one.message) for one in said]


def test_a_type_that_no_event_has_is_named_with_a_near_one() -> None:
    numbers = table(pa.int64(), [4624, 4625])
    with pytest.warns(UserWarning, match="no event has the type `4634`: did you mean `4624`?"):
        cer.compile("SELECT * FROM S WHERE `4634` AS a").count(numbers, type_column="event_id")
    assert [one.code for one in check("SELECT * WHERE `4634`", numbers, type_column="event_id")] == ["CER020"]
    assert check("SELECT * WHERE `4624`", numbers, type_column="event_id") == ()


def test_a_filter_on_the_column_of_types_says_what_to_write() -> None:
    numbers = table(pa.int64(), [4624, 4625])
    (found,) = check("SELECT * WHERE `4624` AS a FILTER a[event_id = 4624]", numbers, type_column="event_id")
    assert found.code == "CER021"
    assert found.hints[0].startswith("`event_id` is the column of event types (type_column): name the")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            pa.int64(),
            "Logon",
            "`event_id` of the table holds integers, and `Logon` is not one of them: .* as in `4624`",
        ),
        (pa.int64(), "`04624`", "holds integers, and `04624` is not one of them"),
        (pa.bool_(), "TRUTH", "holds booleans, and `TRUTH` is not one of them: .* as in `true` or `false`"),
    ],
)
def test_a_type_that_the_column_cannot_hold(kind: pa.DataType, name: str, message: str) -> None:
    with pytest.raises(cer.DataError, match=message):
        cer.compile(f"SELECT * FROM S WHERE {name} AS a").run(
            table(kind, [True] if kind == pa.bool_() else [1]), type_column="event_id"
        )


# ------------------------------------------------------------------------- no column tells the types

TRADES = (
    "SELECT * FROM Trades WHERE Trades AS a ; Trades AS b FILTER a[v > 3] WITHIN 3 EVENTS",
    "SELECT a[v], b FROM Trades WHERE Trades AS a : (Trades AS b)+ FILTER b[v < 4] AND a.v < b.v",
    "SELECT * FROM Trades WHERE Trades AS a NOT FOLLOWED BY [<= 9] Trades AS b PARTITION BY g WITHIN 9 [ts]",
    "SELECT MAX * FROM Trades WHERE (Trades AS a FILTER a.v > PRIOR(a).v)+",
    "Q(x) <- Trades(v = x, g = y), Trades(v = y, g = x) WITHIN 9 EVENTS",
)
HINT = (
    "no event has the type `Trades`: the column `type` tells the types of events, and none is `Trades`; "
    "pass type_column=None (--type-column '') if that column is an ordinary attribute"
)


def trades(n: int = 60, seed: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.array(rng.choice(["buy", "sell"], n)),
            "ts": np.arange(n),
            "v": rng.integers(0, 9, n),
            "g": rng.integers(0, 3, n),
        }
    )


@pytest.mark.draws("seed", 3)
@pytest.mark.parametrize("text", TRADES)
def test_without_a_type_column_all_events_are_of_the_type_in_from(text: str, seed: int) -> None:
    table, query = trades(seed=seed), cer.compile(text)
    bare = table.drop_columns(["type"])
    ask: dict[str, Any] = {"order_by": "ts", "order_unit": "s"}
    wanted = query.run(bare, **ask).to_arrow()
    assert len(wanted)
    assert query.run(table, type_column=None, **ask).to_arrow().equals(wanted)
    assert query.run(bare, type_column=None, **ask).to_arrow().equals(wanted)
    assert query.count(table, type_column=None, **ask) == query.count(bare, **ask) == len(wanted)
    assert query.counts(table, type_column=None, **ask).equals(query.counts(bare, **ask))
    assert query.hits(table, type_column=None, **ask).equals(query.hits(bare, **ask))
    with query.stream(type_column=None, **ask) as stream:
        pushed = [stream.push(table.slice(start, 7)).to_arrow() for start in range(0, len(table), 7)]
        last = stream.close()
    found = [*pushed, *([] if last is None else [last.to_arrow()])]
    assert sum(map(len, found)) == len(wanted)
    one = cer.backtest({"q": query}, table, type_column=None, **ask).to_arrow()
    assert one.equals(cer.backtest({"q": query}, bare, **ask).to_arrow())
    assert not [one for one in query.check(table, type_column=None, **ask) if one.severity == "error"]


def test_the_column_is_then_an_attribute_like_others() -> None:
    table = trades()
    query = cer.compile("SELECT a[type] FROM Trades WHERE Trades AS a FILTER a[type = 'buy']")
    assert query.count(table, type_column=None) == table["type"].to_pylist().count("buy")
    with pytest.raises(cer.QueryError, match="pass type_column=None"):
        query.count(table)


def test_a_type_that_from_names_and_the_column_does_not_hold_has_a_note() -> None:
    table = trades()
    for text in (TRADES[0], TRADES[-1]):
        with pytest.warns(UserWarning, match="ordinary attribute") as said:
            assert cer.compile(text).count(table, order_by="ts") == 0
        assert HINT in [str(one.message) for one in said]
    with pytest.warns(UserWarning, match="pass type_column=None"):
        found = cer.backtest({"q": TRADES[0], "r": TRADES[0] + " "}, table, order_by="ts")
    assert HINT in found.notes
    assert any("type_column=None" in one.hints[-1] for one in check(TRADES[0], table))
    # A name that is near, and one that FROM does not give, are mistakes of another kind.
    for text in ("SELECT * FROM Buy WHERE Buy", "SELECT * FROM S WHERE Trades"):
        with pytest.warns(UserWarning, match="no event has the type") as said:
            cer.compile(text).count(table)
        assert not [one for one in said if "type_column" in str(one.message)]


@pytest.mark.parametrize("text", ["SELECT * FROM us WHERE Trade", "SELECT * FROM us WHERE us ; Trade AS a"])
def test_a_type_that_from_does_not_name_has_the_remedy(text: str) -> None:
    bare = trades().drop_columns(["type"])
    with pytest.raises(cer.QueryError) as error:
        cer.compile(text).count(bare)
    hint = (
        "no column tells the types, so all events have the type that FROM names, `us`: write `FROM Trade`, "
        "or pass type_column=... (--type-column ...) if there is such a column"
    )
    assert (
        [one.hints for one in error.value.diagnostics]
        == [(hint,)]
        == [one.hints for one in check(text, bare)]
    )
    # A name that is near is a slip of the pen.
    with pytest.raises(cer.QueryError, match="did you mean `Trades`"):
        cer.compile("SELECT * FROM Trades WHERE Trade").count(bare)


def test_what_does_not_go_without_a_type_column() -> None:
    table = trades()
    with pytest.raises(cer.DataError, match="a dict of tables tells the types of events by its keys"):
        cer.compile(TRADES[0]).count({"Trades": table}, order_by="ts", type_column=None)
    with pytest.raises(cer.DataError, match=r"type_column=None says that all events .* use only the type"):
        cer.compile("SELECT * WHERE A ; B").count(table, type_column=None)
    with pytest.raises(cer.DataError, match=r"must hold strings, .* pass type_column=None"):
        cer.compile(TRADES[0]).count(table.set_column(0, "type", table["v"].cast(pa.float64())))
    for name in (3, ["type"], table):
        with pytest.raises(TypeError, match="type_column must be the name of a column, a str, not") as error:
            cer.compile(TRADES[0]).count(table, type_column=name)
        assert len(str(error.value)) < 150
