"""Time forms of random questions that mean the same: `python tests/cliffs.py --pairs 200`, or `make cliffs`.

Each form is asked for its hits and its count, and must say the same. Where one form takes more than
`--factor` times as long as the other, and more than 20 ms, both are timed again; if that stays so, both are
printed with the engines that ran them, and the exit status is 1. Times are those of the processor, so other
work beside the hunt does little harm. A form that is not answered within `--limit` seconds is stopped.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any, NamedTuple

import pyarrow as pa
from equivalent_forms import other_form
from random_questions import events, question

import cer_gpu as cer
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.plan.cost import Question

LEAST_S = 0.02
"""Two forms that both take less are not compared."""

AGAIN = 5
"""How often forms are timed again before they are reported."""

ASKED: dict[str, Question] = {"hits": "hits", "count": "counts"}
"""What is asked of each form, and as what the planner knows it."""


LIMIT_ERROR = "LimitError"
"""What a form says that asks for more than the engine may take."""


class LateError(Exception):
    """A form was not answered in time."""


class Timing(NamedTuple):
    """What a form says, and how long it takes: the best of some runs.

    Attributes
    ----------
    said : object
        None where it was stopped; `LIMIT_ERROR` where it has no answer.
    seconds : float
        The limit where it was stopped.
    """

    said: Any
    seconds: float


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise LateError in the main thread, which ends what the others do."""

    def late(signum: int, frame: FrameType | None) -> None:
        raise LateError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def timed(query: t.SelectQuery, asked: str, table: pa.Table, limit: float, runs: int = 2) -> Timing:
    """Ask a form for its hits or its count."""
    best, said = limit, None
    for _ in range(runs):
        begun = time.process_time()
        try:
            with stopped_after(limit):
                made = cer.compile(to_text(query))
                found = getattr(made, asked)(table, order_by="ts")
        except LateError:
            return Timing(None, limit)
        except LimitError:
            return Timing(LIMIT_ERROR, limit)
        best = min(best, time.process_time() - begun)
        said = found if asked == "count" else found.select(["position", "latest_start"]).to_pydict()
    return Timing(said, best)


class Hunt:
    """Compares pairs of forms, and prints what differs.

    Parameters
    ----------
    seed, rows : int
    factor, limit : float

    Attributes
    ----------
    compared, found : int
        How many pairs were compared, and between how many is a cliff or a contradiction.
    """

    def __init__(self, seed: int, rows: int, factor: float, limit: float) -> None:
        self._rng = Random(f"cliffs {seed}")
        self._table = events(seed, rows)
        self._factor, self._limit = factor, limit
        self.compared = self.found = 0

    def pair(self) -> None:
        """Draw a question and another form of it, and compare them."""
        while True:
            query = question(self._rng)
            other, laws = other_form(self._rng, query)
            if laws:
                break
        self.compared += 1
        for asked in ASKED:
            one, two = (timed(form, asked, self._table, self._limit) for form in (query, other))
            if _is_cliff(one, two, self._factor):
                one, two = (timed(form, asked, self._table, self._limit, AGAIN) for form in (query, other))
            if None not in (one.said, two.said) and one.said != two.said:
                self._print(asked, f"{asked} differ ({', '.join(laws)})", (query, one), (other, two))
            elif _is_cliff(one, two, self._factor):
                slow, fast = max(one.seconds, two.seconds), min(one.seconds, two.seconds)
                said = f"{asked}: {slow / fast:.1f} times as long ({', '.join(laws)})"
                self._print(asked, said, (query, one), (other, two))

    def _print(self, asked: str, what: str, *forms: tuple[t.SelectQuery, Timing]) -> None:
        self.found += 1
        print(what)
        for query, timing in forms:
            text = to_text(query)
            engine = cer.compile(text)._plan.chosen.engine_for(ASKED[asked])
            print(f"  {1000 * timing.seconds:8.1f} ms  {engine:8} {text}", flush=True)


def _is_cliff(one: Timing, two: Timing, factor: float) -> bool:
    slow, fast = max(one.seconds, two.seconds), min(one.seconds, two.seconds)
    return slow > LEAST_S and fast > 0 and slow > factor * fast


def main(arguments: list[str]) -> int:
    """Hunt; gives 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factor", type=float, default=3.0)
    parser.add_argument("--limit", type=float, default=10.0)
    asked = parser.parse_args(arguments)
    hunt = Hunt(asked.seed, asked.rows, asked.factor, asked.limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(asked.pairs):
            hunt.pair()
    print(f"{hunt.compared} pairs of forms, {hunt.found} found")
    return int(hunt.found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
