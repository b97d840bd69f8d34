"""How the cost of each construct grows with the number of events: CPU seconds, and the exponent of n.

Constructs are asked in a process of its own, where an answer may take so much time and memory; the next size
is left out where the one before predicts more. CPU seconds are those of all threads of that process, and the
exponent is that of the last two sizes, so other work on the machine matters little.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise, product, starmap
from math import log
from multiprocessing.connection import Connection
from typing import NamedTuple

import pyarrow as pa

from bench.figures import Figure
from bench.growth_questions import ANSWERED, CEQL, SQL, answered, events
from bench.measure import Times
from bench.sizes import Sizes, large
from cer_gpu.errors import CerError

LIMIT_S = 5.0
"""CPU seconds that one answer may take."""

SHORT_S = 0.1
"""An answer that takes less is timed three times, and the best counts."""

MEMORY = 6 << 30
"""Bytes of memory that a process may map beside its code."""

PATIENCE_S = 600.0
"""Seconds by the clock after which a process that says nothing is ended, whatever it does."""

TINY = 60
"""Events of the first answer, which is not timed."""

LEAST_S = 0.02
"""An answer that takes less says nothing of the growth: it is mostly what every call costs."""

STOPPED = "stopped"


class Point(NamedTuple):
    """What one answer costs.

    Attributes
    ----------
    rows : int
    seconds : float
        Of the processor.
    said : str
        Empty, or the error that came in place of an answer.
    """

    rows: int
    seconds: float
    said: str = ""


class Case(NamedTuple):
    """What is asked of a construct.

    Attributes
    ----------
    name : str
        One of `CEQL` or `SQL`.
    asked : str
        One of `ANSWERED`.
    many, dense : bool
        As `events` takes them.
    """

    name: str
    asked: str
    many: bool
    dense: bool

    def __str__(self) -> str:
        keys = "many keys" if self.many else "few keys"
        return f"{self.name}: {self.asked}, {keys}, {'frequent' if self.dense else 'rare'} types"


def growth(sizes: Sizes) -> Iterator[Figure]:
    """The exponent of each construct: hits, counts, lists; few and many keys; rare and frequent types."""
    cases = [case for name in (*CEQL, *SQL) for case in cases_of(name)]
    for case, points in measured(cases, sizes.grown):
        yield _figure(case, points)


def cases_of(name: str) -> list[Case]:
    """What is asked of a construct: keys make a difference only to a query that reads them."""
    keyed = "key" in CEQL.get(name, SQL.get(name, ""))
    asked = ANSWERED if name in CEQL else ANSWERED[-1:]
    return list(starmap(Case, product((name,), asked, (False, True) if keyed else (False,), (False, True))))


def _figure(case: Case, points: Sequence[Point]) -> Figure:
    """The figure of a case: its exponent, and its seconds by size."""
    good = [point for point in points if not point.said]
    said = ", ".join(f"{large(at.rows)}: {at.said or f'{at.seconds:.3g} s'}" for at in points)
    seconds = tuple((large(at.rows), Times((at.seconds,))) for at in good)
    return Figure("growth", str(case), exponent(good), "exponent of n", note=said, seconds=seconds)


def exponent(points: Sequence[Point]) -> float | None:
    """The power of n with which the last two answers differ; None if there are no two that say something."""
    found = None
    for before, after in pairwise(points):
        if after.seconds >= LEAST_S:
            found = log(after.seconds / before.seconds) / log(after.rows / before.rows)
    return found


def measured(cases: Sequence[Case], rows: Sequence[int]) -> Iterator[tuple[Case, list[Point]]]:
    """Ask over more and more events, in a process of its own, and after its end in a new one."""
    context = multiprocessing.get_context("spawn")
    left, points = list(cases), list[Point]()
    while left:
        here, there = context.Pipe()
        process = context.Process(target=_answers, args=(there, left, tuple(rows)))
        process.start()
        there.close()
        try:
            while left:
                point = here.recv() if here.poll(PATIENCE_S) else Point(rows[len(points)], 0.0, STOPPED)
                if point is not None:
                    points.append(point)
                if point is None or point.said:
                    yield left.pop(0), points
                    points = []
                if point is not None and point.said == STOPPED:
                    break
        except EOFError:  # its time is up, or the system has ended it
            points.append(Point(rows[min(len(points), len(rows) - 1)], LIMIT_S, STOPPED))
            yield left.pop(0), points
            points = []
        finally:
            process.kill()
            process.join()


def _answers(pipe: Connection, cases: Sequence[Case], rows: Sequence[int]) -> None:
    """Answer over more and more events, and send what each answer cost; None ends a case."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    tables = cache(events)
    for case in cases:
        with suppress(CerError):
            answered(
                case.name, case.asked, events(TINY, case.many, case.dense)
            )  # compiles kernels, makes plans
        points: list[Point] = []
        for number in rows:
            points.append(_point(case, tables(number, case.many, case.dense)))
            pipe.send(points[-1])
            if points[-1].said:
                break
            if _predicted(points, 10 * number) > LIMIT_S:
                pipe.send(None)
                break
        else:
            pipe.send(None)


def _point(case: Case, table: pa.Table) -> Point:
    """Answer, several times if that is quick."""
    taken, said = list[float](), ""
    while not said and (not taken or (sum(taken) < SHORT_S and len(taken) < 3)):
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)  # ends the process, also while a kernel runs
        begun = time.process_time()
        try:
            answered(case.name, case.asked, table)
        except (CerError, MemoryError) as error:
            said = type(error).__name__
        taken.append(time.process_time() - begun)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Point(len(table), min(taken), said and f"{said} after {taken[-1]:.1f} s")


def _predicted(points: Sequence[Point], rows: int) -> float:
    """The seconds of so many events, by the growth so far."""
    last = points[-1]
    return last.seconds * (rows / last.rows) ** max(exponent(points) or 1.0, 1.0)
