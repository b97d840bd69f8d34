"""What users of SQL, Flink and Esper write, and the same thing in the words of this language.

Numbers that are written as elsewhere, such as `0.5%` and `1,005`, are among it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from cer_gpu.language.parse_tree import Token
from cer_gpu.language.slip import CLOSERS, Slip
from cer_gpu.language.words import written

_ROWS = "`PATTERN (A B+ C) DEFINE B AS B.v > 1` is `WHERE A ; (B FILTER B.v > 1)+ ; C`"
_JOINED = (
    "to join events write a pattern, `WHERE A AS a ; B AS b FILTER a.id = b.id` (or ALL in place of `;`, for "
    "any order), or a rule, `Q(x) <- A(id = x), B(id = x)`"
)
_TIMES = "`A {3}` is three of them, `A {3,}` three or more, `A {2,5}` two to five"
_TIMER = "`timer:within(10 sec)` is `WITHIN 10 SECONDS`"
_QUIET = "to report nothing for an hour after a match write `SUPPRESS FOR 1 h` at the end of the query"

# By the word that does not fit, in capitals.
_WORDS: Mapping[str, str] = {
    "ORDER": "matches come in the order of their ends; for another order return the value, `SELECT *, "
    "s.price AS price`, and sort the result by it, or take `matches.top(10, by='price')`",
    "GROUP": "`PARTITION BY symbol` matches each symbol on its own; to count matches by group, group the "
    "result of `counts`, which has the time and the key",
    "HAVING": "write conditions on a match after FILTER: `A+ AS a FILTER COUNT(a) > 3`",
    "MATCH_RECOGNIZE": "this is SQL: run it with `cer.match_recognize(sql, trades=table)`, or with `cer sql` "
    f"in the shell; as a query of events, {_ROWS}",
    "PATTERN": _ROWS,
    "DEFINE": "write each condition where its event is: `A ; (B AS b FILTER b.v > 1)`",
    "MEASURES": "write measures after SELECT: `SELECT *, LAST(a.price) AS last`",
    "AFTER": "write `CONSUME BY ANY` for SKIP PAST LAST ROW: after a match, matching starts again",
    "COOLDOWN": _QUIET,
    "DEBOUNCE": _QUIET,
    "THROTTLE": _QUIET,
    "EVERY": "every match is reported, no keyword is needed; `SELECT NEXT *` keeps one match for each end",
    "JOIN": _JOINED,
    "INNER": _JOINED,
    "LEFT": f"write `?` after an optional event: `A ; B ?`; {_JOINED}",
    "OUTER": _JOINED,
    "CROSS": _JOINED,
    "UNION": "write alternatives with OR in one pattern: `(A ; B) OR C`",
    "OFFSET": "there is no OFFSET: slice the result",
    "TOP": "for the first 10 matches use head(10), or --limit 10 in the shell; `LIMIT 10` at the end of a "
    "query keeps 10 for each end",
    "EMIT": "each match is reported at its end, no keyword is needed",
    "OVER": "write a window at the end, `WITHIN 5 MINUTES`; the value of the event before is `PREV(price)`",
    "THEN": "for one event after another write `A ; B`",
    "SEQ": "`SEQ(A a, B b)` is `A AS a ; B AS b`",
    "RLIKE": "write LIKE, which takes a regular expression: `name LIKE '^AB'`",
    "REGEXP": "write LIKE, which takes a regular expression: `name LIKE '^AB'`",
    "MATCHES": "write LIKE, which takes a regular expression: `name LIKE '^AB'`",
    "ILIKE": "write `LOWER(name) LIKE 'ab'`, or `name LIKE '(?i)ab'`",
    "CASE": "there is no CASE: write the cases with OR, `(v > 1 AND w = 2) OR (v <= 1 AND w = 3)`",
    "WHEN": "there is no CASE: write the cases with OR, `(v > 1 AND w = 2) OR (v <= 1 AND w = 3)`",
    "INTERVAL": "write a length of time without INTERVAL and quotes: `b.ts - a.ts < 1 h`, `WITHIN 1 HOUR`",
    "TIMER": _TIMER,
    "UNTIL": "write an event that must not come between after UNLESS: `(A ; B) UNLESS C`",
}

# What others write between a text and its part, with the function that stands in its place.
_TESTS: Mapping[str, str] = {
    "CONTAINS": "CONTAINS",
    "STARTS": "STARTS_WITH",
    "STARTS_WITH": "STARTS_WITH",
    "STARTSWITH": "STARTS_WITH",
    "ENDS": "ENDS_WITH",
    "ENDS_WITH": "ENDS_WITH",
    "ENDSWITH": "ENDS_WITH",
}

# Methods of Flink's patterns, in capitals, each with what stands in their place.
_METHODS: Mapping[str, str] = {
    "TIMES": _TIMES,
    "TIMESORMORE": "`A {3,}` is three or more",
    "ONEORMORE": "one or more is `A +`, and with no other event between them `A :+`",
    "OPTIONAL": "an optional event is `A ?`: `A ? ; B`",
    "GREEDY": "every match is reported; `SELECT MAX *` keeps the largest",
    "CONSECUTIVE": "repetitions with no other event between them are `A :+`, `A :{3}`",
    "ALLOWCOMBINATIONS": "`+` gives all combinations: `A +`",
    "BEGIN": "for one event after another write `A AS a ; B AS b`",
    "FOLLOWEDBY": "`A ; B` is A, later B; `A FOLLOWED BY B` is A alone, if a B comes later",
    "FOLLOWEDBYANY": "`A ; B` is A, later any B",
    "NEXT": "`A : B` is A, and B as the next event",
    "NOTFOLLOWEDBY": "write `A NOT FOLLOWED BY [<= 5 min] B`; for A then C without a B between `(A ; C) "
    "UNLESS B`",
    "NOTFOLLOWED": "write `A NOT FOLLOWED BY [<= 5 min] B`",
    "NOTNEXT": "`A : NOT (B)` is A, and as the next event no B",
    "WHERE": "write conditions after FILTER: `A AS a FILTER a.price > 100`",
    "OR": "write conditions after FILTER, with OR between them: `A AS a FILTER a.price > 100 OR a.size > 5`",
    "WITHIN": "`WITHIN 10 SECONDS` at the end; inside the pattern `(A ; B) WITHIN [<= 10 s]`",
    "SUBTYPE": "name the event type: `A`",
}


def habit(slip: Slip) -> str | None:
    """A hint how to write what another language writes this way; None if the place is not known."""
    return next((hint for find in _HABITS if (hint := find(slip)) is not None), None)


def _calls(slip: Slip) -> str | None:
    """`A.times(3)`, `A times(3)`, `begin("a")`, `SEQ(A, B)`."""
    words = [token.upper() for token in slip.tokens]
    index = slip.index
    if slip.kind == "DOT" and slip.after_pattern and index + 1 < len(words):
        return _METHODS.get(words[index + 1])
    if slip.after_pattern and slip.kind == "NAME" and index + 1 < len(words) and words[index + 1] == "(":
        return _METHODS.get(words[index])
    if slip.kind == "LPAR" and index:
        return _METHODS.get(words[index - 1]) or _WORDS.get(words[index - 1])
    return None


def _words(slip: Slip) -> str | None:
    if slip.kind in ("NAME", "WHERE") and slip.index + 1 < len(slip.tokens):
        after = slip.tokens[slip.index + 1].upper()
        if slip.kind == "WHERE" and after == "TIMER" and slip.after_pattern:
            return _TIMER
    if slip.kind == "NAME":
        if "LIKE" in slip.expected and slip.word in ("RLIKE", "REGEXP", "MATCHES", "ILIKE", *_TESTS):
            return _WORDS.get(slip.word) or f"write `{_TESTS[slip.word]}(name, 'ab')`"
        if slip.word in ("ONEORMORE", "NOTFOLLOWED", "NOTFOLLOWEDBY") and slip.after_pattern:
            return _METHODS[slip.word]
        if slip.word in _WORDS and "LIKE" not in slip.expected:
            return _WORDS[slip.word]
    earlier = slip.tokens[slip.index - 1].upper() if slip.index else ""
    if earlier == "DISTINCT":
        return (
            "leave DISTINCT out: no match comes twice; to count different values write `COUNT(DISTINCT "
            "x.price)`"
        )
    if earlier in ("EVERY", "TOP", "TIMER", "CASE", "INTERVAL") and slip.before() == "NAME":
        return _WORDS[earlier]
    if slip.kind == "LSQB" and earlier == "PATTERN":
        return f"`every a=A -> b=B` is `A AS a ; B AS b`; {_TIMER}"
    return None


def _count(slip: Slip) -> str | None:
    """`A {3+}`, `A {3..5}`, `A {>= 3}`."""
    if not slip.open or slip.open[-1].type != "LBRACE":
        return None
    place = next(n for n, token in enumerate(slip.tokens) if token is slip.open[-1])
    return None if slip.before(slip.index - place + 1) == "IN" else _TIMES


def _converted(slip: Slip) -> str | None:
    """`EXTRACT(HOUR FROM ts)` and `CAST(v AS int)`."""
    if slip.kind not in ("FROM", "AS") or not slip.open:
        return None
    called = slip.text[: slip.open[-1].start_pos].rstrip().upper()
    if slip.kind == "FROM" and called.endswith("EXTRACT"):
        part = slip.tokens[slip.index - 1].upper()
        known = part if part in ("YEAR", "MONTH", "DAY", "MINUTE", "SECOND") else "HOUR"
        return f"for `EXTRACT({known} FROM ts)` write `{known}(ts)`"
    if slip.kind == "AS" and called.endswith("CAST"):
        return (
            "leave CAST out: numbers of all types can be compared; cast texts that hold numbers before the "
            "query reads them, in a CSV file with `column_types={'v': 'float64'}` or `--column-type "
            "v=float64`"
        )
    return None


def _predicate_for_a_pattern(slip: Slip) -> str | None:
    """`WHERE price > 100`: a condition where the pattern belongs."""
    if slip.index < 2 or slip.found is None or slip.arrow is not None:
        return None
    what = "write the pattern after WHERE, and conditions after FILTER"
    name = slip.tokens[slip.index - 1]
    if slip.kind == "EQUAL" and slip.after_pattern and slip.index + 1 < len(slip.tokens):
        following = slip.tokens[slip.index + 1]
        if following.type == "NAME":
            return f"to name an event write `{following} AS {name}`; {what}"
    if slip.kind == "EQUAL" and slip.after_pattern and _text_behind(slip) and name.lower().endswith("type"):
        return f"name the event type in the pattern: `WHERE {_text_behind(slip)} AS x`; {what}"
    if slip.kind in ("EQUAL", "UNEQUAL", "LESS", "ATMOST", "ATLEAST") and slip.after_pattern:
        return f"{what}: `WHERE T AS x FILTER x.{name} {slip.found} ...`"
    if slip.before() == "MORE" and "NAME" in slip.expected and slip.kind in ("NUMBER", "STRING"):
        return f"{what}: `WHERE T AS x FILTER x.{slip.tokens[slip.index - 2]} > {slip.found}`"
    return None


def _text_behind(slip: Slip) -> str:
    """The string behind the place as a name; empty where none stands there."""
    after = slip.tokens[slip.index + 1 : slip.index + 2]
    return written(after[0][1:-1]) if after and after[0].type == "STRING" else ""


def _measure_without_name(slip: Slip) -> str | None:
    if "AS" not in slip.expected or slip.kind not in ("WHERE", "FROM", "COMMA") or slip.before() != "RPAR":
        return None
    if slip.before(2) == "STAR":
        return (
            "to count matches use count(), in the shell `cer count`; to count the events that x marks in "
            "each match write `SELECT COUNT(x) AS n`"
        )
    return "give the measure a name: `LAST(x.price) AS last`"


_AFTER_CONDITION = (
    "SEMICOLON",
    "COLON",
    "UNLESS",
    "FOLLOWED",
    "PRECEDED",
    "ALL",
    "NOT",
    "QUESTION",
    "COLONPLUS",
)
_LONGER = {"FOLLOWED": "FOLLOWED BY", "PRECEDED": "PRECEDED BY", "NOT": "NOT FOLLOWED BY"}
_BEFORE_OPERAND = ("SEMICOLON", "COLON", "OR", "AND", "ALL", "UNLESS", "BY", "WHERE", "RSQB")


def _goes_on_after_filter(slip: Slip) -> str | None:
    """`A AS a FILTER a[x > 1] ; B`: the condition reaches as far as it can."""
    joined = slip.kind == "$END" and slip.before(2) in ("OR", "AND") and "LIKE" in slip.expected
    follows = slip.kind in _AFTER_CONDITION and "AND" in slip.expected and "SEMICOLON" not in slip.expected
    over = slip.kind == "SEMICOLON" and slip.index == len(slip.tokens) - 1
    if over or not (joined or follows):
        return None
    place = _filter_before(slip)
    if place is None:
        return None
    end = slip.index - 2 if joined else slip.index
    start = _operand_before(slip.tokens, place, end)
    first, last = slip.tokens[start].start_pos, slip.tokens[end - 1].end_pos
    found = _LONGER.get(slip.kind, str(slip.found))
    rest = slip.text[last : slip.tokens[-1].end_pos] if joined else f" {found} ..."
    return f"end the condition with parentheses: `({slip.text[first:last]}){rest}`"


def _filter_before(slip: Slip) -> int | None:
    depth = 0
    for place in range(slip.index - 1, -1, -1):
        kind = slip.tokens[place].type
        if kind in CLOSERS.values():
            depth += 1
        elif kind in CLOSERS:
            if depth == 0:
                return None
            depth -= 1
        elif kind == "FILTER" and depth == 0:
            return place
    return None


def _operand_before(tokens: tuple[Token, ...], place: int, end: int) -> int:
    """Where the parentheses begin: before the last operand, if it has all that the condition speaks of."""
    spoken = {
        str(token)
        for token, after in zip(tokens[place:end], tokens[place + 1 : end])
        if after.type in ("DOT", "LSQB") and token.type in ("NAME", "QUOTED")
    }
    depth, found = 0, place
    for start in range(place - 1, -1, -1):
        kind = tokens[start].type
        if kind in CLOSERS.values():
            depth += 1
        elif kind in CLOSERS:
            if depth == 0:
                return start + 1
            depth -= 1
        elif depth == 0 and kind in _BEFORE_OPERAND:
            found = start + 1
            names = {str(token) for token in tokens[found:place]}
            if spoken <= names or kind == "WHERE":
                return found
    return found


def _percent(slip: Slip) -> str | None:
    """`0.5%`: percent, where `%` is the remainder of a division."""
    if slip.before() != "PERCENT" or slip.before(2) != "NUMBER" or "NUMBER" not in slip.expected:
        return None
    number = Decimal(str(slip.tokens[slip.index - 2]))
    part = number / 100
    less = f", less `{_plain(1 - part)} * x.price`" if part < 1 else ""
    return (
        f"`%` is the remainder of a division: {number} percent is {_plain(part)}, {number} percent more "
        f"`{_plain(1 + part)} * x.price`{less}"
    )


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _comma_in_a_number(slip: Slip) -> str | None:
    """`1,005`: a decimal comma, or one between thousands."""
    after = slip.tokens[slip.index + 1 : slip.index + 2]
    if slip.kind != "COMMA" or slip.before() != "NUMBER" or not after or after[0].type != "NUMBER":
        return None
    first, last = slip.tokens[slip.index - 1], after[0]
    if first.end_pos != slip.span.start or last.start_pos != slip.span.end or "." in first + last:
        return None
    whole = f", and `{first}{last}` for thousands" if len(last) == 3 else ""
    return f"numbers have a decimal point and no commas: write `{first}.{last}`{whole}"


_HABITS: tuple[Callable[[Slip], str | None], ...] = (
    _percent,
    _comma_in_a_number,
    _goes_on_after_filter,
    _calls,
    _count,
    _converted,
    _words,
    _measure_without_name,
    _predicate_for_a_pattern,
)
