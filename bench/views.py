"""The sections of views: rows inserted one by one and in batches, beside computing the join again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate, ratio
from bench.measure import Times, measure
from bench.sizes import Sizes, large
from cer_gpu.views import JoinView

BATCH = 1000
SINGLE, READ, ALONE = 6000, 1200, 3
"""Rows inserted one by one in a run; where the answers are counted after each; and into each relation where
DuckDB finds the answers of each row."""

BULK = 100_000
"""Rows of a large batch, in all relations together."""

PER_KEY = 30
"""Rows of a relation that have one key."""

PAIRED, TRIPLED = 5_000, 400
"""Rows of a relation without a key, in families of two and of three."""

LISTED = 1 << 22
"""Answers that are listed."""


@dataclass(frozen=True, slots=True)
class JoinFamily:
    """A rule, and the SQL that counts its answers.

    Attributes
    ----------
    name : str
    rule : str
    relations : tuple of str
        The columns of R, S and T; `k` holds keys, the others whole numbers.
    sql : str
    most : int
        The most rows of a relation: without a key there are many answers.
    """

    name: str
    rule: str
    relations: tuple[str, ...]
    sql: str
    most: int = 1 << 40


CHAIN = JoinFamily(
    "chain of three with a key",
    "Q(a, k, c, d) <- R(a, k), S(k, c), T(k, d), a < c, c < d",
    ("ak", "kc", "kd"),
    "SELECT count(*) FROM R, S, T WHERE R.k = S.k AND S.k = T.k AND a < c AND c < d",
)
PROJECTED = JoinFamily(
    "chain of three with a key, projected to it",
    "Q(k) <- R(a, k), S(k, c), T(k, d), a < c, c < d",
    ("ak", "kc", "kd"),
    CHAIN.sql,
)
FAMILY = (
    JoinFamily(
        "two with a key",
        "Q(a, k, c) <- R(a, k), S(k, c), a < c",
        ("ak", "kc"),
        "SELECT count(*) FROM R, S WHERE R.k = S.k AND a < c",
    ),
    CHAIN,
    JoinFamily(
        "star of three with a key",
        "Q(a, k, c, d) <- R(a, k), S(k, c), T(k, d), a < c, a < d",
        ("ak", "kc", "kd"),
        "SELECT count(*) FROM R, S, T WHERE R.k = S.k AND R.k = T.k AND a < c AND a < d",
    ),
    PROJECTED,
    JoinFamily(
        "two without a key",
        "Q(a, c) <- R(a, b), S(c, d), a < c",
        ("ab", "cd"),
        "SELECT count(*) FROM R, S WHERE a < c",
        PAIRED,
    ),
    JoinFamily(
        "chain of three without a key",
        "Q(a, c, e) <- R(a, b), S(c, d), T(e, f), a < c, c < e",
        ("ab", "cd", "ef"),
        "SELECT count(*) FROM R, S, T WHERE a < c AND c < e",
        TRIPLED,
    ),
)
GROWING = {"two without a key": (250, 500, 1000, 2000), "chain of three without a key": (50, 100, 200, 400)}
"""Rows of a relation, for the memory of views and of their answers."""


def views(sizes: Sizes) -> Iterator[Figure]:
    """Views under inserts, beside DuckDB, which counts the answers again after each batch."""
    for family in FAMILY:
        yield from _updated(family, sizes)
    for name, many in GROWING.items():
        family = next(one for one in FAMILY if one.name == name)
        yield from _grown(family, many)
    yield from _bulk(sizes)
    for family in FAMILY:
        if family is not PROJECTED:  # it has few answers: one for each key
            yield from _listed(family, sizes)


def _updated(family: JoinFamily, sizes: Sizes) -> Iterator[Figure]:
    """Each system takes all batches before the next one does: none finds caches that another has filled."""
    rng = np.random.default_rng(1)
    section = f"views, {family.name}"
    rows = min(sizes.viewed, family.most)
    batch_rows = min(BATCH, rows)
    view, held = _filled(family, rows, rng)
    names = list(held)
    rounds = sizes.runs + 1 if rows < family.most else 2  # without a key there are many answers to keep
    batches = [(name, _rows(family, name, batch_rows, rows, rng)) for _ in range(rounds) for name in names]
    counts: list[int] = []
    times = _round([lambda one=one: counts.append(_inserted(view, [one])) for one in batches], names)  # type: ignore[misc]
    case = f"batches of {batch_rows:,} into {large(rows)} rows a relation"
    yield rate(section, case, "rows", batch_rows, times, note="counts checked by DuckDB after every batch")
    add, evaluate = _adding(family, held), _evaluation(family, held)
    if add is not None and evaluate is not None:
        kept = _round([lambda one=one: add(*one) for one in batches], names)  # type: ignore[misc]
        found: list[int] = []
        again = []
        for number, (name, batch) in enumerate(batches[: sizes.runs + 1]):
            held[name] = pa.concat_tables([held[name], batch])
            again.append(_seconds(lambda: found.append(evaluate())))
            must(found[-1] == counts[number], f"{family.rule}: {counts[number]}, DuckDB {found[-1]}")
        anew = Times(tuple(again[1:]))
        yield ratio(section, "DuckDB counts anew / ours", ("ours", times), ("DuckDB", anew), 10)
        case = "new answers found by DuckDB and kept / ours"
        yield ratio(section, case, ("ours", times), ("kept answers", kept))
    amount = min(SINGLE, rows) // len(names) * len(names)

    def ones(many: int = amount) -> list[tuple[str, pa.Table]]:
        return [(name, _rows(family, name, 1, rows, rng)) for name in names * (many // len(names))]

    def timed(inserted: Sequence[Sequence[tuple[str, Any]]]) -> Times:
        return Times(tuple([_seconds(lambda some=some: _inserted(view, some)) for some in inserted][1:]))  # type: ignore[misc]

    dicts = [[(name, one.to_pylist()) for name, one in ones()] for _ in range(sizes.runs + 1)]
    singles = timed(dicts)
    case = "rows inserted one at a time, as dicts, counted at the end"
    yield rate(section, case, "rows", amount, singles)
    tables = [ones() for _ in range(sizes.runs + 1)]
    case = "rows inserted one at a time, as tables, counted at the end"
    yield rate(section, case, "rows", amount, timed(tables))
    if add is not None and evaluate is not None:
        each = Times(tuple(amount / batch_rows * one for one in anew.seconds))
        case = f"DuckDB counts anew after {batch_rows:,} rows / ours, one row at a time"
        yield ratio(section, case, ("ours", singles), ("DuckDB", each), 10)
        few = ones(len(names) * ALONE)
        alone = [_seconds(lambda one=one: add(*one)) for one in few]  # type: ignore[misc]
        each = Times(tuple(amount * float(np.mean(part)) for part in np.reshape(alone, (ALONE, -1))))
        case = "new answers of one row found by DuckDB and kept / ours, one row at a time"
        yield ratio(section, case, ("ours", singles), ("kept answers", each), 10)

    def read(some: Sequence[tuple[str, pa.Table]]) -> None:
        for one in some:
            _inserted(view, [one])

    inserted = [ones(READ) for _ in range(sizes.runs)]
    times = Times(tuple(_seconds(lambda some=some: read(some)) for some in inserted))  # type: ignore[misc]
    yield rate(section, "rows inserted one at a time, counted after each", "rows", READ, times)
    whole = sum(relation.total for relation in view._kept.relations.values())
    size, answers = _bytes(view), _answer_bytes(view, family)
    note = f"{large(view.count())} answers of {large(whole)} rows"
    yield Figure(section, "memory of the view", size / whole, "bytes/row", note=note)
    # To find the answers of new rows, all rows have to be kept beside the answers.
    held_rows = sum(8 * len(columns) for columns in family.relations) / len(family.relations) * whole
    kept_ratio = (answers + held_rows) / size
    case = "memory of kept answers and rows / ours"
    yield Figure(section, case, kept_ratio, "times", target=Target(10), note=note)


def _inserted(view: JoinView, rows: Sequence[tuple[str, Any]]) -> int:
    """Insert some rows or tables one after another, and count the answers."""
    for one in rows:
        view.insert(*one)
    return view.count()


def _round(steps: Sequence[Callable[[], None]], names: Sequence[str]) -> Times:
    """The mean time of steps that go around the relations, for each round but the first."""
    seconds = [_seconds(step) for step in steps]
    return Times(tuple(float(np.mean(part)) for part in np.reshape(seconds, (-1, len(names)))[1:]))


def _grown(family: JoinFamily, many: tuple[int, ...]) -> Iterator[Figure]:
    """Bytes of a view, and of its answers, over the rows."""
    for rows in many:
        view, _ = _filled(family, rows, np.random.default_rng(4))
        for what, size in (("view", _bytes(view)), ("answers", _answer_bytes(view, family))):
            case = f"{what}, {family.name}, {rows} rows a relation"
            yield Figure("views: memory", case, size / 1e6, "MB", note=f"{view.count():,} answers")


def _bytes(view: JoinView) -> int:
    """What a view holds: the nodes of its trees, and rows of relations that no leaf has."""
    stores = [store for tree in view._kept.trees for store in tree.stores]
    stores += [relation.store for relation in view._kept.relations.values()]
    return sum(store.nbytes for store in stores)


def _answer_bytes(view: JoinView, family: JoinFamily) -> int:
    """What all answers take as columns of 64 bits, without their multiplicities."""
    head = family.rule[2 : family.rule.index(")")].split(",")
    return 8 * len(head) * view.count()


def _adding(family: JoinFamily, held: dict[str, pa.Table]) -> Callable[[str, pa.Table], None] | None:
    """A materialised view: DuckDB joins a batch with the other relations, and the answers are kept."""
    if find_spec("duckdb") is None:
        return None
    import duckdb

    connection = duckdb.connect()
    rows = dict(held)
    first: dict[str, str] = {}
    for name, columns in zip("RST", family.relations):
        for column in columns:
            first.setdefault(column, f"{name}.{column}")
    head = [first[name.strip()] for name in family.rule[2 : family.rule.index(")")].split(",")]
    kept: list[pa.Table] = []

    def add(relation: str, batch: pa.Table) -> None:
        for name, table in {**rows, relation: batch}.items():
            connection.register(name, table)
        kept.append(connection.sql(family.sql.replace("count(*)", ", ".join(head))).to_arrow_table())
        rows[relation] = pa.concat_tables([rows[relation], batch])

    return add


def _bulk(sizes: Sizes) -> Iterator[Figure]:
    """Large batches into all three relations of the chain."""
    rng = np.random.default_rng(2)
    view, _ = _filled(CHAIN, sizes.viewed, rng)
    amount = min(BULK, sizes.viewed)
    seconds = []
    for _ in range(sizes.runs + 1):
        tables = {name: _rows(CHAIN, name, amount // 3, sizes.viewed, rng) for name in "RST"}
        seconds.append(_seconds(lambda tables=tables: view.update(inserts=tables)))  # type: ignore[misc]
    case = f"batches of {large(amount)} into {large(sizes.viewed)} rows a relation"
    times = Times(tuple(seconds[1:]))
    yield rate(f"views, {CHAIN.name}", case, "rows", amount // 3 * 3, times, 2)


def _listed(family: JoinFamily, sizes: Sizes) -> Iterator[Figure]:
    """Listing answers, against scanning the same answers from a table."""
    view, _ = _filled(family, min(sizes.viewed, family.most), np.random.default_rng(3))
    batches = list(islice(view.enumerate(), LISTED >> 16))
    table = pa.Table.from_batches(batches)

    def scan() -> int:
        return sum(int(np.add.reduce(c.to_numpy())) for batch in table.to_batches() for c in batch.columns)

    def listed() -> int:
        found = islice(view.enumerate(), len(batches))
        return sum(int(np.add.reduce(c.to_numpy())) for batch in found for c in batch.columns)

    must(scan() == listed(), f"the answers of {family.rule} that were listed first")
    times = measure({"ours": listed, "scan": scan}, sizes.runs)
    section = f"views, {family.name}"
    yield rate(section, "answers listed and summed", "answers", len(table), times["ours"])
    taken = times["ours"].median / times["scan"].median
    note = "every column summed"
    yield Figure(section, "ours / a scan of a table", taken, "times", target=Target(2, most=True), note=note)


def _filled(family: JoinFamily, rows: int, rng: np.random.Generator) -> tuple[JoinView, dict[str, pa.Table]]:
    view = cer.maintain(family.rule)
    held = {name: _rows(family, name, rows, rows, rng) for name, _ in zip("RST", family.relations)}
    view.update(inserts=held)
    return view, held


def _rows(family: JoinFamily, name: str, count: int, rows: int, rng: np.random.Generator) -> pa.Table:
    """Rows of a relation of which there are to be `rows`."""
    columns = family.relations["RST".index(name)]
    keys = max(rows // PER_KEY, 1)
    return pa.table(
        {column: rng.integers(0, keys if column == "k" else 1_000_000, count) for column in columns}
    )


def _evaluation(family: JoinFamily, held: dict[str, pa.Table]) -> Callable[[], int] | None:
    """Counts the answers with DuckDB; None where it is not installed."""
    if find_spec("duckdb") is None:
        return None
    import duckdb

    connection = duckdb.connect()

    def evaluate() -> int:
        for name, table in held.items():
            connection.register(name, table)
        ((count,),) = connection.sql(family.sql).fetchall()
        return int(count)

    return evaluate


def _seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
