"""MATCH_RECOGNIZE over trades, beside Flink SQL, window functions and CEQL; and patterns that are hard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate, ratio
from bench.measure import Times, measure
from bench.rivals.asked import CannotError
from bench.rivals.flink_sql import FlinkAnswer, FlinkSql, Mode
from bench.row_pattern_questions import HARD, QUESTIONS, RowPatternQuestion
from bench.sizes import Sizes, large
from bench.trades import Found, found_in, make_trades, sorted_trades

AHEAD = 20.0
"""How many times our time Flink is to take."""

NEAR = 1 / 1.5
"""The same of the query in CEQL."""

LONG = 5.0
"""Seconds from which on one run of Flink is enough."""

MODES: tuple[Mode, ...] = ("streaming", "batch")


def row_patterns(sizes: Sizes) -> Iterator[Figure]:
    """Five kinds of questions over trades of several sizes, then hard patterns."""
    with closing(_Flink(sizes)) as flink:
        for count in sizes.recognized:
            table = make_trades(count)
            for question in QUESTIONS:
                yield from _asked(question, table, flink, sizes)
    for hard in HARD:
        rates = []
        for count in sizes.recognized:
            given, wanted = hard.rows(count), hard.matches(count)
            run = partial(_matched, hard.sql, given=given)
            amounts = run().column("amount").to_pylist()
            must((len(amounts), sum(amounts)) == wanted, f"{hard.name}, {large(count)} rows")
            taken = measure({"ours": run}, sizes.runs)["ours"]
            note = f"{wanted[0]:,} matches, as there have to be"
            yield rate(
                "row patterns: hard", f"{hard.name}, {large(count)} rows", "rows", count, taken, note=note
            )
            rates.append(count / taken.least)
        # Fewer rows have less to do for what each statement costs: more rows must not be slower.
        title = f"{hard.name}: rows/s of {large(sizes.recognized[-1])} rows / the most"
        yield Figure("row patterns: hard", title, rates[-1] / max(rates), "of 1", target=Target(0.5))


def _asked(question: RowPatternQuestion, table: pa.Table, flink: _Flink, sizes: Sizes) -> Iterator[Figure]:
    """A question asked of all who can answer it."""
    section, case = f"row patterns: {question.name}", f"{large(len(table))} rows"
    ours = partial(_matched, question.sql, trades=table)
    wanted = found_in(question.checked(sorted_trades(table)))
    must(found_in(ours()) == wanted, f"{question.name}, {case}")
    functions: dict[str, Callable[[], Any]] = {"ours": ours}
    for ask, text in question.ceql.items():
        functions[f"CEQL, {ask}"] = run = partial(CEQL[ask], cer.compile(text), table)
        must(run() == wanted.rows, f"{question.name}, {case}, CEQL, {ask}")
    if question.duckdb:
        functions["DuckDB, window functions"] = windows = _duckdb(table, question.duckdb)
        must(found_in(windows()) == wanted, f"{question.name}, {case}, DuckDB")
    times = measure(functions, sizes.runs)
    note = f"{wanted.rows:,} matches, checked by a second method"
    for name, taken in times.items():
        yield rate(section, f"{case}, {name}", "rows", len(table), taken, note=note)
    for name in list(times)[1:]:
        target = {"CEQL, run": NEAR, "DuckDB, window functions": 1.0}.get(name)
        yield ratio(section, f"{case}: {name} / ours", ("ours", times["ours"]), (name, times[name]), target)
        own, other = times["ours"].on_processor, times[name].on_processor
        yield ratio(section, f"{case}: CPU seconds of {name} / ours", ("ours", own), (name, other))
    if question.flink:
        yield from flink.asked(question, table, wanted, times["ours"])


def _matched(sql: str, **tables: pa.Table) -> pa.Table:
    return cer.match_recognize(sql, **tables).to_arrow()


CEQL: dict[str, Callable[[cer.Query, pa.Table], int]] = {
    "hits": lambda query, table: len(query.hits(table, order_by="ts")),
    "run": lambda query, table: sum(map(len, query.run(table, order_by="ts").batches())),
}


def _duckdb(table: pa.Table, text: str) -> Callable[[], pa.Table]:
    """A query of DuckDB on a table in memory."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE trades AS SELECT * FROM given")
    return lambda: connection.sql(text).to_arrow_table()


class _Flink:
    """Flink SQL, which is started when it is first asked.

    Of two modes the faster one at the first size is asked at the others, where it can answer in time.
    """

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._program: FlinkSql | None = None
        self._loaded: pa.Table | None = None
        self._known: dict[tuple[str, Mode], float] = {}
        """Seconds that a million rows took; infinite if they took too long, or the other mode is faster."""

    def asked(
        self, question: RowPatternQuestion, table: pa.Table, wanted: Found, ours: Times
    ) -> Iterator[Figure]:
        """Its figures for a question."""
        section = f"row patterns: {question.name}"
        found: dict[Mode, float] = {}
        for mode in MODES:
            known = self._known.get((question.name, mode), 0.0)
            if known == float("inf"):
                continue
            case = f"{large(len(table))} rows, Flink SQL, {mode}"
            if known * len(table) / 1e6 > self._sizes.patience:
                note = f"more than {self._sizes.patience:g} s, by its time for fewer rows"
                yield Figure(section, case, None, "M rows/s", note=note)
                continue
            try:
                taken = self._times(question, mode, table, wanted)
            except (CannotError, TimeoutError) as error:
                self._known[question.name, mode] = float("inf")
                yield Figure(section, case, None, "M rows/s", note=str(error))
                continue
            found[mode] = taken.median / len(table) * 1e6
            yield rate(section, case, "rows", len(table), taken, note="same matches")
            yield ratio(section, f"{case} / ours", ("ours", ours), ("Flink SQL", taken), AHEAD)
            own, other = ours.on_processor, taken.on_processor
            yield ratio(section, f"{case}: CPU seconds / ours", ("ours", own), ("Flink SQL", other))
        for mode, seconds in found.items():
            self._known[question.name, mode] = seconds if seconds == min(found.values()) else float("inf")

    def close(self) -> None:
        """End it."""
        if self._program is not None:
            self._program.close()
        self._program = self._loaded = None

    def _times(self, question: RowPatternQuestion, mode: Mode, table: pa.Table, wanted: Found) -> Times:
        if self._program is None:
            self._program = FlinkSql()
        if self._loaded is not table:
            self._program.load(table)
            self._loaded = table
        try:
            runs = [self._run(question, mode, wanted)]
            # The first run compiles what the others use; where it is long, that matters little.
            if runs[0].seconds < LONG:
                runs = [self._run(question, mode, wanted) for _ in range(self._sizes.runs)]
        except TimeoutError:
            self.close()
            raise
        return Times(tuple(run.seconds for run in runs), tuple(run.processor for run in runs))

    def _run(self, question: RowPatternQuestion, mode: Mode, wanted: Found) -> FlinkAnswer:
        assert self._program is not None
        answer = self._program.run(question.sql, mode, self._sizes.patience)
        must(answer.found == wanted, f"{question.name}: {answer.found} by Flink SQL, {mode}, not {wanted}")
        return answer
