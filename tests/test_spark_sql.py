"""The table function: SQL on Spark gives what the local engine gives, and says at once what is wrong."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import spark_sessions
from generate import pattern, stream, stream_to_table, unary_query

import cer_gpu as cer
from cer_gpu.errors import CerError
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text

pytestmark = spark_sessions.GROUP

BEGIN = datetime(2024, 3, 31, tzinfo=UTC)
"""The day on which summer time begins in Europe."""

PAIR = "SELECT * FROM S WHERE A AS a ; B AS b"
ORDER = "order_by => array('ts', 'eid'), type_column => 'type', stream_column => 'stream', event_id => 'eid'"
LOCAL: dict[str, Any] = {"order_by": ["ts", "eid"], "type_column": "type", "stream_column": "stream"}


@pytest.fixture(scope="module")
def sql(spark: Any) -> Iterator[Callable[..., pa.Table]]:
    """A function that gives the answer to a call of the table function over a table `t`, shuffled."""
    from cer_gpu import spark as cer_spark

    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.cer.gpu", "off")
    cer_spark.register(spark)
    # Times are what they are, wherever the session is.
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")

    def ask(table: pa.Table, call: str, **constants: Any) -> pa.Table:
        order = Random(len(table)).sample(range(len(table)), len(table))
        shuffled = table.take(pa.array(order, pa.int64()))
        spark.createDataFrame(shuffled).repartition(3).createOrReplaceTempView("t")
        return spark.sql(f"SELECT * FROM cer_match({call})", args=constants).toArrow()

    yield ask
    spark.conf.set("spark.sql.session.timeZone", zone)
    spark.conf.unset("spark.cer.gpu")


def trades(n: int = 60, symbols: int = 4) -> pa.Table:
    """Events with a time of each event's own, in its order."""
    rng = Random(n)
    return pa.table(
        {
            "type": [rng.choice("ABC") for _ in range(n)],
            "ts": pa.array([BEGIN + timedelta(minutes=7 * i) for i in range(n)], pa.timestamp("us", "UTC")),
            "price": [float(rng.randrange(100)) for _ in range(n)],
            "symbol": [f"s{rng.randrange(symbols)}" for _ in range(n)],
            "eid": pa.array(range(n), pa.int64()),
        }
    )


def rows(table: pa.Table) -> list[str]:
    """The rows as text, in which one NaN is like another, in an order of their own."""
    return sorted(repr(row) for row in table.to_pylist())


def wanted(query: str, table: pa.Table, product: str = "run", **keywords: Any) -> pa.Table:
    """The local answer."""
    found = getattr(cer.compile(query), product)(table, **(keywords or {"order_by": "ts"}))
    return found if product != "run" else found.to_arrow()


# ------------------------------------------------------------------------------------ the same answers


def random_case(seed: int, clauses: bool) -> tuple[str, pa.Table]:
    """A query that the local engine answers, and the events; `eid` is the place of an event."""
    rng = Random(f"sql {seed} {clauses}")
    while True:
        query = unary_query(rng) if clauses else t.SelectQuery(pattern(rng), window=t.Window(4, "events"))
        text = to_text(query)
        table = stream_to_table(stream(rng, 40))
        times = table["ts"].cast(pa.timestamp("us", "UTC"))
        table = table.set_column(table.schema.get_field_index("ts"), "ts", times)
        table = table.append_column("eid", pa.array(range(len(table)), pa.int64()))
        if clauses and not query.partition:
            continue
        try:
            answer = wanted(text, table, **LOCAL)
        except CerError:
            continue
        names = {name.lower() for name in answer.schema.names}  # Spark does not tell case apart
        if 0 < len(answer) < 2000 and len(names) == answer.num_columns:
            return text, table


@pytest.mark.draws("seed", 3)
def test_queries_with_keys_of_their_own_agree_with_the_local_engine(sql: Any, seed: int) -> None:
    text, table = random_case(seed, True)
    answer = sql(table, f"TABLE(t), :q, {ORDER}", q=text)
    expected = wanted(text, table, **LOCAL)
    assert answer.schema.names == expected.schema.names
    assert rows(answer) == rows(expected)


@pytest.mark.draws("seed", 3)
def test_partitions_of_the_call_are_streams_of_their_own(sql: Any, seed: int) -> None:
    text, table = random_case(seed, False)
    answer = sql(table, f"TABLE(t) PARTITION BY (id), :q, {ORDER}", q=text)
    expected = []
    for value in [*range(3), None]:
        part = table.filter(pa.array([key == value for key in table["id"].to_pylist()]))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            found = wanted(text, part, **LOCAL)
        ids = part["eid"].to_pylist()
        for row in found.to_pylist():
            expected.append({name: _named(row[name], ids) for name in found.schema.names})
    assert rows(answer) == sorted(map(repr, expected))


def _named(value: Any, ids: list[int]) -> Any:
    """The ids of positions."""
    if isinstance(value, list):
        return [_named(one, ids) for one in value]
    return ids[value] if isinstance(value, int) else value


def test_a_table_of_one_stream(sql: Any) -> None:
    table = trades()
    query = PAIR.replace("*", "a, b[price, ts]") + " WITHIN 3 EVENTS"
    answer = sql(table, "TABLE(t), :q, single_partition => true", q=query)
    assert answer.num_rows > 10
    assert rows(answer) == rows(wanted(query, table))


def test_positions_are_places_in_the_partition_without_event_id(sql: Any) -> None:
    table = trades()
    query = PAIR.replace("*", "a, b") + " WITHIN 3 EVENTS"
    answer = sql(table, "TABLE(t) PARTITION BY symbol ORDER BY price DESC, query => :q", q=query)
    expected = []
    for symbol in sorted(set(table["symbol"].to_pylist())):
        part = table.filter(pa.compute.equal(table["symbol"], symbol))
        expected += wanted(query, part).to_pylist()
    assert expected
    assert rows(answer) == sorted(map(repr, expected))


@pytest.mark.parametrize(
    "given", ["named_struct('p', 20.5, 'w', '3 EVENTS')", "map('p', '20.5', 'w', '3 EVENTS')"]
)
def test_values_of_parameters(sql: Any, given: str) -> None:
    table = trades()
    query = PAIR + " FILTER b[price > $p] PARTITION BY symbol WITHIN $w"
    answer = sql(table, f"TABLE(t), :q, event_id => 'eid', params => {given}", q=query)
    assert answer.num_rows > 5
    query = query.replace("$p", "20.5").replace("$w", "3 EVENTS")
    assert rows(answer) == rows(wanted(query, table, event_id="eid", order_by="ts"))


@pytest.mark.parametrize("product", ["counts", "hits"])
def test_products(sql: Any, product: str) -> None:
    table = trades(120)
    query = PAIR + " PARTITION BY [symbol] WITHIN 5 EVENTS"
    answer = sql(table, "TABLE(t), :q, event_id => 'eid', product => :p", q=query, p=product)
    expected = wanted(query, table, product)
    assert answer.schema.names == expected.schema.names
    symbols = table["symbol"].to_pylist()
    assert [symbols[eid] for eid in answer["position"].to_pylist()] == answer["symbol"].to_pylist()
    assert answer.schema.types[-1] == {"counts": pa.decimal128(38), "hits": pa.int64()}[product]
    found = zip(*answer.to_pydict().values(), strict=True)
    assert sorted(found) == sorted(zip(*expected.to_pydict().values(), strict=True))


def test_a_query_with_consumption_over_all_keys_sees_one_stream(sql: Any) -> None:
    table = trades()
    query = PAIR.replace("*", "a, b") + " PARTITION BY [symbol] CONSUME BY ANY"
    answer = sql(table, "TABLE(t), :q, event_id => 'eid'", q=query)
    assert answer.num_rows > 3
    assert rows(answer) == rows(wanted(query, table))


def test_times_without_a_zone(sql: Any) -> None:
    table = trades()
    query = PAIR.replace("*", "a, b") + " WITHIN 30 MINUTES"
    at = "TIMESTAMP_NTZ '1890-05-01 00:00' + eid * INTERVAL '7' MINUTE"
    answer = sql(
        table, f"TABLE(SELECT type, {at} AS `the time` FROM t), :q, single_partition => true", q=query
    )
    assert answer.schema.field("end_time").type == pa.timestamp("us")
    assert answer["end_time"].to_pylist()[0].year == 1890
    times = ["start_time", "end_time"]
    assert rows(answer.drop_columns(times)) == rows(wanted(query, table).drop_columns(times))


def test_an_empty_table(sql: Any) -> None:
    query = PAIR + " WITHIN 3 EVENTS"
    answer = sql(trades(1).slice(1), "TABLE(t) PARTITION BY (symbol), :q", q=query.replace("*", "a"))
    assert (answer.num_rows, answer.schema.names) == (0, ["start", "end", "start_time", "end_time", "a"])


# ------------------------------------------------------------------------------------- what goes wrong


@pytest.fixture(scope="module")
def refused(spark: Any, sql: Any) -> Callable[..., str]:
    """A function that gives what is wrong with a call over a table `few`, before it runs."""
    from pyspark.errors import AnalysisException

    spark.createDataFrame(trades(3)).createOrReplaceTempView("few")

    def ask(call: str, **constants: Any) -> str:
        with pytest.raises(AnalysisException) as caught:
            spark.sql(f"SELECT * FROM cer_match({call})", args=constants)
        return str(caught.value)

    return ask


REFUSED = {
    "SELECT * FROM S WHERE A ; FILTER": "WHERE A ; FILTER\n  |                           ^^^^^^",
    PAIR + " FILTER a[volume > 3]": "volume",
}


@pytest.mark.parametrize("query", REFUSED)
def test_an_error_in_the_query_is_shown_when_it_is_analysed(refused: Any, query: str) -> None:
    told = refused("TABLE(few), :q", q=query)
    assert "QueryError: error[CER" in told
    assert REFUSED[query] in told


CALLS = {
    "TABLE(few), concat('SELECT', uuid())": "the argument `query` of cer_match must be a constant",
    "TABLE(few), 3": "must be the text of a query, not 3",
    f"'t', '{PAIR}'": "the first argument of cer_match must be a table",
    f"TABLE(SELECT type FROM few), '{PAIR}'": "no column of timestamps or dates: name the time column",
    f"TABLE(SELECT *, ts AS day FROM few), '{PAIR}'": "columns `ts`, `day` of timestamps or dates",
    f"TABLE(few), '{PAIR}', order_by => 'when'": "no column `when`",
    f"TABLE(few), '{PAIR}', event_id => 'nr'": "no column `nr`",
    f"TABLE(few), '{PAIR}', product => 'count'": "must be one of 'run', 'counts', 'hits', not 'count'",
    f"TABLE(few), '{PAIR}', engine => 'chain'": "engine='chain' does not take this query",
    f"TABLE(few), '{PAIR}', engine => 'fast'": "the engines are auto, regular, chain, ordered, apart, thr",
    f"TABLE(few), '{PAIR}', params => 3": "params must be a map or a struct, as in map('p', 10), not 3",
    f"TABLE(few), '{PAIR}', params => map('p', 3)": "the query has no parameter `$p`",
    f"TABLE(few), '{PAIR}', limit => 3": "cer_match has no argument `limit`; its arguments are engine,",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_makes_no_sense_is_refused_when_it_is_analysed(refused: Any, call: str) -> None:
    assert CALLS[call] in refused(call)


def test_the_example_of_the_page(spark: Any, sql: Any) -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "howto" / "spark.md").read_text(
        encoding="utf-8"
    )
    events, query, answers = (
        re.findall(rf"```{block}\n(.*?)```", page, re.DOTALL)
        for block in ('csv title="trades.csv"', 'sql title="Spark SQL"', 'text title="gives"')
    )
    assert len(events) == len(query) == len(answers) == 1
    table = pyarrow.csv.read_csv(io.BytesIO(events[0].encode()))
    spark.createDataFrame(table).repartition(2).createOrReplaceTempView("trades")
    rows = spark.sql(query[0]).collect()
    assert "".join(f"{' '.join(map(str, row))}\n" for row in rows) == answers[0]
    with pytest.raises(Exception, match="TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INCOMPATIBLE_WITH_CALL"):
        spark.sql(query[0].replace("TABLE(trades)", "TABLE(trades) PARTITION BY (symbol)")).collect()


def test_a_table_that_nothing_partitions_is_refused(sql: Any) -> None:
    with pytest.raises(Exception, match="single_partition => true"):
        sql(trades(), "TABLE(t), :q", q=PAIR + " WITHIN 3 EVENTS")


def test_an_event_without_a_time_is_named(sql: Any) -> None:
    table = trades(9)
    holed = table.set_column(1, "ts", pa.compute.if_else(pa.array([True] * 8 + [False]), table["ts"], None))
    with pytest.raises(Exception, match=r"`ts` is null, NaN or infinite in \(ts=None"):
        sql(holed, "TABLE(t), :q, single_partition => true", q=PAIR)


def test_the_part_that_runs_in_workers_knows_no_parser() -> None:
    probe = "import sys; import cer_gpu.spark.sql; print([m for m in sys.modules if m in sys.argv[1:]])"
    absent = ["cer_gpu.language.parser", "lark", "cer_gpu.automata", "cer_gpu.api"]
    done = subprocess.run(
        [sys.executable, "-c", probe, *absent], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
