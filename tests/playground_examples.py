"""The streams and the queries of the playground; `<<name>>` in a query is a place to choose at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """A place of a query: what it is called, and what may stand there, of which the first does at first."""

    label: str
    options: Sequence[str]


class Example(NamedTuple):
    """A query on a stream: its page of the language, what to look for, its places, its parameters."""

    key: str
    title: str
    page: str
    said: str
    stream: str
    query: str
    places: Mapping[str, Place]
    params: Mapping[str, str] = {}


STREAMS = {
    "trades.csv": """type,ts,symbol,price
Buy,2024-05-02T09:30:00,ACME,100
Buy,2024-05-02T09:30:10,BOLT,103
News,2024-05-02T09:30:20,ACME,
Sell,2024-05-02T09:30:30,ACME,104
Buy,2024-05-02T09:30:40,ACME,101
Sell,2024-05-02T09:30:50,BOLT,106
Sell,2024-05-02T09:31:40,ACME,108
""",
    "logins.csv": """type,ts,host
Failed,2024-05-02T08:00:00,h1
Failed,2024-05-02T08:00:05,h1
Login,2024-05-02T08:00:10,h1
Failed,2024-05-02T08:01:00,h2
Reset,2024-05-02T08:01:30,h2
Failed,2024-05-02T08:02:00,h2
Login,2024-05-02T08:02:20,h2
""",
    "clicks.csv": """type,ts,page
Click,2024-05-02T10:00:00,home
Click,2024-05-02T10:00:10,list
Scroll,2024-05-02T10:00:20,list
Click,2024-05-02T10:00:30,item
Leave,2024-05-02T10:00:40,
""",
    "payments.csv": """type,ts,amount
Card,2024-05-02T11:00:00,40
Cash,2024-05-02T11:05:00,15
Voucher,2024-05-02T11:10:00,20
Refund,2024-05-02T11:20:00,20
Card,2024-05-02T11:30:00,60
Refund,2024-05-02T11:45:00,60
""",
    "prices.csv": """type,ts,price
Trade,2024-05-02T10:00:00,100
Trade,2024-05-02T10:01:00,104
Trade,2024-05-02T10:02:00,98
Trade,2024-05-02T10:03:00,106
Trade,2024-05-02T10:04:00,103
Trade,2024-05-02T10:05:00,108
""",
    "shop.csv": """type,ts,user
View,2024-05-02T10:00:00,ann
Cart,2024-05-02T10:08:00,ann
View,2024-05-02T10:10:00,bob
Cart,2024-05-02T10:12:00,bob
Buy,2024-05-02T10:25:00,ann
Buy,2024-05-02T10:40:00,bob
""",
    "orders.csv": """type,ts,number,by
Order,2024-05-02T09:00:00,1,
Change,2024-05-02T09:10:00,1,2
Pay,2024-05-02T09:20:00,1,
Order,2024-05-02T09:30:00,2,
Change,2024-05-02T09:40:00,2,8
Pay,2024-05-02T09:50:00,2,
Ship,2024-05-02T10:00:00,1,
Pay,2024-05-02T10:10:00,1,
""",
    "sessions.csv": """type,ts,user
Logon,2024-05-02T08:00:00,ann
Logon,2024-05-02T09:00:00,bob
Logoff,2024-05-02T12:00:00,ann
Logon,2024-05-02T13:00:00,ann
Logoff,2024-05-02T17:30:00,bob
Logoff,2024-05-02T21:00:00,ann
Logon,2024-05-02T22:00:00,bob
""",
    "steps.csv": """type,ts
A,2024-05-02T10:00:00
B,2024-05-02T10:00:10
A,2024-05-02T10:00:20
B,2024-05-02T10:00:30
C,2024-05-02T10:00:40
""",
}
"""Small streams: their files, as CSV."""

THEN = Place("later, or at once", (";", ":"))

EXAMPLES = (
    Example(
        "sequence",
        "Sequence",
        "language/sequence.md",
        "With a semicolon, anything may come between: every purchase with every later sale is a match.",
        "trades.csv",
        "SELECT x, y WHERE <<first>> AS x ; <<second>> AS y",
        {
            "first": Place("type of the first event", ("Buy", "News", "Sell")),
            "second": Place("type of the second event", ("Sell", "Buy")),
        },
    ),
    Example(
        "contiguous",
        "Nothing between",
        "language/contiguous.md",
        "With a colon, nothing may come between: the reset breaks the sequence of two failures and a log-in.",
        "logins.csv",
        "SELECT f, g, l WHERE Failed AS f <<first>> Failed AS g <<second>> Login AS l",
        {
            "first": Place("between the failures", (":", ";")),
            "second": Place("before the log-in", (":", ";")),
        },
    ),
    Example(
        "iteration",
        "One or more",
        "language/iteration.md",
        "Every choice of clicks is a match; MAX keeps the matches that no other match contains.",
        "clicks.csv",
        "SELECT <<kept>> c WHERE (Click AS c) <<times>> ; Leave",
        {
            "kept": Place("which answers are kept", ("ALL", "MAX")),
            "times": Place("how often", ("+", ":+", "{2}", ":{2}", "{2,}")),
        },
    ),
    Example(
        "or",
        "Either",
        "language/or.md",
        "Either kind of payment, and a later refund.",
        "payments.csv",
        "SELECT p, r WHERE (<<left>> AS p OR <<right>> AS p) <<then>> Refund AS r",
        {
            "left": Place("one kind", ("Card", "Voucher")),
            "right": Place("the other kind", ("Cash", "Refund")),
            "then": THEN,
        },
    ),
    Example(
        "filter",
        "Filter",
        "language/filter.md",
        "A condition is about one event. The price of the news is missing, so no comparison with it holds.",
        "trades.csv",
        "SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price <<side>> 102] <<both>> s[price > <<limit>>]",
        {
            "side": Place("comparison of the purchase", ("<", ">=")),
            "both": Place("both conditions, or one", ("AND", "OR")),
            "limit": Place("price of the sale", ("103", "105", "107")),
        },
    ),
    Example(
        "comparison",
        "Comparisons between events",
        "language/comparisons.md",
        "Two trades; the price of the later one is above or below a multiple of the earlier price.",
        "prices.csv",
        "SELECT x, y WHERE Trade AS x <<then>> Trade AS y FILTER y.price <<side>> <<times>> * x.price",
        {
            "then": THEN,
            "side": Place("comparison", (">=", "<")),
            "times": Place("factor", ("1.05", "1.02", "1.08")),
        },
    ),
    Example(
        "within",
        "Window",
        "language/window.md",
        "The end may be at most this far from the start. The limit itself is included.",
        "trades.csv",
        "SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN <<window>>",
        {"window": Place("window", ("30 SECONDS", "1 MINUTE", "2 MINUTES", "2 EVENTS", "4 EVENTS"))},
    ),
    Example(
        "gap",
        "Time between steps",
        "language/time-between.md",
        "Brackets bound the time from one step to the next.",
        "shop.csv",
        "SELECT v, c, b WHERE View AS v ;[<= <<first>>] Cart AS c ;[<<second>>] Buy AS b <<apart>>",
        {
            "first": Place("most time from view to cart", ("10 min", "5 min", "1 h")),
            "second": Place("time from cart to purchase", ("<= 20 min", "> 20 min", "15 min, 30 min")),
            "apart": Place("partition", ("", "PARTITION BY user")),
        },
    ),
    Example(
        "partition",
        "Partition",
        "language/partition.md",
        "With PARTITION BY, each symbol is matched separately, so other symbols do not come between.",
        "trades.csv",
        "SELECT b, s WHERE Buy AS b <<then>> Sell AS s <<apart>>",
        {"then": THEN, "apart": Place("partition", ("", "PARTITION BY symbol"))},
    ),
    Example(
        "unless",
        "Without",
        "language/unless.md",
        "An order and a payment, unless something else happens between them.",
        "orders.csv",
        "SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (<<what>>)",
        {
            "what": Place(
                "what must not happen",
                ("Change AS c FILTER c[by >= 5]", "Change", "Change ; Ship", "Pay ; Pay"),
            )
        },
    ),
    Example(
        "followed-by",
        "What comes after",
        "language/followed-by.md",
        "A log-on, if the user does or does not log off within this time. The match ends at the log-on.",
        "sessions.csv",
        "SELECT l WHERE Logon AS l <<comes>> [<= <<span>>] Logoff PARTITION BY user",
        {
            "comes": Place("comes, or does not", ("FOLLOWED BY", "NOT FOLLOWED BY")),
            "span": Place("within", ("8 h", "4 h", "9 h")),
        },
    ),
    Example(
        "strategies",
        "Strategies",
        "language/strategies.md",
        "A strategy keeps some of the matches with the same end. Here, C is the only end.",
        "steps.csv",
        "SELECT <<kept>> a, b, c WHERE <<first>> AS a ; <<second>> AS b ; C AS c",
        {
            "kept": Place("strategy", ("ALL", "NEXT", "LAST", "MAX", "STRICT")),
            "first": Place("one A or more", ("A", "A +")),
            "second": Place("one B or more", ("B", "B +")),
        },
    ),
    Example(
        "prior",
        "The previous repetition",
        "language/prior.md",
        "Each trade is compared with the trade of the previous repetition.",
        "prices.csv",
        "SELECT x WHERE (Trade AS x FILTER x.price <<side>> PRIOR(x).price) <<times>>",
        {
            "side": Place("comparison with the one before", (">", "<")),
            "times": Place("how often", ("{3}", "{2}", "{4}", ":{2}")),
        },
    ),
    Example(
        "parameters",
        "Parameters",
        "language/parameters.md",
        "The query stays the same; you pass the values with the call.",
        "trades.csv",
        "SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span",
        {
            "limit": Place("value of limit", ("103", "105", "107")),
            "span": Place("value of span", ("30 s", "1 min", "2 min")),
        },
        {"limit": "<<limit>>", "span": "<<span>>"},
    ),
)
"""The examples, in the order of the page."""
