"""No text whatever gives anything but a query or a QueryError."""

from __future__ import annotations

import random

from case_files import RULES, cases
from hypothesis import given
from hypothesis import strategies as st

from cer_gpu.errors import QueryError
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.words import CONTEXTUAL, RESERVED

SCHEMA = Schema(
    {"v": ValueType.INT64, "p": ValueType.FLOAT64, "s": ValueType.STRING, "ts": ValueType.TIMESTAMP},
    {name: frozenset({"v", "p", "s", "ts"}) for name in ("A", "B", "Buy", "Sell", "Quote")},
    order="ts",
)

TOKENS = [
    *sorted(RESERVED | CONTEXTUAL),
    *(
        "A",
        "B",
        "x",
        "S>T",
        "x.a",
        "x[",
        "`q`",
        "'text'",
        "0",
        "1.5",
        "-3",
        "1e400",
        "5",
        "s",
        "EVENTS",
        "MINUTES",
    ),
    *("99999999999999999999", "日本", "\ud800", "\n", "\t", "\0", "\\", '"', "`", "'", "#", "--", "/*", "*/"),
    *("(", ")", "[", "]", "{", "}", ";", ":", ":+", "+", "-", "*", "/", "%", ".", "..", ",", "|", "<-", "=>"),
    *("=", "==", "!=", "<>", "<", "<=", ">", ">="),
    *(
        "?",
        "{2,}",
        ":{1,3}",
        "{,2}",
        "{0,2}",
        "{$n,}",
        "[<= 2 EVENTS]",
        "[> 1 s]",
        "$p",
        "FOLLOWED BY",
        "NOT PRECEDED BY",
    ),
    *(
        "PREV(",
        "PREV(v)",
        "ABS(",
        "COUNT(x)",
        "COUNT(DISTINCT x.v)",
        "SUM(x.v)",
        "LAST(",
        "PRIOR(x)",
        "PRIOR(x).v",
        "BEFORE(x)",
        "BEFORE(x).v",
    ),
    *("x[*]", "AS n", "START_TIME", "FILTER x.v > 1", "times(3)", "oneOrMore", "ORDER BY", "-> B", "every A"),
]


def answer(text: str) -> bool:
    """Whether the text is a query or a rule; whatever it is, it can be shown, printed and checked."""
    try:
        query = parse(text)
    except QueryError as error:
        failure = error
    else:
        assert parse(to_text(query)) == query
        for schema in (None, SCHEMA):
            assert all(one.span is not None for one in check(query, schema))
        return True
    assert failure.diagnostics
    places = [one.span for one in failure.diagnostics if one.span is not None]
    assert all(0 <= place.start <= place.end <= len(text) for place in places)
    # What is shown can be written to any terminal.
    assert str(failure).encode()
    return False


@given(st.text())
def test_any_text(text: str) -> None:
    answer(text)
    answer(f"SELECT * WHERE {text}")
    answer(f"Q(x) <- {text}")


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map(" ".join))
def test_words_of_the_language_in_any_order(text: str) -> None:
    answer(f"SELECT * WHERE {text}")
    answer(f"SELECT * WHERE A AS x FILTER {text}")
    answer(f"Q({text}")
    answer(f"Q(x) <- A(v = x), {text}")


def test_valid_queries_with_mistakes() -> None:
    rng = random.Random(20240229)
    queries = [case["query"] for case in cases()]
    rules = [case[form] for case in cases(*RULES) for form in ("query", "query_by_position")]
    still_valid = 0
    for _ in range(2_500):
        text = list(rng.choice(rng.choice([queries, rules])))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            match rng.randrange(4):
                case 0:
                    del text[at : at + rng.randint(1, 4)]
                case 1:
                    text[at:at] = rng.choice(TOKENS)
                case 2:
                    text[at:at] = text[rng.randrange(len(text) + 1) :][: rng.randint(1, 9)]
                case 3:
                    text = text[:at] + text[at:][::-1][: rng.randint(1, 3)] + text[at + 3 :]
        still_valid += answer("".join(text))
    assert 100 < still_valid < 2_400
