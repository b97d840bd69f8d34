"""Flink SQL as a second opinion on MATCH_RECOGNIZE: random statements that it takes, over a few rows.

`python -m bench.row_pattern_oracle --cases 300 --seed 1` runs each statement by both and prints those whose
rows differ, with the rows. Flink takes a part of the standard alone: a sequence of different variables with
quantifiers, of which the last one is not greedy; no PREV and NEXT of a variable, no CLASSIFIER, MATCH_NUMBER,
SUBSET or ALL ROWS PER MATCH. Its rows here have no nulls and no ties.

Where a row meets the conditions of several variables, Flink 2.3 does not give the match that the standard
prefers: a greedy variable keeps every row that it can take, so `A+ B` finds nothing where the row for B could
be one more A; `A?` is skipped where the next variable takes the row. `--apart` leaves such statements out.
Two more differences are not drawn: the mean of whole numbers is whole in Flink, and `PREV(x)` without a
variable is null at the first row of a match.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

import cer_gpu as cer
from bench.rivals.asked import CannotError
from bench.rivals.flink_sql import FlinkRow, FlinkSql

JOB = 50
"""Statements in one job, over the same rows."""

ROWS = 80

PATIENCE = 600.0
"""Seconds for a job."""

QUANTIFIERS = ("", "", "", "*", "+", "+", "?", "{2}", "{2,}", "{1,2}", "{0,2}", "{1,3}")

LAST = ("", "", "", "+?", "*?", "{2}", "{2,}?", "{1,3}?")

COMPARISONS = ("<", "<=", ">", ">=", "=", "<>")

EMPTY = ("*", "?", "{0,2}", "*?")
"""Quantifiers that take no row where they need not."""


FAILED = "it fails: "
"""How the answer of a job that ended with an error begins."""

Rows: TypeAlias = list[tuple[Any, ...]]


class Difference(NamedTuple):
    """A statement and two answers.

    Attributes
    ----------
    sql : str
    table : Table
    ours, theirs : list of tuple, or str
        The rows, or the error.
    """

    sql: str
    table: pa.Table
    ours: Rows | str
    theirs: Rows | str


def few_rows(rng: Random, count: int) -> pa.Table:
    """Rows of two keys; the times are seconds and ascend, each once."""
    seconds, times = 0, []
    for _ in range(count):
        seconds += rng.choice((1, 1, 2, 5))
        times.append(seconds * 1000)
    return pa.table(
        {
            "k": [rng.choice(("u", "u", "v")) for _ in times],
            "t": pa.array(times).cast(pa.timestamp("ms")),
            "x": [rng.randrange(6) for _ in times],
            "y": [rng.randrange(-2, 7) / 2 for _ in times],
        }
    )


class StatementDraft:
    """Draws a statement that Flink takes.

    Parameters
    ----------
    rng : Random
    overlapping : bool
        Whether a row may meet the conditions of several variables.
    """

    def __init__(self, rng: Random, overlapping: bool = True) -> None:
        self.rng = rng
        self.overlapping = overlapping
        self.names = ("A", "B", "C", "D")[: rng.choice((1, 2, 2, 2, 3, 3, 4))]

    def text(self) -> str:
        """The statement."""
        rng = self.rng
        quantifiers = [rng.choice(QUANTIFIERS) for _ in self.names[1:]] + [rng.choice(LAST)]
        if all(one in EMPTY for one in quantifiers):
            quantifiers[0 if len(quantifiers) > 1 else -1] = ""
        pattern = " ".join(map("".join, zip(self.names, quantifiers, strict=True)))
        within = f" WITHIN INTERVAL '{rng.choice((2, 4, 8))}' SECOND" if rng.random() < 0.2 else ""
        skips = ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST")
        skip = rng.choice(skips if len(self.names) > 1 else skips[:2])
        if skip in ("TO FIRST", "TO LAST"):
            # To a first row of the match nobody can skip.
            skip += f" {rng.choice(self.names[1:] if rng.random() < 0.9 else self.names)}"
        measures = ", ".join(f"{self.measure()} AS m{number}" for number in range(rng.choice((2, 3, 4))))
        partition = rng.choice(("PARTITION BY k ", ""))
        definitions = ", ".join(f"{name} AS {condition}" for name, condition in self.conditions())
        return (
            f"SELECT * FROM trades MATCH_RECOGNIZE ({partition}ORDER BY t MEASURES {measures} ONE ROW PER "
            f"MATCH AFTER MATCH SKIP {skip} PATTERN ({pattern}){within} DEFINE {definitions}) AS m"
        )

    def conditions(self) -> Iterator[tuple[str, str]]:
        """A condition for most variables, for one at least."""
        rng = self.rng
        values = rng.sample(range(6), 6)
        for place, name in enumerate(self.names):
            if self.overlapping:
                if place == 0 or rng.random() < 0.8:
                    yield name, self.condition(name)
                continue
            # Each takes other values of x.
            own = " OR ".join(f"{name}.x = {value}" for value in values[place :: len(self.names)])
            yield name, f"({own}) AND {self.condition(name)}" if rng.random() < 0.3 else own

    def condition(self, name: str) -> str:
        """A condition of a variable on its row, on the rows that it has taken, and on those of others."""
        rng = self.rng
        compare, own = rng.choice(COMPARISONS), f"{name}.{rng.choice('xy')}"
        other = rng.choice(self.names[: self.names.index(name) + 1])
        match rng.randrange(8):
            case 0 | 1 | 2:
                return f"{own} {compare} {rng.randrange(5)}"
            case 3:
                return f"{own} {compare} LAST({name}.{rng.choice('xy')}, 1)"
            case 4:
                before = f"LAST({name}.x, 1)"
                return f"({before} IS NULL OR {name}.x {rng.choice('<>')} {before})"
            case 5:
                return f"{own} {compare} {rng.choice(('FIRST', 'LAST'))}({other}.{rng.choice('xy')})"
            case 6:
                return f"{self.aggregate(name)} {rng.choice(('<', '<='))} {rng.choice((3, 6, 9))}"
        return f"{own} {compare} {self.aggregate(other)}"

    def aggregate(self, name: str) -> str:
        """An aggregate over the rows of a variable."""
        rng = self.rng
        # Means of whole numbers are whole in Flink alone.
        return rng.choice(
            (
                f"SUM({name}.x)",
                f"COUNT({name}.x)",
                f"MIN({name}.{rng.choice('xy')})",
                f"MAX({name}.{rng.choice('xy')})",
                f"AVG({name}.y)",
                f"SUM({name}.x * {name}.y)",
            )
        )

    def measure(self) -> str:
        """A measure."""
        rng = self.rng
        name, column = rng.choice(self.names), rng.choice("xyt")
        match rng.randrange(5):
            case 0:
                return f"{name}.{column}"
            case 1 | 2:
                skip = rng.choice(("", "", ", 1", ", 2"))
                return f"{rng.choice(('FIRST', 'LAST'))}({name}.{column}{skip})"
        return self.aggregate(name)


def differences(
    cases: int, seed: int, overlapping: bool, told: Counter[str] | None = None
) -> Iterator[Difference]:
    """Ask both, and give the statements on which they disagree.

    Parameters
    ----------
    cases, seed : int
    overlapping : bool
        As in `StatementDraft`.
    told : Counter, optional
        Counts what became of the statements.
    """
    told = Counter() if told is None else told
    rng = Random(seed)
    flink = FlinkSql()
    try:
        for first in range(0, cases, JOB):
            table = few_rows(rng, ROWS)
            flink.load(table)
            statements = [StatementDraft(rng, overlapping).text() for _ in range(min(JOB, cases - first))]
            ours = {sql: our_rows(sql, table) for sql in statements}
            # What fails ends the job, with what others have found so far.
            well = [sql for sql in ours if not isinstance(ours[sql], str)]
            theirs = dict(zip(well, _asked(flink, well), strict=True))
            for sql in ours:
                their = theirs[sql] if sql in theirs else _asked(flink, [sql])[0]
                read = their if isinstance(their, str) else [tuple(map(_value, row)) for row in their]
                found = Difference(sql, table, ours[sql], read)
                if compared(found, told):
                    yield found
            print(dict(told), file=sys.stderr, flush=True)
    finally:
        flink.close()


def _asked(flink: FlinkSql, statements: Sequence[str]) -> list[list[FlinkRow] | str]:
    """Flink's rows of statements; where the job fails, each is asked in one of its own."""
    try:
        return flink.rows(statements, "streaming", PATIENCE)
    except CannotError as error:
        if len(statements) == 1:
            return [f"{FAILED}{error}"]
        half = len(statements) // 2
        return _asked(flink, statements[:half]) + _asked(flink, statements[half:])


def our_rows(sql: str, table: pa.Table) -> Rows | str:
    """Our rows of a statement, or the error."""
    try:
        answer = cer.match_recognize(sql, dialect="flink", trades=table).to_arrow()
    except (cer.QueryError, cer.DataError) as error:
        return f"{type(error).__name__}: {error}"
    return list(zip(*(column.to_pylist() for column in _plain(answer)), strict=True))


def compared(answers: Difference, told: Counter[str]) -> bool:
    """Whether the answers to a statement differ; what became of it is counted."""
    ours, theirs = answers.ours, answers.theirs
    if isinstance(theirs, str) and not theirs.startswith(FAILED):
        told[f"Flink refuses: {theirs[:150]}"] += 1
        return False
    if isinstance(theirs, str) and isinstance(ours, str) and not ours.startswith("QueryError"):
        told[f"both fail, Flink: {theirs.removeprefix(FAILED)[:150]}"] += 1
        return False
    if not isinstance(theirs, str) and not isinstance(ours, str) and _same(ours, theirs):
        told["equal, with rows" if ours else "equal, no rows"] += 1
        return False
    told["different"] += 1
    return True


def _value(text: str) -> Any:
    """A value as Java writes it."""
    if text == "null":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _same(ours: Rows, theirs: Rows) -> bool:
    """Whether rows are the same; numbers may be of other types, and floats rounded otherwise."""

    def rounded(rows: Rows) -> Rows:
        return sorted(
            (
                tuple(
                    round(float(value), 9) + 0.0 if isinstance(value, int | float) else value for value in row
                )
                for row in rows
            ),
            key=str,
        )

    def equal(one: Any, two: Any) -> bool:
        if isinstance(one, float) and isinstance(two, float):
            return math.isclose(one, two, abs_tol=1e-8)
        return bool(one == two)

    left, right = rounded(ours), rounded(theirs)
    return len(left) == len(right) and all(
        len(one) == len(two) and all(map(equal, one, two)) for one, two in zip(left, right, strict=True)
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the statements on which Flink and we disagree, and how many there were of each kind."""
    parser = argparse.ArgumentParser(prog="python -m bench.row_pattern_oracle", description=__doc__)
    parser.add_argument("--cases", type=int, default=300, help="statements (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--apart", action="store_true", help="a row meets the condition of one variable only")
    asked = parser.parse_args(arguments)
    told: Counter[str] = Counter()
    for found in differences(asked.cases, asked.seed, not asked.apart, told):
        print(f"{found.sql}\n  ours  {_shown(found.ours)}\n  Flink {_shown(found.theirs)}")
        print(
            f"  rows  {list(zip(*(one.to_pylist() for one in _plain(found.table)), strict=True))}\n",
            flush=True,
        )
    for what, number in told.most_common():
        print(f"{number:6} {what}")
    return int(told["different"] > 0)


def _plain(table: pa.Table) -> list[pa.ChunkedArray]:
    return [one.cast(pa.int64()) if pa.types.is_timestamp(one.type) else one for one in table.columns]


def _shown(rows: Rows | str) -> str:
    return rows if isinstance(rows, str) else f"{len(rows)} {sorted(rows, key=str)[:20]}"


if __name__ == "__main__":
    sys.exit(main())
