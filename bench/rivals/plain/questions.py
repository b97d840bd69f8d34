"""The plain questions, as one asks them of cer-gpu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HITS, COUNT, LIST = "hits", "count", "list"

VARIANTS, ONE, MANY = "variants", "one", "many"
"""The question that has many variants, and its forms."""

GRID: dict[str, list[Any]] = {
    "low": [90 + k for k in range(25)],
    "high": [98 + k for k in range(10)],
    "within": ["1 h", "2 h", "6 h", "12 h"],
}
"""The values of its parameters: 1,000 variants."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A question about the events of `bench.rivals.plain.events`.

    Attributes
    ----------
    name : str
        The key of its forms in `sql`, `polars_forms` and `polars_windows`.
    says : str
        The question.
    kind : {"hits", "count", "list"}
        What is asked for: the events at which a match ends, the number of matches, or a row for each match.
    texts : tuple of str
        The query in CEQL; several forms that mean the same, of which the fastest counts.
    columns : tuple of str
        The columns by which answers are compared, with their names in the answers of other tools.
    tables : tuple of str
        The types that come as tables of their own; () for one table of all events.
    typed : bool
        Whether the type of an event matters; if not, all are `E`.
    after : str
        What is done with the answer: `unique` gives the different users, `top` the greatest values of each
        key.
    key : str
        The key of `top`.
    """

    name: str
    says: str
    kind: str
    texts: tuple[str, ...]
    columns: tuple[str, ...] = ("time",)
    tables: tuple[str, ...] = ()
    typed: bool = True
    after: str = ""
    key: str = "user_id"


def questions() -> tuple[Plain, ...]:
    """All questions, in the order of the table."""
    return (*_steps(), *_neighbours(), *_pairs(), *_windows(), variants())


def variants() -> Plain:
    """A question with 1,000 variants, which only cer-gpu is asked: all of them, and one of them."""
    text = (
        "SELECT * WHERE view AS v ; cart ; buy AS b FILTER v[price > $low] AND b[price < $high] "
        "PARTITION BY user_id WITHIN $within"
    )
    return Plain(VARIANTS, "1,000 variants of view, cart, buy of a user", COUNT, (text,))


def _steps() -> list[Plain]:
    return [
        Plain(
            "funnel",
            "view, cart, buy of a user within 6 h",
            HITS,
            ("SELECT * WHERE view ; cart ; buy PARTITION BY user_id WITHIN 6 HOURS",),
        ),
        Plain(
            "buyers",
            "users with view, cart, buy within a day",
            LIST,
            ("SELECT * WHERE view ; cart ; buy PARTITION BY user_id WITHIN 1 DAY",),
            columns=("user_id",),
            after="unique",
        ),
        Plain(
            "abandoned",
            "a cart, and no buy of the user within 2 h",
            COUNT,
            ("SELECT * WHERE cart NOT FOLLOWED BY [<= 2 h] buy PARTITION BY user_id",),
        ),
        Plain(
            "unseen",
            "a log-in, and no view of the user in the 2 h before",
            COUNT,
            ("SELECT * WHERE login NOT PRECEDED BY [<= 2 h] view PARTITION BY user_id",),
        ),
        Plain(
            "failures",
            "five failures, then a log-in of the user within a day",
            HITS,
            ("SELECT * WHERE fail {5} ; login PARTITION BY user_id WITHIN 1 DAY",),
        ),
        Plain(
            "near",
            "view, cart, buy within 10 s without a key",
            HITS,
            ("SELECT * WHERE view ; cart ; buy WITHIN 10 SECONDS",),
        ),
        Plain(
            "return",
            "retention: a log-in, and another of the user 2 to 6 h later",
            COUNT,
            ("SELECT * WHERE login FOLLOWED BY [2 h, 6 h] login PARTITION BY user_id",),
        ),
        Plain(
            "first_after",
            "the first buy of a user after each log-in, within 6 h",
            LIST,
            (
                "SELECT NONE WHERE login : (NOT (buy)) :{0,} : buy PARTITION BY user_id WITHIN 6 HOURS",
                "SELECT NONE WHERE (login ; buy AS b) UNLESS (buy ; buy) PARTITION BY user_id WITHIN 6 HOURS",
            ),
            columns=("began", "ended"),
        ),
        Plain(
            "unless",
            "view, then log-in of a user within 6 h, and no buy between",
            COUNT,
            ("SELECT * WHERE (view ; login) UNLESS buy PARTITION BY user_id WITHIN 6 HOURS",),
        ),
        Plain(
            "steps",
            "view, cart, buy of a user, each within 2 h of the last",
            COUNT,
            ("SELECT * WHERE view ;[<= 2 h] cart ;[<= 2 h] buy PARTITION BY user_id",),
        ),
        Plain(
            "either",
            "view or cart, log-in, buy of a user within a day",
            COUNT,
            ("SELECT * WHERE (view OR cart) ; login ; buy PARTITION BY user_id WITHIN 1 DAY",),
        ),
        Plain(
            "both",
            "a failure and a tick of a user within an hour, in any order",
            COUNT,
            ("SELECT * WHERE fail ALL tick PARTITION BY user_id WITHIN 1 HOUR",),
        ),
    ]


def _neighbours() -> list[Plain]:
    return [
        Plain(
            "first",
            "the first buy of each user",
            HITS,
            (
                "SELECT * WHERE buy NOT PRECEDED BY buy PARTITION BY user_id",
                "SELECT * WHERE buy PARTITION BY user_id SUPPRESS FOR 10000 d",
            ),
        ),
        Plain(
            "last",
            "the last buy of each user",
            HITS,
            ("SELECT * WHERE buy NOT FOLLOWED BY buy PARTITION BY user_id",),
        ),
        Plain(
            "top",
            "the three dearest buys of each user",
            LIST,
            ("SELECT NONE, b.price AS price WHERE buy AS b PARTITION BY user_id",),
            columns=("price",),
            after="top",
        ),
        Plain(
            "gaps",
            "more than 6 h between two events of a user",
            LIST,
            (
                "SELECT NONE FROM E WHERE E :[> 6 h] E PARTITION BY user_id",
                "SELECT NONE FROM E WHERE E : (E AS e FILTER e[ts - PREV(ts) > 6 h]) PARTITION BY user_id",
            ),
            columns=("began", "ended"),
            typed=False,
        ),
        Plain(
            "sessions",
            "sessions of a user, gaps of at most 30 min, with their sizes",
            LIST,
            (
                "SELECT MAX NONE, COUNT(e) AS events FROM E WHERE (E AS e) :+[<= 30 min] "
                "NOT FOLLOWED BY [<= 30 min] E PARTITION BY user_id",
            ),
            columns=("began", "ended", "events"),
            typed=False,
        ),
        Plain(
            "three_failures",
            "three failures of a user with nothing of it between",
            HITS,
            (
                "SELECT * WHERE fail :{3} PARTITION BY user_id",
                "SELECT * WHERE fail : fail : fail PARTITION BY user_id",
            ),
        ),
        Plain(
            "rising",
            "four rises of the price of a symbol in a row",
            HITS,
            ("SELECT * FROM E WHERE (E AS e FILTER e[price > PREV(price)]) :{4} PARTITION BY symbol",),
            typed=False,
        ),
        Plain(
            "next",
            "a log-in, and the next event of the user is a buy within 10 min",
            COUNT,
            ("SELECT * WHERE login : buy PARTITION BY user_id WITHIN 10 MINUTES",),
        ),
    ]


def _pairs() -> list[Plain]:
    pair = "SELECT {asked} WHERE tick AS a ; tick AS b FILTER {kept} PARTITION BY symbol WITHIN {within}"
    return [
        Plain(
            "pairs",
            "all view-buy pairs of a user within 12 h",
            LIST,
            (
                "SELECT NONE WHERE view ; buy PARTITION BY user_id WITHIN 12 HOURS",
                "SELECT * WHERE view AS v ; buy AS b PARTITION BY user_id WITHIN 12 HOURS",
                "SELECT NONE, v.ts AS viewed, b.ts AS bought WHERE view AS v ; buy AS b PARTITION BY "
                "user_id WITHIN 12 HOURS",
            ),
            columns=("viewed", "bought"),
        ),
        Plain(
            "rise_pairs",
            "a tick more than 10 above one of its symbol within 30 min, all pairs",
            COUNT,
            (pair.format(asked="*", kept="b.price > a.price + 10", within="30 MINUTES"),),
        ),
        Plain(
            "rises",
            "three rising ticks of a symbol within 10 min",
            COUNT,
            (
                "SELECT * WHERE tick AS a ; tick AS b ; tick AS c FILTER a.price < b.price AND b.price < "
                "c.price "
                "PARTITION BY symbol WITHIN 10 MINUTES",
            ),
        ),
        Plain(
            "quotes",
            "as-of join: each buy with the last tick of its symbol",
            LIST,
            (
                "SELECT LAST NONE, q.price AS quoted WHERE tick AS q ; buy PARTITION BY symbol",
                "SELECT NONE, q.price AS quoted WHERE (tick AS q ; buy) UNLESS (tick ; tick) PARTITION "
                "BY symbol",
            ),
            columns=("time", "quoted"),
        ),
        Plain(
            "fresh_quotes",
            "buys whose symbol has a tick at most a minute before",
            COUNT,
            (
                "SELECT LAST * WHERE tick ; buy PARTITION BY symbol WITHIN 1 MINUTE",
                "SELECT * WHERE buy PRECEDED BY [<= 1 min] tick PARTITION BY symbol",
            ),
        ),
        Plain(
            "two_tables",
            "two tables: a buy, and a cart of its user in the hour before",
            HITS,
            (
                "SELECT * WHERE cart ; buy PARTITION BY user_id WITHIN 1 HOUR",
                "SELECT * WHERE buy PRECEDED BY [<= 1 h] cart PARTITION BY user_id",
            ),
            tables=("cart", "buy"),
        ),
        Plain(
            "two_tables_pairs",
            "two tables: each buy with the ticks of its symbol in the minute after",
            LIST,
            (
                "SELECT NONE, b.price AS paid, t.price AS quoted WHERE buy AS b ; tick AS t PARTITION BY "
                "symbol WITHIN 1 MINUTE",
            ),
            columns=("began", "paid", "quoted"),
            tables=("buy", "tick"),
        ),
        Plain(
            "top_gains",
            "the three greatest gains of each symbol within 5 min",
            LIST,
            (
                pair.format(asked="NONE, b.price - a.price AS gain", kept="true", within="5 MINUTES").replace(
                    " FILTER true", ""
                ),
            ),
            columns=("gain",),
            after="top",
            key="symbol",
        ),
    ]


def _windows() -> list[Plain]:
    pair = "SELECT * WHERE tick AS a ; tick AS b FILTER {kept} {within}"
    return [
        Plain(
            "rise",
            "a tick more than 10 above one of its symbol within 30 min",
            HITS,
            (pair.format(kept="b.price > a.price + 10", within="PARTITION BY symbol WITHIN 30 MINUTES"),),
        ),
        Plain(
            "fall",
            "a tick 15 % below one of its symbol in the hour before",
            HITS,
            (pair.format(kept="b.price < 0.85 * a.price", within="PARTITION BY symbol WITHIN 1 HOUR"),),
        ),
        Plain(
            "near_rise",
            "a tick more than 15 above one in the 10 s before, without a key",
            HITS,
            (pair.format(kept="b.price > a.price + 15", within="WITHIN 10 SECONDS"),),
        ),
        Plain(
            "often",
            "the fourth failure of a user within 6 h",
            HITS,
            ("SELECT * WHERE fail {4} PARTITION BY user_id WITHIN 6 HOURS",),
        ),
        Plain(
            "volume",
            "buys of a symbol of more than 350 together in 10 min",
            HITS,
            (
                "SELECT * FROM buy WHERE (buy AS b) :+ FILTER SUM(b.size) > 350 PARTITION BY symbol "
                "WITHIN 10 MINUTES",
            ),
            tables=("buy",),
        ),
        Plain(
            "scans",
            "five distinct destinations of a source within 10 s, each source once",
            HITS,
            (
                "SELECT * FROM E WHERE (E AS e) :+ FILTER COUNT(DISTINCT e.target) >= 5 PARTITION BY source "
                "WITHIN 10 SECONDS SUPPRESS FOR 10000 d",
            ),
            typed=False,
        ),
    ]
