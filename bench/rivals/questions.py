"""The questions: each as CEQL and as SQL, and as plain values that data frames are asked by.

Events have `ts` (0, 1, 2, ...), `type` (text), `key` and `price`. A sequence inside a window is joined by
buckets as wide as the window, in SQL and in data frames alike: that is faster for each of them than the plain
join by inequalities, and than one by key alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DIALECTS = {
    "duckdb": {
        "div": "{a} // {b}",
        "both": "unnest([{b}, {b} - 1])",
        "from": "events",
        "is": "({c})::BIGINT",
    },
    "chdb": {
        "div": "intDiv({a}, {b})",
        "both": "x",
        "from": "events ARRAY JOIN [{b}, {b} - 1] AS x",
        "is": "toInt64({c})",
    },
    "spark-sql": {
        "div": "{a} div {b}",
        "both": "explode(array({b}, {b} - 1))",
        "from": "events",
        "is": "cast({c} AS bigint)",
    },
}


@dataclass(frozen=True, slots=True)
class Sequence:
    """Events of some types one after another: how many matches.

    Attributes
    ----------
    steps : tuple of str
        The types of each step; several are joined by `|`.
    within : int
        From the first event to the last.
    keyed : bool
    rises : tuple of (int, int)
        Pairs of steps of which the later one has the higher price.
    unless : str or None
        A type that does not lie between the first and the last event.
    above : float or None
        The price of the first event is above it.
    """

    steps: tuple[str, ...]
    within: int
    keyed: bool = False
    rises: tuple[tuple[int, int], ...] = ()
    unless: str | None = None
    above: float | None = None

    def ceql(self) -> str:
        """As a pattern."""
        parts = [f"({step.replace('|', ' OR ')}) AS s{k}" for k, step in enumerate(self.steps)]
        conditions = [f"s{low}.price < s{high}.price" for low, high in self.rises]
        if self.above is not None:
            conditions.append(f"s0[price > {self.above}]")
        pattern = " ; ".join(parts) + (f" FILTER {' AND '.join(conditions)}" if conditions else "")
        if self.unless is not None:
            pattern = f"({pattern}) UNLESS {self.unless}"
        return f"SELECT * WHERE {pattern}{' PARTITION BY key' * self.keyed} WITHIN {self.within} [ts]"

    def sql(self, engine: str) -> str:
        """As a join by buckets."""
        words, last = DIALECTS[engine], len(self.steps) - 1
        bucket = words["div"].format(a="ts", b=self.within)
        tables = []
        for k, step in enumerate(self.steps):
            kinds = ", ".join(f"'{kind}'" for kind in step.split("|"))
            where = f"type IN ({kinds})" + (f" AND price > {self.above}" if k == 0 and self.above else "")
            source = "events" if k == 0 else words["from"].format(b=bucket)
            cell = bucket if k == 0 else words["both"].format(b=bucket)
            if self.unless is not None:
                is_one = words["is"].format(c=f"type = '{self.unless}'")
                counted = f"(SELECT *, sum({is_one}) OVER (ORDER BY ts) AS n FROM events)"
                source = source.replace("events", f"{counted} AS counted", 1)
            also = ", n" if self.unless is not None else ""
            tables.append(
                f"s{k} AS (SELECT ts, key, price{also}, {cell} AS cell FROM {source} WHERE {where})"
            )
        text = f"WITH {', '.join(tables)} SELECT count(*) FROM s0"
        for k in range(1, last + 1):
            key = f" AND s{k}.key = s0.key" if self.keyed else ""
            rises = "".join(f" AND s{i}.price < s{j}.price" for i, j in self.rises if j == k)
            text += f" JOIN s{k} ON s{k}.cell = s0.cell{key} AND s{k}.ts > s{k - 1}.ts"
            text += f" AND s{k}.ts <= s0.ts + {self.within}{rises}"
        return text + (f" WHERE s{last}.n = s0.n" if self.unless is not None else "")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Something about each event and those beside it in its key: how many events it holds for.

    Attributes
    ----------
    pattern : str
        As CEQL, without types: all events are `E`.
    condition : str
        As SQL: `{lag:ts:1}` is the ts of the event before, `{lead:ts:1}` of the one after.
    frame : str
        The name of the question in `bench.rivals.frames`.
    """

    pattern: str
    condition: str
    frame: str

    def ceql(self) -> str:
        """As a pattern."""
        return self.pattern

    def sql(self, engine: str) -> str:
        """As window functions."""
        parts = self.condition.split("{")
        condition, columns = parts[0], {}
        for part in parts[1:]:
            word, _, rest = part.partition("}")
            way, column, distance = word.split(":")
            name = f"{way}_{column}_{distance}"
            columns[name] = self._beside(engine, way, column, distance)
            condition += name + rest
        asked = ", ".join(f"{call} AS {name}" for name, call in columns.items())
        return f"SELECT count(*) FROM (SELECT *, {asked} FROM events) AS beside WHERE {condition}"

    @staticmethod
    def _beside(engine: str, way: str, column: str, distance: str) -> str:
        if engine != "chdb":
            return f"{way}({column}, {distance}) OVER (PARTITION BY key ORDER BY ts)"
        rows = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        named = f"{way}InFrame(toNullable({column}), {distance})"
        return f"{named} OVER (PARTITION BY key ORDER BY ts {rows})"


@dataclass(frozen=True, slots=True)
class Many:
    """Several questions at once: the sum of their counts."""

    questions: tuple[Sequence, ...]


@dataclass(frozen=True, slots=True)
class Ours:
    """A question that no rival can be asked, and why."""

    pattern: str
    lacking: str

    def ceql(self) -> str:
        """As a pattern."""
        return self.pattern


Question = Sequence | Neighbours | Many | Ours


@dataclass(frozen=True, slots=True)
class Workload:
    """A question over some events.

    Attributes
    ----------
    name : str
        Its letter, and what it asks.
    question : Question
    types, keys : int
        How many there are, each as likely as the others.
    flights : bool
        Whether the events are those of the demo.
    """

    name: str
    question: Question
    types: int = 5
    keys: int = 1000
    flights: bool = field(default=False)


LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

SUBSETS = "SQL and data frames join a fixed number of events; an iteration has any number of them"

GAP, REACH = 2000, 3000

DAY = 24 * 3600

LATE = " : ".join(
    f"({kind} AS {name} FILTER {name}[price >= 30])"
    for kind, name in [("Arrival", "a"), ("Departure", "d")] * 3
)


def _late() -> str:
    before = [("Departure", 1), ("Arrival", 2), ("Departure", 3), ("Arrival", 4), ("Departure", 5)]
    kinds = ["Departure", "Arrival", "Departure", "Arrival", "Departure", "Arrival"]
    rows = [f"{{lag:type:{k}}} = '{kinds[k]}' AND {{lag:price:{k}}} >= 30" for _, k in before]
    return f"type = 'Departure' AND price >= 30 AND {' AND '.join(rows)} AND ts - {{lag:ts:5}} <= {DAY}"


def workloads() -> tuple[Workload, ...]:
    """All of them, in the order of the table."""
    found = []
    for number in (3, 5, 7, 9):
        steps = LETTERS[:number]
        window = {3: 200, 5: 100, 7: 50, 9: 50}[number]
        found.append(
            Workload(f"(a) {number} steps, WITHIN {window}", Sequence(steps, window), types=number + 6)
        )
    never = Sequence((*LETTERS[:4], "Z"), 100)
    found += [
        Workload("(a) 5 steps, the last never occurs", never, types=11),
        Workload("(a) alternatives", Sequence(("A", "B|C", "D"), 200), types=10),
        Workload("(a) iteration", Ours("SELECT * WHERE A ; B + ; C WITHIN 50 [ts]", SUBSETS), types=9),
        Workload(
            "(a) iteration, MAX", Ours("SELECT MAX * WHERE A ; B + ; C WITHIN 50 [ts]", SUBSETS), types=9
        ),
        Workload("(b) 3 steps by key, 1,000 keys", Sequence(("A", "B", "C"), 20_000, True)),
        Workload(
            "(b) 3 steps by key, 100,000 keys", Sequence(("A", "B", "C"), 2_000_000, True), keys=100_000
        ),
        Workload(
            "(c) compared with the step before", Sequence(("A", "B", "C"), 20_000, True, ((0, 1), (1, 2)))
        ),
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
        Workload(
            "(f) sessions",
            Neighbours(
                f"SELECT MAX * FROM E WHERE E +[<= {GAP}] NOT FOLLOWED BY [<= {GAP}] E PARTITION BY key",
                f"({{lead:ts:1}} IS NULL OR {{lead:ts:1}} - ts > {GAP})",
                "sessions",
            ),
        ),
        Workload(
            "(g) 100 queries at once",
            Many(tuple(Sequence(("A", "B"), 20_000, True, above=float(k)) for k in range(1, 101))),
        ),
        Workload(
            "(h) flights that are late three times in a row",
            Neighbours(f"SELECT * WHERE {LATE} PARTITION BY key WITHIN {DAY} [ts]", _late(), "late"),
            flights=True,
        ),
    ]
    return tuple(found)
