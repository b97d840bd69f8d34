"""The questions: each in CEQL, in SQL, and as plain values for data frames.

Events have `ts` (0, 1, 2, ...), `type` (text), `key` and `price`; those of a user have `place` too, because
times may tie there. A sequence inside a window is joined by buckets as wide as the window, in SQL and in data
frames alike: for each of them that is faster than the plain join by inequalities, and than a join by key
alone.
"""

from __future__ import annotations

from dataclasses import dataclass

GAP, REACH = 2000, 3000
"""The gap of sessions, and of silence: a key without events for longer."""

DAY = 24 * 3600

DIALECTS = {
    "duckdb": {
        "div": "{a} // {b}",
        "in": "unnest([{cells}])",
        "from": "events",
        "is": "({c})::BIGINT",
    },
    "chdb": {
        "div": "intDiv({a}, {b})",
        "in": "x",
        "from": "events ARRAY JOIN [{cells}] AS x",
        "is": "toInt64({c})",
    },
    "spark-sql": {
        "div": "{a} div {b}",
        "in": "explode(array({cells}))",
        "from": "events",
        "is": "cast({c} AS bigint)",
    },
}


@dataclass(frozen=True, slots=True)
class Sequence:
    """Events of some types one after another: the number of matches.

    Attributes
    ----------
    steps : tuple of str
        The types of each step; several are separated by `|`.
    within : int
        The window, from the first event to the last.
    keyed : bool
        Whether all events of a match have one key.
    rises : tuple of (int, int)
        Pairs of steps of which the later one has the higher price.
    unless : str or None
        A type of which no event may lie between the first and the last event.
    above : float or None
        The price of the first event has to be above this.
    gap : int or None
        The longest time from each event to the next one; `within` is then as long as all gaps.
    between : str or None
        A type of which at least one event lies between the first and the last one, and is part of the match.
    longest : bool
        All events of `between` are part of the match, not just any of them.
    order : str
        The column that tells which event is earlier.
    """

    steps: tuple[str, ...]
    within: int
    keyed: bool = False
    rises: tuple[tuple[int, int], ...] = ()
    unless: str | None = None
    above: float | None = None
    gap: int | None = None
    between: str | None = None
    longest: bool = False
    order: str = "ts"

    def ceql(self) -> str:
        """The question as a pattern of CEQL."""
        parts = [f"({step.replace('|', ' OR ')}) AS s{k}" for k, step in enumerate(self.steps)]
        conditions = [f"s{low}.price < s{high}.price" for low, high in self.rises]
        if self.above is not None:
            conditions.append(f"s0[price > {self.above}]")
        if self.between is not None:
            parts.insert(1, f"{self.between} +")
        pattern = (" ; " if self.gap is None else f" ;[<= {self.gap}] ").join(parts)
        pattern += f" FILTER {' AND '.join(conditions)}" if conditions else ""
        if self.unless is not None:
            pattern = f"({pattern}) UNLESS {self.unless}"
        window = f" WITHIN {self.within} [ts]" if self.gap is None else ""
        return f"SELECT{' MAX' * self.longest} * WHERE {pattern}{' PARTITION BY key' * self.keyed}{window}"

    @property
    def numbered(self) -> str | None:
        """The type of which it matters how many events came before an event; None if there is none."""
        return self.unless or self.between

    def sql(self, engine: str) -> str:
        """The question as a join by buckets."""
        words, last = DIALECTS[engine], len(self.steps) - 1
        width = max(self.within, 1)
        bucket = words["div"].format(a="ts", b=width)
        tables = []
        for k, step in enumerate(self.steps):
            kinds = ", ".join(f"'{kind}'" for kind in step.split("|"))
            where = f"type IN ({kinds})"
            where += f" AND price > {self.above}" if k == 0 and self.above is not None else ""
            source, cell = ("events", bucket) if k == 0 else spread(words, bucket, (0, -1))
            if self.numbered is not None:
                is_one = words["is"].format(c=f"type = '{self.numbered}'")
                counted = f"(SELECT *, sum({is_one}) OVER (ORDER BY {self.order}) AS n FROM events)"
                source = source.replace("events", f"{counted} AS counted", 1)
            also = (", n" if self.numbered else "") + (", place" if self.order == "place" else "")
            tables.append(
                f"s{k} AS (SELECT ts, key, price{also}, {cell} AS cell FROM {source} WHERE {where})"
            )
        kept = "count(*)"
        if self.between is not None and not self.longest:
            kept = f"sum(cast(pow(2, s{last}.n - s0.n) AS bigint) - 1)"
        text = f"WITH {', '.join(tables)} SELECT {kept} FROM s0"
        for k in range(1, last + 1):
            key = f" AND s{k}.key = s0.key" if self.keyed else ""
            rises = "".join(f" AND s{i}.price < s{j}.price" for i, j in self.rises if j == k)
            rises += f" AND s{k}.ts <= s{k - 1}.ts + {self.gap}" if self.gap is not None else ""
            text += f" JOIN s{k} ON s{k}.cell = s0.cell{key} AND s{k}.{self.order} > s{k - 1}.{self.order}"
            text += f" AND s{k}.ts <= s0.ts + {self.within}{rises}"
        if self.numbered is not None:
            text += f" WHERE s{last}.n {'=' if self.unless else '>'} s0.n"
        return text


def spread(words: dict[str, str], bucket: str, offsets: tuple[int, ...]) -> tuple[str, str]:
    """The table that has each event in further buckets besides its own, and the name of the bucket."""
    cells = ", ".join(f"{bucket} + {offset}" for offset in offsets)
    return words["from"].format(cells=cells), words["in"].format(cells=cells)


@dataclass(frozen=True, slots=True)
class Nearest:
    """Three steps by key, with one match for each end or for each start.

    Attributes
    ----------
    steps : tuple of str
    within : int
    ends : bool
        True: for each last event the latest events before it; False: for each first event the next ones.
    """

    steps: tuple[str, ...]
    within: int
    ends: bool

    def ceql(self) -> str:
        """The question as a pattern of CEQL."""
        if self.ends:
            return f"SELECT LAST * WHERE {' ; '.join(self.steps)} PARTITION BY key WITHIN {self.within} [ts]"
        pattern = self.steps[0]
        for step in self.steps[1:]:
            pattern += f" : (NOT ({step})) :{{0,}} : {step}"
        return f"SELECT * WHERE {pattern} PARTITION BY key WITHIN {self.within} [ts]"

    def sql(self, engine: str) -> str:
        """The question as window functions, one inside the other."""
        del engine  # all of them write it alike
        *steps, asked = self.steps if self.ends else self.steps[::-1]
        fold, rows = ("max", "UNBOUNDED PRECEDING AND 1 PRECEDING")
        if not self.ends:
            fold, rows = ("min", "1 FOLLOWING AND UNBOUNDED FOLLOWING")
        table, near = "events", "ts"
        for k, step in enumerate(steps):
            found = f"{fold}(CASE WHEN type = '{step}' THEN {near} END)"
            over = f"OVER (PARTITION BY key ORDER BY ts ROWS BETWEEN {rows})"
            table, near = f"(SELECT *, {found} {over} AS near{k} FROM {table}) AS t{k}", f"near{k}"
        apart = f"ts - {near}" if self.ends else f"{near} - ts"
        return f"SELECT count(*) FROM {table} WHERE type = '{asked}' AND {apart} <= {self.within}"


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of relations by key: the number of answers.

    Attributes
    ----------
    relations : tuple of str
        Types of events.
    within : int or None
        The window, from the earliest event of an answer to the latest.
    batches : int
        For a view: how many batches the events come in; the view is counted after each, and the counts are
        added.
    """

    relations: tuple[str, ...]
    within: int | None
    batches: int = 1

    def ceql(self) -> str:
        """The question as a rule."""
        atoms = ", ".join(f"{name}(key = k)" for name in self.relations)
        return f"Q(k) <- {atoms}" + (f" WITHIN {self.within} [ts]" if self.within is not None else "")

    def bounds(self, last: int) -> list[int]:
        """The times up to which the batches reach."""
        return [last * (k + 1) // self.batches for k in range(self.batches)]

    def sql(self, engine: str, bound: int | None = None) -> str:
        """The question as a join by key, by buckets in a window; `bound` is the time of the last event."""
        words, tables = DIALECTS[engine], []
        bucket = words["div"].format(a="ts", b=self.within or 1)
        upto = "" if bound is None else f" AND ts <= {bound}"
        for k, name in enumerate(self.relations):
            source, cell = ("events", bucket) if k == 0 else spread(words, bucket, (-1, 0, 1))
            source, cell = ("events", "0") if self.within is None else (source, cell)
            tables.append(
                f"s{k} AS (SELECT ts, key, {cell} AS cell FROM {source} WHERE type = '{name}'{upto})"
            )
        text = f"WITH {', '.join(tables)} SELECT count(*) FROM s0"
        for k in range(1, len(self.relations)):
            text += f" JOIN s{k} ON s{k}.key = s0.key"
            if self.within is not None:
                times = ", ".join(f"s{i}.ts" for i in range(k + 1))
                text += f" AND s{k}.cell = s0.cell AND greatest({times}) - least({times}) <= {self.within}"
        return text


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A condition on each event and its neighbours of the same key: the number of events for which it holds.

    Attributes
    ----------
    pattern : str
        In CEQL, without types: all events are `E`.
    condition : str
        In SQL: `{lag:ts:1}` is the ts of the event before, `{lead:ts:1}` of the one after.
    frame : str
        The name of the question in `bench.rivals.frames`.
    """

    pattern: str
    condition: str
    frame: str

    def ceql(self) -> str:
        """The question as a pattern of CEQL."""
        return self.pattern

    def sql(self, engine: str) -> str:
        """The question as window functions."""
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
    """Several questions in one: the sum of their counts."""

    questions: tuple[Sequence, ...]


@dataclass(frozen=True, slots=True)
class Ours:
    """A question that is put to no rival, and why."""

    pattern: str
    lacking: str

    def ceql(self) -> str:
        """The question as a pattern of CEQL."""
        return self.pattern


Question = Sequence | Nearest | Joined | Neighbours | Many | Ours
