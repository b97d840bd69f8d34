"""A program that uses what cer-gpu gives, with every value's type written down."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa

import cer_gpu as cer

EVENTS = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "price": [1.0, 2.0, 3.0]})


def asked() -> int:
    version: str = cer.__version__
    query: cer.Query = cer.compile("SELECT * WHERE A AS a ; B AS b WITHIN 5 EVENTS", params={})
    parameters: tuple[str, ...] = query.parameters
    number: int = query.count(EVENTS, order_by="ts")
    hits: pa.Table = query.hits(EVENTS, order_by=["ts"], type_column="type")
    counts: pa.Table = query.counts(EVENTS)
    how: str = query.explain("text", events=EVENTS)
    found: tuple[cer.Diagnostic, ...] = query.check(EVENTS)
    print(version, parameters, hits.num_rows, counts.num_rows, how, [one.code for one in found])
    return number


def listed() -> list[tuple[int, ...]]:
    matches: cer.Matches = cer.compile("SELECT * WHERE A AS a ; B AS b").run(EVENTS, limit=10)
    positions: list[tuple[int, ...]] = []
    one: cer.ComplexEvent
    for one in matches.head(3):
        start: int = one.start
        end: int = one.end
        positions.append((start, end, *one.marks["b"]))
    first: cer.ComplexEvent | None = matches.first()
    arrow: pa.Table = matches.to_arrow()
    frame: pd.DataFrame = matches.to_pandas()
    polars: pl.DataFrame = matches.to_polars()
    flat: pa.Table = matches.to_arrow(flat=True)
    rows: pa.Table = matches.rows()
    best: cer.Matches = matches.top(1, by="duration", per="a")
    number: int = len(matches)
    last: cer.ComplexEvent = matches[-1]
    few: cer.Matches = matches[:2]
    print(flat.num_rows, rows.num_rows, len(best), number, last.end, bool(few))
    batch: pa.RecordBatch
    for batch in matches.batches():
        print(batch.num_rows)
    print(first, arrow.num_rows, len(frame), polars.height, matches.limited, list(matches.head(2)))
    return positions


def streamed() -> bytes:
    stream = cer.compile("SELECT * WHERE A ; B").stream(order_by="ts")
    pushed: cer.Matches = stream.push(EVENTS)
    state: bytes = stream.snapshot()
    stream.close()
    print(len(pushed.to_arrow()))
    return state


def tried() -> pd.DataFrame:
    variants: cer.Variants = cer.sweep("SELECT * WHERE A AS a ; B FILTER a[price > $p]", p=[0.5, 1.5])
    result: cer.Backtest = cer.backtest(variants, EVENTS, order_by="ts")
    table: pa.Table = result.to_arrow()
    print(table.num_rows, result.parameters)
    compared = cer.backtest(variants, EVENTS, order_by="ts", outcomes={"later": "price"}).best("later", 2)
    verdict: str = compared.verdict
    best: pa.Table = compared.to_arrow()
    print(verdict, best.num_rows)
    return result.to_pandas()


def maintained() -> int:
    view: cer.JoinView = cer.maintain("Q(x) <- R(x, y), S(y)")
    rows = pa.table({"x": [1], "y": [2]})
    view.insert("S", rows.select(["y"]))
    view.insert("R", rows)
    view.delete("R", rows)
    count: int = view.count()
    print(view.enumerate().to_arrow().num_rows)
    return count


def refused() -> str:
    try:
        cer.compile("SELECT nothing")
    except cer.QueryError as error:
        diagnostic: cer.Diagnostic
        for diagnostic in error.diagnostics:
            print(diagnostic.code, diagnostic.message)
        return str(error)
    except (cer.DataError, cer.LimitError, cer.DeviceError) as error:
        wrong: cer.CerError = error
        return str(wrong)
    return ""


def drawn() -> str:
    report: cer.DeviceReport = cer.device_report()
    query = cer.compile("SELECT * WHERE A ; B")
    picture: str = cer.timeline(query, EVENTS, shown=5)
    return picture + str(report.right)
