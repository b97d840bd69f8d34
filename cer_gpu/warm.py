"""Compile kernels in advance: `warm`. `python -m cer_gpu.warm` lists which kernels each kind of query needs.

Those of the queries that are asked most are compiled in advance; the others when a query first needs them.

The list is made by running a small query of every kind over a few events and noting which kernels it calls.
It is part of the package (`kernels/needs.json`); make it again when kernels, or their callers, have changed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cer_gpu.compiling.helper_pool import CompileTask
from cer_gpu.compiling.kernel import Kernel, kernel_named, make, observers
from cer_gpu.compiling.kinds import Kind
from cer_gpu.compiling.loader import words
from cer_gpu.compiling.needs import FILE, PACKAGE, Need, Needs, needs, text_of
from cer_gpu.compiling.store import store

if TYPE_CHECKING:
    from cer_gpu.views import JoinView

STEPS = "A AS a ; B AS b FILTER a[price > 20 AND n < 90] AND b[price < 80]"

RISES = "A AS a ; B AS b FILTER {}b.price > 1.05 * a.price"

COMMON = [
    f"SELECT * WHERE {STEPS}",
    f"SELECT * WHERE {STEPS} WITHIN 9 EVENTS",
    f"SELECT * WHERE {STEPS} WITHIN 9 SECONDS",
    f"SELECT * WHERE {STEPS} PARTITION BY name",
    f"SELECT * WHERE {STEPS} PARTITION BY name WITHIN 9 SECONDS",
    f"SELECT * WHERE {STEPS} PARTITION BY [name], n WITHIN 9 SECONDS",
    "SELECT * WHERE A AS a ; B+ AS b ; C AS c WITHIN 9 SECONDS",
    "SELECT MAX * WHERE A AS a ; B+ AS b WITHIN 9 SECONDS",
    "SELECT * WHERE A : B",
    "SELECT * WHERE A AS a :{3,} FILTER a[price > PREV(price)]",
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.name = b.name AND b.name = c.name WITHIN 9 SECONDS",
    f"SELECT * WHERE {RISES.format('')} WITHIN 9 SECONDS",
    f"SELECT * WHERE {RISES.format('a.name = b.name AND ')} WITHIN 9 SECONDS",
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.price < b.price AND a.price < c.price "
    "PARTITION BY name WITHIN 9 SECONDS",
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.price + b.price > c.price WITHIN 9 SECONDS",
    "SELECT * WHERE A AS a NOT FOLLOWED BY [<= 9 s] B PARTITION BY name",
    "SELECT * WHERE A AS a ;[<= 60 s] B AS b ;[<= 60 s] C AS c",
    "SELECT MAX * WHERE A+[<= 9 s] PARTITION BY name",
]
"""The questions that are asked most: their kernels, at most 60, are compiled in advance. Two of them take a
third of the time: those of the general machine, which a query would wait for longest."""

PATTERNS = [
    STEPS,
    "A AS a ; B+ AS b ; C AS c",
    "A AS a ; B AS b FILTER a[name LIKE '^x'] AND b[price + n > 20]",
    "A ; (B OR C) FILTER A[n IN {1, 2, 3, 5, 8, 13, 21, 34, 55, 89}]",
    "A : B",
    "A AS a :{3,} FILTER a[price > PREV(price)]",
]
"""Patterns that run on the automaton of the regular queries."""

JOINED = [
    "A AS a ; B AS b ; C AS c FILTER a.name = b.name AND b.name = c.name",
    "Q(x, y) <- A(name = x), B(name = x, n = y)",
    "Q(x) <- A(name = x, n = y), B(name = x, n = y), C(name = x)",
    "A AS a ; B AS b FILTER b.price > 1.05 * a.price",
    "(A AS a FILTER a.n > PRIOR(a).n) {3,}",
    "A AS a ; B AS b ; C AS c FILTER c.price > a.price",
    "A AS a ; B AS b ; C AS c FILTER a.price + b.price > c.price",
]
"""Queries that compare events with each other."""

THRESHOLDS = [
    "(A AS a)+ FILTER COUNT(DISTINCT a.name) >= 2",
    "(A AS a) :+ FILTER SUM(a.n) > 9",
    "(A AS a)+ FILTER MAX(a.price) - MIN(a.price) > 9",
]
"""Iterations with a threshold on all their events."""

LOOKED_UP = [
    "Q() <- A(name = x, n = y), B(name = x, n = z)",
    "Q() <- A(name = x, n = y), B(name = x, n = z), z > y",
    "Q() <- A(name = x, n = y), B(name = x, n = z), C(n = w), z > y, w < z, w > y - 3",
]
"""Rules whose atoms are looked up."""

VIEWS = [
    "Q(a, d) <- R(a, b), S(b, c), T(d), a < c, c < d",
    "Q(b; COUNT(*), SUM(a)) <- R(a, b), S(b, c), T(b), a < c, b != 3",
    "Q(a, b) <- R(a, b), S(b, c), T(d), a != d",
    "Q(a, b, c, d) <- R(a, b), S(c, d), T(d), a < c, b >= d",
    "Q(a, k, c, d) <- K(k, a), L(k, c), M(k, d), a < c, c < d",
]
"""Rules of views, over relations with two columns, but T with one; K, L and M have few keys."""

BESIDE = [
    "A AS a FOLLOWED BY {} B",
    "A AS a PRECEDED BY {} B",
]
"""Queries that look for what follows or precedes."""

LOOKED_FOR = [
    "A AS a FOLLOWED BY {} (B AS b ; C AS c FILTER c.price > b.price)",
    "A AS a PRECEDED BY {} (B AS b ; C AS c FILTER c.price > b.price)",
]
"""The same where what is looked for compares events."""

CLOCKED = ["(A AS a ; B+ AS b) WITHIN [<= 5 s] ; C AS c"]
"""Patterns that run on an automaton with one clock."""

TIMED = [
    "A AS a ;[<= 60 s] B AS b ;[<= 60 s] C AS c",
    "A :[<= 9 s] B+",
    "A :+[<= 9 s]",
    "A :+[<= 9 s] : A",
]
"""Patterns with intervals of time."""

CHAINED = "SELECT * WHERE A ;[<= 60 s] B ;[<= 60 s] C ;[<= 60 s] D WITHIN 40 SECONDS"
"""A chain of steps that last longer than the window has many sums to count."""

SESSIONS = [
    "MAX * WHERE A+[<= 9 s]",
    "MAX * WHERE A+[<= 9 s] NOT FOLLOWED BY [<= 9 s] A",
    "MAX NONE, COUNT(A) AS n WHERE A+[<= 9 s] NOT FOLLOWED BY [<= 9 s] A",
]
"""Sessions; with several partitions they are found in the order of the stream."""

REACHES = ["", "[1 s, 9 s]", "[2 EVENTS, 4 EVENTS]", "[<= 9 s]"]

STRATEGIES = ["ANY", "NEXT", "LAST", "MAX"]

WINDOWS = ["", "WITHIN 9 EVENTS", "WITHIN 9 SECONDS", "WITHIN 2 [n]", "WITHIN 9 [price]"]

LONG = f"SELECT NEXT * WHERE {STEPS} WITHIN 9 [price]"
"""A query that is also run over long lanes."""

MANY = 1 << 18
"""Events that threads share, where a query looks for what follows or precedes."""

NESTED = [
    "(A AS a ; B AS b) WITHIN [<= 9 s] ; C AS c",
    "(A AS a ;[<= 9 s] B AS b ; B AS c) UNLESS C",
]
"""Timed patterns that are made deterministic on the stream."""

ATTRIBUTES = ["WITHIN 2 [n]", "WITHIN 9 [price]"]
"""The windows over attributes."""

FEW = 10
"""Complex events that are asked for: without a window there may be too many to list."""

KEYS = ["", "PARTITION BY name", "PARTITION BY [name], n"]

TEMPLATES = [
    "SELECT * WHERE (A AS a FILTER a[price > $p]) ; B ; C {} {}",
    "SELECT * WHERE (A AS a FILTER a[price > $p]) : B ; C {} {}",
]
"""Whose variants are run together."""

UNLIKE = [
    f"SELECT * WHERE {steps} {{}} WITHIN {{}}" for steps in ("A ; B ; C", "B ; D", "C ; D ; A", "D ; B ; B")
]
"""Queries with little in common that are run together."""


def texts() -> Iterator[str]:
    """The queries that are run to find which kernels are needed."""
    for window in WINDOWS:
        for key in KEYS:
            yield f"SELECT * WHERE {STEPS} {key} {window}"
        for pattern in PATTERNS[1:]:
            yield f"SELECT * WHERE {pattern} {window}"
        for strategy in STRATEGIES:
            yield f"SELECT {strategy} * WHERE {STEPS} {window}"
            yield f"SELECT {strategy} * WHERE A AS a ; B+ AS b {window}"
        for timed in TIMED:
            yield f"SELECT * WHERE {timed} {window}"
        if "[" not in window:
            yield f"SELECT MAX * WHERE A+[<= 9 s] {window}"
        for clocked in () if "[" in window else CLOCKED:
            yield f"SELECT * WHERE {clocked} {window}"
        if window not in ATTRIBUTES:
            for nested in NESTED:
                yield f"SELECT * WHERE {nested} {window}"
            for strategy in STRATEGIES[1:]:
                yield f"SELECT {strategy} * WHERE {NESTED[0]} {window}"
                yield f"SELECT * WHERE {nested} PARTITION BY name {window} CONSUME BY ANY"
        for joined in JOINED:
            yield f"{joined} {window}" if "<-" in joined else f"SELECT * WHERE {joined} {window}"
        for rule in LOOKED_UP:
            yield f"{rule} {window}"
        for threshold in () if "[" in window else THRESHOLDS:
            yield f"SELECT NONE WHERE {threshold} {window} LIMIT 1"
        yield f"SELECT MAX * WHERE {PATTERNS[-1]} PARTITION BY name {window}"
        yield f"SELECT a[price] WHERE {STEPS} {window} CONSUME BY ANY"
        yield f"SELECT * WHERE {STEPS} PARTITION BY name {window} CONSUME BY PARTITION"
        for consume in ("", "CONSUME BY PARTITION "):
            yield f"SELECT * WHERE {STEPS} PARTITION BY name {window} {consume}SUPPRESS FOR 9 s"
        yield f"SELECT * WHERE NXT(A ; B) ; C {window}"
    for sessions in SESSIONS:
        yield f"SELECT {sessions} {KEYS[1]}"
    for beside in (*BESIDE, *LOOKED_FOR):
        for key in KEYS[:2]:
            for reach in REACHES:
                yield f"SELECT * WHERE {beside.format(reach)} {key}"
            yield f"SELECT * WHERE {beside.format(REACHES[1])} {key} WITHIN 9 SECONDS"


def events(count: int = 48) -> Any:
    """Some events, with columns of the usual types."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(5)
    time = np.cumsum(rng.integers(0, 5, count)).astype("M8[s]").astype("M8[us]")
    return pa.table(
        {
            "type": rng.choice(["A", "B", "C", "D"], count),
            "ts": time,
            "name": rng.choice(["x", "y", "z"], count),
            "n": np.arange(count) // 4,
            "price": rng.random(count) * 100,
        }
    )


def recorded() -> Needs:
    """The kernels that queries need, found by running them."""
    from cer_gpu.api import compile
    from cer_gpu.backtesting.run import backtest
    from cer_gpu.backtesting.sweep import sweep

    found: dict[str, dict[Need, None]] = {}
    common: dict[Need, None] = {}

    def note(kernel: Kernel, kinds: tuple[Kind, ...]) -> None:
        found.setdefault(str(words.purpose), {})[kernel.name, kinds] = None

    few, many = events(), events(MANY)
    cases: list[tuple[str, Any, int | None]] = [(text, few, FEW) for text in (*COMMON, *texts())]
    cases += [(LONG, events(3000), None), (CHAINED, few, None)]
    cases += [
        (f"SELECT * WHERE {beside.format(REACHES[1])} {key}", many, FEW)
        for beside in BESIDE
        for key in KEYS[:2]
    ]
    observers.append(note)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, (text, data, limit) in enumerate(cases):
                if number == len(COMMON):
                    common = {need: None for some in found.values() for need in some}
                query = compile(text)
                for asked in ("count", "counts", "hits", "run"):
                    for kernel in _kernels():
                        kernel.forget()
                    answer = getattr(query, asked)(data, order_by="ts", limit=limit)
                    if asked == "run":
                        answer.to_arrow()
            for key, window in product(KEYS[:2], ("9 EVENTS", "9 SECONDS")):
                texts_of = [one.format(key, f"WITHIN {window}") for one in TEMPLATES]
                texts_of.append(TEMPLATES[1].format(key, ""))
                sweeps = [sweep(one, p=list(range(0, 99, 9))) for one in texts_of]
                for together in (*sweeps, [one.format(key, window) for one in UNLIKE]):
                    for kernel in _kernels():
                        kernel.forget()
                    backtest(together, few, order_by="ts")
        for kernel in _kernels():
            kernel.forget()
        compile(COMMON[3]).run(few, order_by="ts").top(1, by="end", per=["name", "start"])
        for rule in VIEWS:
            _maintained(rule)
    finally:
        observers.remove(note)
    return Needs({purpose: list(named) for purpose, named in found.items()}, list(common))


def _maintained(rule: str) -> None:
    """Take rows into a view, few and many, out of it, and list its answers."""
    import numpy as np
    import pyarrow as pa

    from cer_gpu.views import JoinView

    rng = np.random.default_rng(6)

    def rows(count: int) -> dict[str, pa.Table]:
        names = {"R": "xy", "S": "xy", "T": "x", "K": "kx", "L": "kx", "M": "kx"}
        return {
            relation: pa.table(
                {name: rng.integers(0, 60 if name == "k" else 4000, count) for name in columns}
            )
            for relation, columns in names.items()
            if f" {relation}(" in rule
        }

    view = JoinView(rule)
    first = rows(20)
    for kernel in _kernels():
        kernel.forget()
    view.update(inserts=first)
    for count in (5, 5000, 40):
        view.update(inserts=rows(count))
    # Rows beside rows that were deleted are listed in another way.
    _looked_at(view)
    view.update(inserts=rows(1), deletes=first)
    _looked_at(view)


def _looked_at(view: JoinView) -> None:
    for answers in (view.enumerate(), view.delta()):
        for kernel in _kernels():
            kernel.forget()
        for _, batch in zip(range(FEW), answers):
            batch.validate()


def warm(ship: bool = False, every: bool = False) -> int:
    """Compile the kernels of the queries that are asked most, as far as they are not compiled yet.

    Parameters
    ----------
    ship : bool, optional
        Whether to store them beside the package too, for all users of the installation.
    every : bool, optional
        Whether to compile those of all kinds of queries.

    Returns
    -------
    int
        How many kernels were compiled.

    Raises
    ------
    OSError
        When the folder of the package cannot be written.
    """
    wanted, known = [], needs()
    named = [need for some in known.purposes.values() for need in some] if every else known.common
    for need in dict.fromkeys(named):
        kernel = kernel_named(need[0])
        if kernel is not None:
            wanted.append(CompileTask(kernel, need[1]))
    missing = [task for task in wanted if not task.kernel.has(task.kinds)]
    if missing:
        make(missing)
    if ship:
        for task in wanted:
            found = store().read(task.kept)
            if found is not None:
                store().ship(task.kept, *found)
    return len(missing)


def _kernels() -> Iterator[Kernel]:
    for name, module in list(sys.modules.items()):
        if name.startswith("cer_gpu.kernels."):
            yield from (value for value in vars(module).values() if isinstance(value, Kernel))


if __name__ == "__main__":
    Path(str(files(PACKAGE).joinpath(FILE))).write_text(text_of(recorded()), encoding="utf-8")
