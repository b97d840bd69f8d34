"""The sections of the table: each is a function from sizes to figures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench import answers, formula
from bench.apart import apart
from bench.attributes import attributes
from bench.backtest import backtest
from bench.clocked import clocked
from bench.compared import compared
from bench.counted import counted
from bench.figures import Figure, Target, duration, rate, ratio
from bench.followed import followed
from bench.forms import answer_forms
from bench.fresh import ChildError, in_fresh_process
from bench.growth import growth
from bench.joins import join_rivals, join_update
from bench.keyed_events import keyed_events
from bench.keyed_rivals import BUCKETED, FORMS, NO_JOIN
from bench.live import spark_live
from bench.measure import Times, measure
from bench.queries import KeyedSteps, ThreeSteps
from bench.rivals.plain.section import plain
from bench.rivals.section import rivals
from bench.row_patterns import row_patterns
from bench.sizes import Sizes, large
from bench.spark import spark_cut, spark_files, spark_frames, spark_prepared, spark_rivals
from bench.strategies import strategies
from bench.streams import batches, codes_of, make_table, values_of, write_parquet
from bench.streams_push import streams_push
from bench.timed import timed
from bench.values import values
from bench.views import views

SHARES = (0.1, 0.01, 0.5)
WINDOWS = (10, 100, 1000, 10_000, 100_000)
LIMIT_S = 120.0
"""Seconds that a rival may take with all its runs."""


def hits(sizes: Sizes) -> Iterator[Figure]:
    """Three steps with three filters: their hits, beside the masks of the filters alone."""
    events = make_table(sizes.events, ("type", "price"))
    codes, prices = codes_of(events), values_of(events, "price")
    for share in SHARES:
        steps = ThreeSteps(kept=share)
        masks = partial(steps.masks, codes, prices)
        times = measure({"ours": answers.hits(steps, events), "masks": masks}, sizes.runs)
        case = _filtered(sizes.events, share)
        ours, theirs = times["ours"], times["masks"]
        yield rate("hits", case, "events", sizes.events, ours, 100, "checked by searches over positions")
        yield rate("hits", f"{case}: NumPy, the three masks alone", "events", sizes.events, theirs)
        yield ratio("hits", f"{case}: time of the masks / ours", ("ours", ours), ("masks", theirs), 1.0)


def counts(sizes: Sizes) -> Iterator[Figure]:
    """Three steps with three filters: their counts."""
    events = make_table(sizes.events, ("type", "price"))
    for share in SHARES:
        times = measure({"ours": answers.counts(ThreeSteps(kept=share), events)}, sizes.runs)
        case = _filtered(sizes.events, share)
        note = "checked by prefix sums, end by end"
        yield rate("counts", case, "events", sizes.events, times["ours"], 40, note)


def _filtered(events: int, share: float) -> str:
    return f"{large(events)} events, the filters keep {share:.0%} of A, B, C"


def windows(sizes: Sizes) -> Iterator[Figure]:
    """The throughput over growing windows."""
    events = make_table(sizes.events, ("type", "price"))
    for name, make in (("hits", answers.hits), ("count", answers.counts)):
        functions = {f"WITHIN {n} EVENTS": make(ThreeSteps(within=n), events) for n in WINDOWS}
        times = measure(functions, sizes.runs)
        for case, taken in times.items():
            yield rate(f"windows: {name}", case, "events", sizes.events, taken)
        medians = [taken.median for taken in times.values()]
        yield Figure(
            f"windows: {name}",
            "slowest / fastest window",
            min(medians) / max(medians),
            "of 1",
            target=Target(0.8),
        )


def enumeration(sizes: Sizes) -> Iterator[Figure]:
    """All complex events to Arrow, three marks each; and one by one, as Python objects."""
    events = make_table(sizes.enumerated, ("type", "price"))
    # 2 % of the events are relevant to each step: hundreds of complex events at each end.
    steps = ThreeSteps(kept=0.2)
    run, number = answers.enumeration(steps, events)
    case = f"{large(number)} complex events of {large(sizes.enumerated)} events, to Arrow"
    times = measure({"batches": run}, sizes.runs)
    note = "every row checked; as many as prefix sums say"
    yield rate("enumeration", case, "complex events", number, times["batches"], 20, note)

    some = min(number, 200_000)
    query = cer.compile(steps.text)

    def one_by_one() -> int:
        return sum(1 for found in islice(query.run(events), some) if found.start < found.end)

    answers.must(one_by_one() == some, f"the first {some:,} complex events of {steps.text}")
    times = measure({"one by one": one_by_one}, sizes.runs)
    yield rate(
        "enumeration", f"the first {some:,}, as Python objects", "complex events", some, times["one by one"]
    )


def keyed(sizes: Sizes) -> Iterator[Figure]:
    """All matches of a keyed sequence counted, beside self-joins in SQL."""
    events = make_table(sizes.keyed, ("type", "key", "ts"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        pq.write_table(events, path)
        for within in sizes.keyed_windows:
            steps = KeyedSteps(within)
            run, number = answers.keyed(steps, events)
            section = f"keyed, window {within:,}"
            case = f"{large(sizes.keyed)} events, {number:,} complex events"
            note = "checked by prefix sums over (key, time)"
            times = measure({"ours": run}, sizes.runs, warm=2)
            yield rate(section, case, "events", sizes.keyed, times["ours"], note=note)
            for engine in FORMS:
                # Again for each rival: what a ratio is made of is measured as close together as can be.
                times = measure({"ours": run}, sizes.runs, warm=2)
                yield from _rival(section, engine, within, path, number, times["ours"], sizes.runs)


def _rival(
    section: str, engine: str, within: int, path: Path, number: int, ours: Times, runs: int
) -> Iterator[Figure]:
    """An engine's forms of the query, then the ratios to the best of them."""
    if find_spec(engine) is None:
        yield Figure(section, engine, None, "s", note="it is not installed")
        return
    found: dict[str, Times] = {}
    for form in FORMS[engine]:
        case = f"{engine}, {form}"
        try:
            child = in_fresh_process("bench.keyed_rivals", (engine, form, within, path, runs), LIMIT_S)
        except (TimeoutError, ChildError) as error:
            yield Figure(section, case, None, "s", note=str(error))
            continue
        answers.must(child["number"] == number, f"{case}: {child['number']:,}, where we say {number:,}")
        found[form] = Times(tuple(child["seconds"]))
        yield duration(section, case, found[form], note="same count")
    for what, forms, target in (
        ("plain self-join", found.keys() - {BUCKETED, NO_JOIN}, 10),
        ("self-join, bucketed by hand too,", found.keys() - {NO_JOIN}, 10),
        ("window functions, no join,", found.keys() & {NO_JOIN}, None),
    ):
        if forms:
            best = min(forms, key=lambda form: found[form].median)
            ends = (("ours", ours), (f"{engine}, {best}", found[best]))
            yield ratio(section, f"{engine}: best {what} / ours", *ends, target, best)


FILE_WITHIN_MS = 10_000
"""The window of the keyed sequence over a file: about ten events of a key."""


def parquet(sizes: Sizes) -> Iterator[Figure]:
    """A large file counted in a process of its own: time, and the most memory."""
    steps = ThreeSteps(kept=0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        found: list[list[np.ndarray]] = []
        keyed_steps, by_key = KeyedSteps(FILE_WITHIN_MS), list[list[np.ndarray]]()
        first = 0
        for part in write_parquet(path, batches(sizes.filed, ("type", "price", "key", "time"))):
            found.append([where + first for where in steps.positions(part["type"], part["price"])])
            places = np.arange(first, first + len(part["type"]))
            by_key.append(list(keyed_steps.positions(part["type"], part["key"], places, sizes.filed)))
            first += len(part["type"])
        a, b, c = (np.concatenate(step) for step in zip(*found, strict=True))
        wanted = int(formula.counts(a, b, c, steps.within).sum())
        size = path.stat().st_size
        seconds, peaks = [], []
        for _ in range(min(sizes.runs, 3) + 1):
            child = in_fresh_process("bench.fresh", ("parquet", path, steps.text), 600)
            answers.must(child["number"] == wanted, f"count of {steps.text} over the file")
            seconds.append(child["seconds"])
            peaks.append(child["peak"] / 1e9)
        case = f"{large(sizes.filed)} events, {size / 1e9:.2g} GB"
        times = Times(tuple(seconds[1:]))
        yield duration("parquet", f"{case}: import, compile, count", times, note="checked by prefix sums")
        yield rate("parquet", case, "events", sizes.filed, times)
        yield Figure(
            "parquet",
            f"{case}: peak of resident memory",
            max(peaks),
            "GB",
            min(peaks),
            max(peaks),
            Target(1.5, most=True),
            "worst of the runs",
        )
        a, b, c = (np.sort(np.concatenate(step)) for step in zip(*by_key, strict=True))
        yield from _beside_reading(path, case, formula.counts(a, b, c, FILE_WITHIN_MS), sizes.runs)


def _beside_reading(path: Path, case: str, wanted: np.ndarray, runs: int) -> Iterator[Figure]:
    """A keyed sequence over a file, beside pyarrow that only reads the columns of the query."""
    text = f"SELECT * WHERE A ; B ; C PARTITION BY key WITHIN {FILE_WITHIN_MS} MILLISECONDS"
    query = cer.compile(text)
    answers.must(query.count(path, order_by="time") == int(wanted.sum()), f"count of {text} over the file")
    answers.must(len(query.hits(path, order_by="time")) == np.count_nonzero(wanted), f"hits of {text}")

    def reading() -> None:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group, ["type", "key", "time"])

    times = measure(
        {
            "hits": lambda: query.hits(path, order_by="time"),
            "count": lambda: query.count(path, order_by="time"),
            "reading": reading,
        },
        runs,
    )
    for asked in ("hits", "count"):
        for what, ours, theirs in (
            ("by the clock", times[asked], times["reading"]),
            ("CPU time", times[asked].on_processor, times["reading"].on_processor),
        ):
            ends = (("ours", ours), ("pyarrow", theirs))
            yield ratio("parquet", f"{case}, by key: pyarrow reads / {asked}, {what}", *ends, 0.8)


def start(sizes: Sizes) -> Iterator[Figure]:
    """Import, and the first count of a new query: with kernels kept on disk, and without."""
    runs = sizes.runs
    fresh = [in_fresh_process("bench.fresh", ("import",), LIMIT_S)["seconds"] for _ in range(runs + 1)]
    yield duration("start", "import cer_gpu", Times(tuple(fresh[1:])), 0.3)

    events = make_table(sizes.first, ("type", "price"))
    case = f"first count of a new query, {large(sizes.first)} events"
    times = measure({case: answers.new_queries(events, runs + 1)}, runs)
    yield duration(
        "start", f"{case}: warm process", times[case], 0.2, "compile and count; checked by prefix sums"
    )

    steps = ThreeSteps()
    positions = steps.positions(codes_of(events), values_of(events, "price"))
    wanted = int(formula.counts(*positions, steps.within).sum())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, events.schema) as writer:
            writer.write_table(events)
        found = [
            in_fresh_process("bench.fresh", ("first", path, steps.text), LIMIT_S) for _ in range(runs + 1)
        ]
        cold = in_fresh_process("bench.fresh", ("first", path, steps.text), LIMIT_S, Path(folder))
    found.append(cold)
    answers.must(all(child["number"] == wanted for child in found), f"count of {steps.text}")
    for part, most in (("seconds", 0.2), ("compile", None), ("count", None)):
        what = {"seconds": "all of it", "compile": "import and compile", "count": "count"}[part]
        taken = Times(tuple(child[part] for child in found[1:-1]))
        note = "the table is in memory, pyarrow is imported" if part == "seconds" else ""
        yield duration("start", f"{case}: fresh process, {what}", taken, most, note)
    first = Times((cold["seconds"],))
    yield duration("start", f"{case}: fresh process, no kernel compiled yet", first, None, "once")
    loaded = found[0]["modules"]
    taken = Times(tuple(child["processor"] for child in found[1:-1]))
    yield duration("start", f"{case}: fresh process, seconds of the processor", taken)
    shares = {
        f"importing alone: its {len(loaded)} modules": loaded,
        "of these llvmlite, which loads LLVM": ["llvmlite.binding"],
        "before it begins: numpy": ["numpy"],
        "before it begins: pyarrow, with numpy": ["pyarrow"],
        "not loaded: numba": ["numba"],
    }
    for what, names in shares.items():
        each = [
            in_fresh_process("bench.fresh", ("importing", *names), LIMIT_S)["processor"]
            for _ in range(runs + 1)
        ]
        yield duration("start", f"fresh process, seconds of the processor, {what}", Times(tuple(each[1:])))


SECTIONS: dict[str, Callable[[Sizes], Iterator[Figure]]] = {
    "hits": hits,
    "counts": counts,
    "windows": windows,
    "enumeration": enumeration,
    "forms": answer_forms,
    "keyed": keyed,
    "keyed_events": keyed_events,
    "parquet": parquet,
    "start": start,
    "strategies": strategies,
    "attributes": attributes,
    "followed": followed,
    "timed": timed,
    "counted": counted,
    "compared": compared,
    "apart": apart,
    "values": values,
    "streams_push": streams_push,
    "clocked": clocked,
    "rivals": rivals,
    "plain": plain,
    "join_rivals": join_rivals,
    "join_update": join_update,
    "row_patterns": row_patterns,
    "views": views,
    "backtest": backtest,
    "growth": growth,
    "spark_files": spark_files,
    "spark_prepared": spark_prepared,
    "spark_frames": spark_frames,
    "spark_cut": spark_cut,
    "spark_live": spark_live,
    "spark_rivals": spark_rivals,
}
