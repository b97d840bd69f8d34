"""What DuckDB and chdb spell in different ways, for `bench.rivals.plain.sql`."""

from __future__ import annotations

SECOND = 1_000_000
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
"""Microseconds."""


class Words:
    """The words of DuckDB; `ChdbWords` has those that differ.

    Every method gives a part of a statement. Windows are over the events of `key`, in the order of time.
    """

    asof_left = "ASOF LEFT JOIN"
    clock = "t"
    """The columns by which windows are ordered."""

    def by(self, key: str) -> str:
        """The table of all events, in the order of a key where there is one."""
        del key
        return "events"

    def of(self, *types: str, key: str = "user_id") -> str:
        """The rows of some types."""
        if len(types) == 1:
            return f"{types[0]}s"
        kinds = ", ".join(f"'{one}'" for one in types)
        return f"(SELECT * FROM {self.by(key)} WHERE type IN ({kinds})) AS picked"

    def seen(self, kind: str, value: str = "t", key: str | None = "user_id") -> str:
        """The greatest value so far of the events of a type."""
        return f"max(CASE WHEN type = '{kind}' THEN {value} END) OVER ({_upto(key)})"

    def next(self, kind: str) -> str:
        """The time of the next event of a type."""
        over = "PARTITION BY user_id ORDER BY t DESC ROWS UNBOUNDED PRECEDING"
        return f"min(CASE WHEN type = '{kind}' THEN t END) OVER ({over})"

    def over(self, before: int, after: int = 0, key: str | None = "user_id") -> str:
        """The window over all events at most so long before and after an event, or -before after it."""
        by = "" if key is None else f"PARTITION BY {key} "
        low = f"{before} PRECEDING" if before >= 0 else f"{-before} FOLLOWING"
        return f"OVER ({by}ORDER BY t RANGE BETWEEN {low} AND {after} FOLLOWING)"

    def filled(self, kind: str, value: str, key: str) -> str:
        """The last value of the events of a type."""
        return f"last_value(CASE WHEN type = '{kind}' THEN {value} END IGNORE NULLS) OVER ({_upto(key)})"

    def far(self, apart: str, bound: int, other: str) -> str:
        """Whether there is no other event, or it is more than a bound apart."""
        return f"({other} IS NULL OR {apart} > {bound})"

    def known(self, value: str) -> str:
        """Whether there is a value."""
        return f"{value} IS NOT NULL"

    def number(self, *types: str) -> str:
        """The number of events of some types, before OVER."""
        kinds = ", ".join(f"'{one}'" for one in types)
        return f"count(*) FILTER (WHERE type IN ({kinds}))"

    def lag(self, value: str, distance: int = 1, key: str = "user_id") -> str:
        """The value of an event before."""
        return f"lag({value}, {distance}) OVER (PARTITION BY {key} ORDER BY t)"

    def lead(self, value: str, otherwise: str) -> str:
        """The value of the event after, or another one."""
        return f"lead({value}, 1, {otherwise}) OVER (PARTITION BY user_id ORDER BY t)"

    def final(self, value: str) -> str:
        """The greatest value of the key."""
        return f"max({value}) OVER (PARTITION BY user_id)"

    def begins(self, gap: int) -> str:
        """1 where the event before is further away than a gap, else 0."""
        return f"CASE WHEN t - {self.lag('t')} <= {gap} THEN 0 ELSE 1 END"

    def micros(self, time: str) -> str:
        """A time as a number."""
        return f"epoch_us({time})"

    def time(self, micros: str) -> str:
        """A number as a time."""
        return f"make_timestamp({micros})"

    def cell(self, time: str, wide: int) -> str:
        """The cell of time in which an event lies."""
        return f"{time} // {wide}"

    def cells(self, time: str, wide: int, offsets: tuple[int, ...] = (0, -1)) -> str:
        """The column of the cell of an event and of cells beside it: a row for each."""
        return f"unnest({_beside(self.cell(time, wide), offsets)}) AS cell"

    def spread(self, table: str, time: str, wide: int, offsets: tuple[int, ...] = (0, -1)) -> str:
        """The table of `cells`."""
        del time, wide, offsets
        return table

    def pairs(self, first: str, second: str, wide: int, what: str, kept: str) -> str:
        """Pairs of one symbol inside a window, joined by cells as wide as the window."""
        columns = "symbol, ts, t, price"
        a = f"SELECT {columns}, {self.cell('t', wide)} AS cell FROM {first}"
        b = f"SELECT {columns}, {self.cells('t', wide)} FROM {self.spread(second, 't', wide)}"
        return (
            f"SELECT {what} FROM ({a}) AS a JOIN ({b}) AS b ON a.symbol = b.symbol AND a.cell = b.cell "
            f"WHERE b.t > a.t AND b.t <= a.t + {wide} AND {kept}"
        )

    def ticks(self, wide: int, what: str, kept: str) -> str:
        """Pairs of ticks of one symbol inside a window."""
        return self.pairs("ticks", "ticks", wide, what, kept)

    def rises(self, wide: int) -> str:
        """The number of three rising ticks of one symbol inside a window."""
        columns = "symbol, t, price"
        a = f"SELECT {columns}, {self.cell('t', wide)} AS cell FROM ticks"
        b = f"SELECT {columns}, {self.cells('t', wide)} FROM {self.spread('ticks', 't', wide)}"
        return (
            f"WITH b AS ({b}) SELECT count(*) FROM ({a}) AS a JOIN b ON a.symbol = b.symbol AND a.cell = "
            "b.cell JOIN b AS c ON a.symbol = c.symbol AND a.cell = c.cell WHERE b.t > a.t AND c.t > b.t "
            f"AND c.t <= a.t + {wide} AND b.price > a.price AND c.price > b.price"
        )

    def listed(self, wide: int, value: str, bound: str) -> str:
        """The number of pairs of ticks, from the list of all values in the window of each."""
        over = self.over(wide, key="symbol")
        rows = f"SELECT {value}, list({value}) {over} AS before FROM ticks"
        return f"SELECT sum(len(list_filter(before, lambda p: {value} > {bound}))) FROM ({rows}) AS a"

    def greatest(self, key: str, value: str, rows: str) -> tuple[str, ...]:
        """The three greatest values of each key."""
        return (f"SELECT {key}, unnest(max({value}, 3)) AS {value} FROM {rows} GROUP BY {key}",)

    def gap_lists(self, gap: int) -> tuple[str, ...]:
        """Gaps longer than a bound, from the list of times of each user."""
        del gap
        return ()


class ChdbWords(Words):
    """The words of chdb, which has zeros in place of nulls unless asked, and tables in the order of a key."""

    clock = "t, s"

    def by(self, key: str) -> str:
        """As `Words.by`."""
        return {"user_id": "by_user", "symbol": "by_symbol"}[key]

    def of(self, *types: str, key: str = "user_id") -> str:
        """As `Words.of`."""
        kinds = ", ".join(f"'{one}'" for one in types)
        return f"(SELECT * FROM {self.by(key)} WHERE type IN ({kinds})) AS picked"

    def seen(self, kind: str, value: str = "t", key: str | None = "user_id") -> str:
        """As `Words.seen`, or 0."""
        return f"maxIf({value}, type = '{kind}') OVER ({_upto(key)})"

    def over(self, before: int, after: int = 0, key: str | None = "user_id") -> str:
        """As `Words.over`: it takes spans below 2^32 alone, so that they are seconds."""
        return super().over(before // SECOND, after // SECOND, key).replace("ORDER BY t ", "ORDER BY s ")

    def next(self, kind: str) -> str:
        """As `Words.next`, or 0."""
        over = "PARTITION BY user_id ORDER BY t DESC ROWS UNBOUNDED PRECEDING"
        return f"minIf(t, type = '{kind}') OVER ({over})"

    def filled(self, kind: str, value: str, key: str) -> str:
        """As `Words.filled`, or 0."""
        return f"anyLastIf({value}, type = '{kind}') OVER ({_upto(key)})"

    def far(self, apart: str, bound: int, other: str) -> str:
        """As `Words.far`."""
        return f"({other} = 0 OR {apart} > {bound})"

    def known(self, value: str) -> str:
        """As `Words.known`."""
        return f"{value} != 0"

    def number(self, *types: str) -> str:
        """As `Words.number`."""
        kinds = ", ".join(f"'{one}'" for one in types)
        return f"countIf(type IN ({kinds}))"

    def lag(self, value: str, distance: int = 1, key: str = "user_id") -> str:
        """As `Words.lag`, or 0 or an empty text."""
        rows = f"ROWS BETWEEN {distance} PRECEDING AND CURRENT ROW"
        return f"lagInFrame({value}, {distance}) OVER (PARTITION BY {key} ORDER BY t {rows})"

    def lead(self, value: str, otherwise: str) -> str:
        """As `Words.lead`."""
        rows = "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING"
        typed = f"CAST({otherwise} AS {'Int64' if value == 'before' else 'UInt64'})"
        return f"leadInFrame({value}, 1, {typed}) OVER (PARTITION BY user_id ORDER BY t {rows})"

    def micros(self, time: str) -> str:
        """As `Words.micros`."""
        return f"toUnixTimestamp64Micro({time})"

    def time(self, micros: str) -> str:
        """As `Words.time`."""
        return f"fromUnixTimestamp64Micro({micros})"

    def cell(self, time: str, wide: int) -> str:
        """As `Words.cell`."""
        return f"intDiv({time}, {wide})"

    def cells(self, time: str, wide: int, offsets: tuple[int, ...] = (0, -1)) -> str:
        """As `Words.cells`."""
        del time, wide, offsets
        return "cell"

    def spread(self, table: str, time: str, wide: int, offsets: tuple[int, ...] = (0, -1)) -> str:
        """As `Words.spread`."""
        return f"{table} ARRAY JOIN {_beside(self.cell(time, wide), offsets)} AS cell"

    def listed(self, wide: int, value: str, bound: str) -> str:
        """As `Words.listed`."""
        over = self.over(wide, key="symbol")
        rows = f"SELECT {value}, groupArray({value}) {over} AS before FROM ticks"
        return f"SELECT sum(arrayCount(p -> {value} > {bound}, before)) FROM ({rows}) AS a"

    def greatest(self, key: str, value: str, rows: str) -> tuple[str, ...]:
        """As `Words.greatest`."""
        return (
            f"SELECT {key}, {value} FROM {rows} ORDER BY {key}, {value} DESC LIMIT 3 BY {key}",
            f"SELECT {key}, -arrayJoin(groupArraySorted(3)(-{value})) AS {value} FROM {rows} GROUP BY {key}",
        )

    def gap_lists(self, gap: int) -> tuple[str, ...]:
        """As `Words.gap_lists`."""
        pairs = f"arrayFilter(p -> p.2 - p.1 > {gap}, arrayZip(arrayPopBack(x), arrayPopFront(x)))"
        lists = "SELECT arraySort(groupArray(t)) AS x FROM by_user GROUP BY user_id"
        began, ended = self.time("p.1"), self.time("p.2")
        return (
            f"SELECT {began} AS began, {ended} AS ended FROM (SELECT arrayJoin({pairs}) AS p FROM ({lists}))",
        )


DUCKDB, CHDB = Words(), ChdbWords()


def _upto(key: str | None) -> str:
    by = "" if key is None else f"PARTITION BY {key} "
    return f"{by}ORDER BY t ROWS UNBOUNDED PRECEDING"


def _beside(cell: str, offsets: tuple[int, ...]) -> str:
    return f"[{', '.join(f'{cell} + {one}' for one in offsets)}]"
