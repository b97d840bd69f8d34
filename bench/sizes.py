"""How large the benchmarks are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

MILLION = 1_000_000


class Brought(NamedTuple):
    """Events and a query of the user, in place of those that are made.

    Attributes
    ----------
    folder : str
        A folder of Parquet files.
    query : str
        The query, in CEQL.
    order_by : str
        The column of time.
    type_column : str
        The column of types.
    """

    folder: str
    query: str
    order_by: str
    type_column: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the benchmarks are.

    Attributes
    ----------
    events : int
        Events of hits, counts and windows.
    enumerated : int
        Events of the enumeration.
    keyed : int
        Events of the keyed sequence.
    filed : int
        Events of the Parquet file.
    first : int
        Events of the first count.
    joined : int
        Events of the joins against rivals; there is one key for each hundred.
    updated : int
        Events of the joins whose window grows.
    numbered : int
        Events of the keyed windows that count events.
    pushed : int
        Open events of a stream that one more is pushed to.
    clocked : int
        Events of a stream whose intervals grow.
    measured : int
        Events of windows over an attribute.
    looked : int
        Events of FOLLOWED BY and PRECEDED BY.
    viewed : int
        Rows of each relation of a view.
    lake : int
        Events of the files that Spark's workers read.
    framed : int
        Events of a DataFrame.
    sparked : int
        Events that Spark SQL counts.
    rivalled : int
        Events of the questions that rivals are asked.
    asked : tuple of int
        Events of the plain questions, from few to many.
    recognized : tuple of int
        Rows that MATCH_RECOGNIZE reads, from few to many.
    grown : tuple of int
        Events that each construct of the language is asked over, from few to many.
    keyed_windows : tuple of int
        Windows of the keyed sequence, in units of its time: one event a unit.
    patience : float
        Seconds that one form of a rival's join may take, loading not counted.
    runs : int
        Runs that are timed, after one that is not.
    command : str or None
        Another program that answers the questions of rivals.
    brought : Brought or None
        A folder of events and a query of the user, in place of the workloads.
    """

    events: int = 50 * MILLION
    enumerated: int = 10 * MILLION
    keyed: int = MILLION
    filed: int = 100 * MILLION
    first: int = MILLION
    joined: int = 10 * MILLION
    updated: int = 20 * MILLION
    numbered: int = 10 * MILLION
    pushed: int = 10 * MILLION
    clocked: int = 4 * MILLION
    measured: int = 5 * MILLION
    looked: int = 20 * MILLION
    viewed: int = 300_000
    lake: int = 50 * MILLION
    framed: int = 10 * MILLION
    sparked: int = 4 * MILLION
    rivalled: int = 500_000
    asked: tuple[int, ...] = (500_000, 5 * MILLION)
    recognized: tuple[int, ...] = (100_000, MILLION, 10 * MILLION)
    grown: tuple[int, ...] = (1000, 10_000, 100_000, MILLION)
    keyed_windows: tuple[int, ...] = (10_000, 50_000)
    patience: float = 300.0
    runs: int = 5
    command: str | None = None
    brought: Brought | None = None

    def scaled(self, share: float) -> Sizes:
        """The same sizes for a share of the events; `keyed` stays large enough that every key has events."""
        return replace(
            self,
            events=int(self.events * share),
            enumerated=int(self.enumerated * share),
            keyed=max(int(self.keyed * share), min(self.keyed, 20_000)),
            filed=int(self.filed * share),
            first=int(self.first * share),
            joined=int(self.joined * share),
            updated=int(self.updated * share),
            numbered=max(int(self.numbered * share), min(self.numbered, 20_000)),
            pushed=int(self.pushed * share),
            clocked=max(int(self.clocked * share), min(self.clocked, 20_000)),
            measured=int(self.measured * share),
            looked=int(self.looked * share),
            viewed=max(int(self.viewed * share), min(self.viewed, 2000)),
            lake=int(self.lake * share),
            framed=int(self.framed * share),
            sparked=max(int(self.sparked * share), min(self.sparked, 20_000)),
            asked=tuple(max(int(events * share), 2000) for events in self.asked),
            recognized=tuple(max(int(rows * share), 2000) for rows in self.recognized),
            grown=tuple(max(int(events * share), 100) for events in self.grown),
            rivalled=max(int(self.rivalled * share), min(self.rivalled, 20_000)),
            patience=max(self.patience * share, min(self.patience, 30.0)),
        )


def large(number: int) -> str:
    """A number with few digits: 50M."""
    for size, name in ((MILLION, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:.3g}{name}"
    return str(number)
