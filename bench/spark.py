"""The sections of Spark: CPU seconds of the whole process tree, against what cannot be avoided."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bench.answers import must
from bench.cpu_seconds import Taken, measure_cpu
from bench.figures import Figure, Target
from bench.fresh import in_fresh_process
from bench.sizes import Sizes, large
from bench.spark_data import MANY, missing, session, three_steps, write_lake
from bench.spark_local import checksum
from bench.spark_rivals import FORMS
from bench.streams import KEYS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDER = "time"
UNKEYED = three_steps(0.1, "1 SECOND")
UNKEYED_LONG = three_steps(0.1, "1000 SECONDS")
KEYED = three_steps(0.1, "1000 SECONDS", "key")
LISTED = three_steps(0.03, "1 SECOND")
LISTED_KEYED = three_steps(0.03, "1000 SECONDS", "key")
UNWINDOWED = three_steps(0.1, None, "key")
MANY_KEYED = three_steps(0.1, "100000 SECONDS", "many")
FILE_QUERIES = {
    "count, unkeyed": ("count", UNKEYED),
    "count, keyed": ("count", KEYED),
    "run, unkeyed": ("run", LISTED),
    "run, keyed": ("run", LISTED_KEYED),
}
LOCAL_S = 600.0
CORES = 2
RIVAL = three_steps(0.5, "500 SECONDS", "key")
RIVAL_WINDOW = 500_000_000
"""The same gap in microseconds."""


def spark_files(sizes: Sizes) -> Iterator[Figure]:
    """Queries over files, which the workers read; beside the local engine in a process of its own."""
    section = "spark files"
    with _lake(sizes.lake) as given:
        if given is None:
            yield _absent(section)
            return
        spark, paths, _ = given
        asked = {name: (*query, paths, ORDER) for name, query in FILE_QUERIES.items()}
        local = _local(asked, 1)
        functions: dict[str, Callable[[], Any]] = {}
        beside: dict[str, str] = {}
        for name, (product, text) in FILE_QUERIES.items():
            for case, rows in ((name, None), (f"{name}, a task for each core", -(-sizes.lake // CORES))):
                made = partial(_of_files, spark, paths, product, text, rows)
                found = _number(made()) if product == "count" else list(checksum(made().toArrow()))
                must(found == local[name]["answer"], f"{section}, {case}: {found}, {local[name]['answer']}")
                functions[case] = partial(_counted if product == "count" else _drained, made)
                beside[case] = name
        taken, alone = _side_by_side(functions, asked, sizes.runs)
        for name in asked:
            yield from _cost(section, f"{name}: local engine", sizes.lake, alone[name])
        for case, name in beside.items():
            answer = local[name]["answer"]
            note = f"{answer if isinstance(answer, int) else answer[0]:,} complex events, same as locally"
            yield from _cost(section, case, sizes.lake, taken[case], note)
            yield _times(section, f"{case}: Spark / local", taken[case], alone[name], 1.5)


def spark_prepared(sizes: Sizes) -> Iterator[Figure]:
    """A query without a window over files that are in the order of time, and as `prepare` writes them."""
    section = "spark files, keyed, no window"
    with _lake(sizes.framed) as given:
        if given is None:
            yield _absent(section)
            return
        from cer_gpu import spark as cer_spark

        spark, paths, folder = given
        laid = folder / "prepared"
        cer_spark.prepare(spark.read.parquet(*paths), str(laid), "key", ORDER)
        parts = [str(path) for path in sorted(laid.glob("part-*"))]
        local = _local({"local": ("count", UNWINDOWED, parts, None)}, sizes.runs)["local"]
        functions = {
            name: partial(_counted, partial(_of_files, spark, where, "count", UNWINDOWED))
            for name, where in (("prepared", str(laid)), ("as they come", paths))
        }
        for name, function in functions.items():
            must(function() == local["answer"], f"count without a window, {name}")
        taken = measure_cpu(functions, sizes.runs)
        yield from _cost(section, "local engine, prepared files", sizes.framed, Taken.of(local))
        for name, one in taken.items():
            yield from _cost(section, f"count, files {name}", sizes.framed, one, "same count as locally")
        yield _times(section, "files as they come / prepared", taken["as they come"], taken["prepared"])


def spark_frames(sizes: Sizes) -> Iterator[Figure]:
    """Keyed queries over a DataFrame, beside a shuffle of the same columns whose batches are not used."""
    section = "spark DataFrame"
    few, many = f"{KEYS:,} keys", f"{MANY:,} keys"
    taken = yield from _frames(section, {few: (KEYED, "key"), many: (MANY_KEYED, "many")}, sizes, 1.3)
    if taken:
        slow, fast = sorted((taken[few], taken[many]), key=lambda one: one.cpu.median, reverse=True)
        yield _times(section, f"{many} and {few}: slower / faster", slow, fast, 1.2)


def spark_cut(sizes: Sizes) -> Iterator[Figure]:
    """Queries without keys over a DataFrame, which is cut by time, beside a shuffle by time."""
    cases = {"window of 1 s": (UNKEYED, None), "window of 1,000 s": (UNKEYED_LONG, None)}
    yield from _frames("spark DataFrame, unkeyed, cut by time", cases, sizes, None)


def _frames(
    section: str, cases: Mapping[str, tuple[str, str | None]], sizes: Sizes, most: float | None
) -> Generator[Figure, None, dict[str, Taken]]:
    with _lake(sizes.framed) as given:
        if given is None:
            yield _absent(section)
            return {}
        spark, paths, _ = given
        frame = spark.read.parquet(*paths)
        local = _local({case: ("count", text, paths, ORDER) for case, (text, _) in cases.items()}, 1)
        ours = {case: partial(_framed, frame, text) for case, (text, _) in cases.items()}
        for case, function in ours.items():
            found = function()
            must(found == local[case]["answer"], f"DataFrame, {case}: {found}, {local[case]['answer']}")
        shuffles = {key: partial(_shuffled, frame, key, sizes.framed) for _, key in cases.values()}
        taken = measure_cpu(ours | {f"by {key}": shuffles[key] for key in shuffles}, sizes.runs)
    for case, (_, key) in cases.items():
        shuffle = taken[f"by {key}"]
        yield from _cost(section, f"count, {case}", sizes.framed, taken[case], "same count as locally")
        yield from _cost(section, f"{case}: shuffle, batches only consumed", sizes.framed, shuffle)
        yield _times(section, f"{case}: count / consuming", taken[case], shuffle, most)
    return taken


def spark_rivals(sizes: Sizes) -> Iterator[Figure]:
    """The same matches counted by Spark SQL: self-joins, and window functions."""
    with _lake(sizes.sparked) as given:
        if given is None:
            yield _absent("spark rivals")
            return
        spark, paths, _ = given
        frame = spark.read.parquet(*paths)
        frame.createOrReplaceTempView("events")
        wanted = _local({"count": ("count", RIVAL, paths, ORDER)}, 1)["count"]["answer"]
        functions: dict[str, Callable[[], int]] = {
            "ours, files": partial(_counted, partial(_of_files, spark, paths, "count", RIVAL)),
            "ours, DataFrame": partial(_framed, frame, RIVAL),
        }
        for form, text in FORMS.items():
            functions[form] = partial(_number_of, spark, text.format(w=RIVAL_WINDOW, kept=50))
        for name, function in functions.items():
            found = function()
            must(found == wanted, f"Spark SQL, {name}: {found}, locally {wanted}")
        taken = measure_cpu(functions, sizes.runs)
        for name, one in taken.items():
            case = f"Spark SQL, {name}" if name in FORMS else name
            yield from _cost("spark rivals", case, sizes.sparked, one, f"{wanted:,} complex events")
        for form in FORMS:
            for own in ("ours, files", "ours, DataFrame"):
                yield _times("spark rivals", f"{form} / {own}", taken[form], taken[own])


# ------------------------------------------------------------------------------------- what is measured


@contextmanager
def _lake(events: int) -> Iterator[tuple[SparkSession, list[str], Path] | None]:
    if missing() is not None:
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_lake(folder / "lake", events)
        with session(folder) as spark:
            yield spark, paths, folder


def _local(queries: Mapping[str, Sequence[Any]], runs: int) -> dict[str, Any]:
    names = ("product", "text", "paths", "order_by")
    asked = {name: dict(zip(names, query, strict=True)) for name, query in queries.items()}
    return in_fresh_process("bench.spark_local", (json.dumps({"runs": runs, "queries": asked}),), LOCAL_S)


def _of_files(
    spark: SparkSession, paths: list[str] | str, product: str, text: str, rows: int | None = None
) -> DataFrame:
    """A query over files; with `rows` a task is meant to get so many."""
    from cer_gpu.spark.settings import ROWS_PER_TASK

    from cer_gpu import spark as cer_spark

    made = cer_spark.count_files if product == "count" else cer_spark.run_files
    if rows is not None:
        spark.conf.set(ROWS_PER_TASK.key, str(rows))
    try:
        return made(paths, text, order_by=ORDER, spark=spark)
    finally:
        spark.conf.unset(ROWS_PER_TASK.key)


def _side_by_side(
    functions: Mapping[str, Callable[[], Any]], queries: Mapping[str, Sequence[Any]], runs: int
) -> tuple[dict[str, Taken], dict[str, Taken]]:
    """Spark and the local engine in turn: how fast a core is may change from one minute to the next."""
    spark: list[dict[str, Taken]] = []
    local: list[dict[str, Any]] = []
    for number in range(runs):
        local.append(_local(queries, 1))
        spark.append(measure_cpu(functions, 1, warm=int(number == 0)))
    return (
        {name: Taken.joined([one[name] for one in spark]) for name in functions},
        {name: Taken.joined([Taken.of(one[name]) for one in local]) for name in queries},
    )


def _framed(frame: DataFrame, text: str) -> int:
    from cer_gpu import spark as cer_spark

    return _number(cer_spark.count(frame, text, order_by=ORDER))


def _shuffled(frame: DataFrame, key: str | None, events: int) -> int:
    """The same columns to as many tasks, where the batches are counted and nothing else."""
    import pyspark.sql.functions as sf
    from cer_gpu.spark.operators import size_of

    columns = ["time", "type", "price", *([] if key is None else [key])]
    tasks = size_of(frame, events).partitions
    shuffled = frame.select(*columns).repartition(tasks, ORDER if key is None else key)
    consumed = shuffled.mapInArrow(_consumed, "rows long")
    return int(consumed.agg(sf.sum("rows")).collect()[0][0])


def _consumed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"rows": [rows]})


def _counted(made: Callable[[], DataFrame]) -> int:
    return _number(made())


def _drained(made: Callable[[], DataFrame]) -> None:
    made().write.format("noop").mode("overwrite").save()


def _number(frame: DataFrame) -> int:
    return int(frame.collect()[0][0])


def _number_of(spark: SparkSession, text: str) -> int:
    return _number(spark.sql(text))


# ------------------------------------------------------------------------------------------ the figures


def _absent(section: str) -> Figure:
    return Figure(section, "PySpark 4 with Java 17", None, "s", note=missing() or "")


def _cost(section: str, case: str, events: int, taken: Taken, note: str = "") -> Iterator[Figure]:
    """CPU seconds, and events a second by the clock."""
    cpu, clock = taken.cpu, taken.clock
    seconds = (("cpu", cpu), ("clock", clock))
    case = f"{case}, {large(events)} events"
    yield Figure(section, case, cpu.median, "CPU s", cpu.least, cpu.most, note=note, seconds=seconds)
    low, high = events / clock.most / 1e6, events / clock.least / 1e6
    yield Figure(section, case, events / clock.median / 1e6, "M events/s", low, high)


def _times(section: str, case: str, one: Taken, other: Taken, most: float | None = None) -> Figure:
    """How many times the CPU seconds of another thing one takes."""
    value = one.cpu.median / other.cpu.median
    low, high = one.cpu.least / other.cpu.most, one.cpu.most / other.cpu.least
    target = None if most is None else Target(most, most=True)
    return Figure(section, case, value, "times the CPU s", low, high, target)
