"""The workloads, in the order of the table: each asks one question about some events."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.rivals.questions import DAY, GAP, REACH, Joined, Many, Nearest, Neighbours, Question, Sequence


@dataclass(frozen=True, slots=True)
class Workload:
    """A question over some events.

    Attributes
    ----------
    name : str
        Its letter, and what it asks.
    question : Question
    types, keys : int
        How many there are, all equally likely.
    flights : bool
        Whether the events are those of the demo.
    smaller : str
        The workload of which this one has all matches and more: who has no time for it is not asked this one.
    """

    name: str
    question: Question
    types: int = 5
    keys: int = 1000
    flights: bool = field(default=False)
    smaller: str = ""


LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

LATE = " : ".join(
    f"({kind} AS {name} FILTER {name}[price >= 30])"
    for kind, name in [("Arrival", "a"), ("Departure", "d")] * 3
)


def _late() -> str:
    before = [("Departure", 1), ("Arrival", 2), ("Departure", 3), ("Arrival", 4), ("Departure", 5)]
    kinds = ["Departure", "Arrival", "Departure", "Arrival", "Departure", "Arrival"]
    rows = [f"{{lag:type:{k}}} = '{kinds[k]}' AND {{lag:price:{k}}} >= 30" for _, k in before]
    return f"type = 'Departure' AND price >= 30 AND {' AND '.join(rows)} AND ts - {{lag:ts:5}} <= {DAY}"


def sequences() -> list[Workload]:
    """Sequences over n + 6 types: with a last event that occurs, and with one that never does."""
    found = []
    for number, windows in ((3, (50, 100, 200)), (5, (100,)), (7, (50,)), (9, (50,))):
        name = ""
        for window in windows:
            smaller, name = name, f"(a) {number} steps, WITHIN {window}"
            asked = Sequence(LETTERS[:number], window)
            found.append(Workload(name, asked, types=number + 6, smaller=smaller))
        never = Sequence((*LETTERS[: number - 1], "Z"), windows[-1])
        found.append(Workload(f"{name}, the last never occurs", never, types=number + 6))
    return found


def workloads() -> tuple[Workload, ...]:
    """All workloads, in the order of the table."""
    three, hundred = ("A", "B", "C"), tuple(float(k) for k in range(1, 101))
    return (
        *sequences(),
        Workload("(a) alternatives", Sequence(("A", "B|C", "D"), 200), types=10),
        Workload("(a) iteration", Sequence(("A", "C"), 50, between="B"), types=9),
        Workload("(a) iteration, MAX", Sequence(("A", "C"), 50, between="B", longest=True), types=9),
        Workload("(a) strategy LAST, one match for each end", Nearest(three, 20_000, ends=True)),
        Workload("(a) the next of each step, for each start", Nearest(three, 20_000, ends=False)),
        Workload(
            "(a) strategy STRICT, nothing between",
            Neighbours(
                "SELECT STRICT * WHERE A ; B ; C PARTITION BY key",
                "type = 'C' AND {lag:type:1} = 'B' AND {lag:type:2} = 'A'",
                "strict",
            ),
        ),
        Workload("(b) 3 steps by key, 1,000 keys", Sequence(three, 20_000, True)),
        Workload("(b) 3 steps by key, 100,000 keys", Sequence(three, 2_000_000, True), keys=100_000),
        Workload("(c) compared with the step before", Sequence(three, 20_000, True, ((0, 1), (1, 2)))),
        Workload(
            "(c) three rises in a row",
            Neighbours(
                "SELECT * FROM E WHERE (E AS e FILTER e[price > PREV(price)]) :{3} PARTITION BY key",
                "price > {lag:price:1} AND {lag:price:1} > {lag:price:2} AND {lag:price:2} > {lag:price:3}",
                "rises",
            ),
        ),
        Workload("(d) without a B between", Sequence(("A", "C"), 200, unless="B")),
        Workload(
            "(d) no further event within a while",
            Neighbours(
                f"SELECT * FROM E WHERE E NOT FOLLOWED BY [<= {REACH}] E PARTITION BY key",
                f"({{lead:ts:1}} IS NULL OR {{lead:ts:1}} - ts > {REACH})",
                "silent",
            ),
        ),
        Workload("(e) join of three relations in a window", Joined(three, 20_000)),
        Workload(
            "(e) view of three relations, counted after each of 10 batches",
            Joined(three, None, batches=10),
            keys=100_000,
        ),
        Workload(
            "(f) sessions",
            Neighbours(
                f"SELECT MAX * FROM E WHERE E +[<= {GAP}] NOT FOLLOWED BY [<= {GAP}] E PARTITION BY key",
                f"({{lead:ts:1}} IS NULL OR {{lead:ts:1}} - ts > {GAP})",
                "sessions",
            ),
        ),
        Workload("(f) 3 steps by key, a gap each", Sequence(three, 20_000, True, gap=10_000)),
        Workload(
            "(g) 100 queries at once",
            Many(tuple(Sequence(("A", "B"), 20_000, True, above=price) for price in hundred)),
        ),
        Workload(
            "(h) flights that are late three times in a row",
            Neighbours(f"SELECT * WHERE {LATE} PARTITION BY key WITHIN {DAY} [ts]", _late(), "late"),
            flights=True,
        ),
    )
