"""Messages of syntax errors: what was found, what was expected, and how to write what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.language.habits import habit
from cer_gpu.language.parse_tree import Token
from cer_gpu.language.rule_slips import RULE_CHARACTERS, RULE_SLIPS, rule_expectation
from cer_gpu.language.slip import CLOSERS, Slip
from cer_gpu.language.words import CONTEXTUAL, RESERVED, written

if TYPE_CHECKING:
    from cer_gpu.language.tokens import Tokens

_SIGNS = {"RPAR": ")", "RSQB": "]", "RBRACE": "}"}
_OPENERS = {")": "(", "]": "[", "}": "{"}
_CLAUSES = ("PARTITION", "WITHIN", "CONSUME", "SUPPRESS", "LIMIT")
_COMPARATORS = ("LESS", "ATMOST", "MORE", "ATLEAST", "EQUAL", "UNEQUAL")

# What may be expected, from the most telling to the least: (terminals that must all be expected, others
# that the words stand for too, the words).
_EXPECTATIONS: tuple[tuple[frozenset[str], frozenset[str], str], ...] = tuple(
    (frozenset(needed.split()), frozenset(f"{needed} {others}".split()), words)
    for needed, others, words in (
        ("NAME PROJECT NOT", "LPAR QUOTED LSQB", "an event type or a pattern in parentheses"),
        ("NAME NUMBER NOT", "LPAR MINUS QUOTED STRING TRUE FALSE PARAMETER", "a condition"),
        (
            "STAR NONE NAME",
            "QUOTED ALL NUMBER LPAR MINUS STRING TRUE FALSE PARAMETER",
            "`*`, `NONE` or a list of names",
        ),
        ("NAME NUMBER LPAR", "MINUS QUOTED STRING TRUE FALSE PARAMETER", "a value"),
        ("NUMBER STRING", "MINUS TRUE FALSE PARAMETER", "a number or a string"),
        ("STRING", "PARAMETER", "a string"),
        ("NUMBER LESS", "MINUS EQUAL MORE ATMOST ATLEAST PARAMETER", "a bound such as `<= 5 s`"),
        ("NUMBER", "MINUS PARAMETER", "a number"),
        (
            "SEMICOLON OR",
            "COLON AND ALL UNLESS FILTER AS PLUS COLONPLUS LSQB LBRACE QUESTION NOT FOLLOWED PRECEDED",
            "a pattern operator",
        ),
        ("EQUAL IN", "UNEQUAL LESS ATMOST ATLEAST IS LIKE NOT DOT LSQB", "a comparison"),
        ("EQUAL LESS", "UNEQUAL ATMOST ATLEAST", "a comparison"),
        ("PLUS STAR", "MINUS SLASH PERCENT", "an arithmetic sign"),
        ("AND OR", "", "`AND` or `OR`"),
        ("PARTITION WITHIN", "CONSUME SUPPRESS LIMIT FILTER", "a clause such as `WITHIN`"),
        ("NAME", "QUOTED", "a name"),
    )
)

_WITHOUT = (
    "for A then C without a B between write `(A ; C) UNLESS B`; for one event that is not a B write `NOT "
    "(B)`, with parentheses"
)

# Marks that the tokens are given, and signs that no message needs.
_UNSAID = frozenset({"QUOTED", "BARS", "SPANNING", "STREAM", "MORE", "CHOICE", "COLONTIMES"})

_WORDS = {
    "COMMA": "`,`", "DOT": "`.`", "RPAR": "`)`", "RSQB": "`]`", "RBRACE": "`}`", "LPAR": "`(`",
    "LSQB": "`[`", "LBRACE": "`{`", "VBAR": "`|`", "DOTS": "`..`", "EQUAL": "`=`", "PLUS": "`+`",
    "MINUS": "`-`", "ARROW": "`<-`", "SEMICOLON": "`;`", "STAR": "`*`", "STRING": "a string",
    "$END": "the end of the query",
}  # fmt: skip


def syntax_error(text: str, tokens: Tokens, index: int, expected: frozenset[str]) -> Diagnostic:
    """The error of a text that is no query and no rule.

    Parameters
    ----------
    text : str
    tokens : Tokens
        The tokens of the text.
    index : int
        Which token does not fit; `len(tokens.tokens)` when all do, and the text ends too early or a
        character that begins no token follows.
    expected : frozenset of str
        The terminals of the grammar that would have fitted.

    Returns
    -------
    Diagnostic
    """
    slip = Slip(
        text, _sets_apart(tokens.tokens, index), index, expected - {"INSET"}, tokens.stopped_at, tokens.rule
    )
    if slip.found is None and slip.stopped_at is not None:
        return _bad_character(slip)
    if slip.found is not None and slip.text.startswith("/*", slip.span.start):
        hints = ("close it with `*/`",)
        return Diagnostic("CER003", "the comment that begins here is not closed", slip.span, hints=hints)
    return _bracket(slip) or _last_semicolon(slip) or _unexpected(slip)


def _sets_apart(tokens: tuple[Token, ...], index: int) -> tuple[Token, ...]:
    # Where a whole set, `IN {...}`, does not fit, it is its IN that does not.
    if index == len(tokens) or tokens[index].type != "INSET":
        return tokens
    start = tokens[index].start_pos
    word = Token("IN", tokens[index][:2], start, start + 2)
    return (*tokens[:index], word, *tokens[index + 1 :])


def _bad_character(slip: Slip) -> Diagnostic:
    at = slip.stopped_at or 0
    character = slip.text[at]
    if character in "'`":
        what = "string" if character == "'" else "name"
        return Diagnostic(
            "CER003",
            f"the {what} that begins here is not closed",
            Span(at, len(slip.text)),
            hints=(f"close it with `{character}`; inside the string write it twice",)
            if character == "'"
            else ("close it with a back-tick; inside the name write it twice",),
        )
    hints = {
        '"': ("write text in single quotes, as in `'N'`, and names in back-ticks (`order id`)",),
        "“": ("write text in single quotes, as in `'N'`",),
        "‘": ("write text in single quotes, as in `'N'`",),
        "’": ("write text in single quotes, as in `'N'`",),
        "&": ("join conditions and patterns with `AND`",),
        "!": (f"{_WITHOUT}; unequal is `!=`" if slip.wants_pattern else "write `NOT`; unequal is `!=`",),
        "#": ("comments begin with `--`",),
        "^": ("there is no operator for powers: multiply",),
        "~": ("for a regular expression write `x[name LIKE '^A']`",),
        "$": ("a parameter has a name: `$limit`",),
        "\\": ("a backslash can stand only in a string",),
        "←": ("write `<-` between the head and the body of a rule",),
    }.get(character, ())
    if slip.rule and character in RULE_CHARACTERS:
        hints = (RULE_CHARACTERS[character],)
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return Diagnostic("CER002", f"`{shown}` has no meaning here", Span(at, at + 1), hints=hints)


def _bracket(slip: Slip) -> Diagnostic | None:
    if slip.kind in _SIGNS and not slip.open:
        sign = _SIGNS[slip.kind]
        hints = (f"remove it, or add the `{_OPENERS[sign]}` that it closes",)
        return Diagnostic("CER004", f"this `{sign}` closes nothing", slip.span, hints=hints)
    if slip.kind != "$END" and slip.kind not in _CLAUSES:
        return None
    if not slip.open or CLOSERS[slip.open[-1].type] not in slip.expected:
        return None
    opener = slip.open[-1]
    closer = _SIGNS[CLOSERS[opener.type]]
    left = slip.text[slip.span.start :]
    if slip.kind == "WITHIN" and left.count(closer) > left.count(opener):
        return Diagnostic(
            "CER001",
            "`WITHIN` with a length of time stands at the end of the query, not in parentheses",
            slip.span,
            hints=("bound a part of the pattern by an interval behind it: `(A ; B) WITHIN [<= 30 min]`",),
        )
    where = "at the end or earlier" if slip.found is None else f"before `{slip.found}` or earlier"
    return Diagnostic(
        "CER004",
        f"this `{opener}` is never closed",
        Span(opener.start_pos or 0, opener.end_pos or 0),
        hints=(f"add the missing `{closer}`, {where}",),
    )


def _unexpected(slip: Slip) -> Diagnostic:
    if not slip.tokens:
        return Diagnostic(
            "CER001", "the query is empty", Span(0, 0), hints=("a query looks like `SELECT * WHERE A ; B`",)
        )
    slips = (*RULE_SLIPS, _keyword) if slip.rule else _SLIPS
    hint = next((hint for find in slips if (hint := find(slip)) is not None), None)
    arrow, span = slip.arrow, slip.span
    found = _described(slip) if arrow is None else f"`{arrow}`"
    if arrow is not None:
        span = Span(span.start, span.start + len(arrow))
    message = f"expected {_expectation(slip)}, found {found}"
    return Diagnostic("CER001", message, span, hints=() if hint is None else (hint,))


def _described(slip: Slip) -> str:
    if slip.found is None:
        return "the end of the query"
    shown = str(slip.found) if len(slip.found) <= 40 else f"{slip.found[:37]}..."
    if slip.kind in ("NAME", "QUOTED"):
        return f"the name `{shown.strip('`')}`"
    if slip.kind == "SPANNING":
        return "`WITHIN [`"
    kinds = {"NUMBER": "the number", "STRING": "the string"}
    if slip.kind in kinds:
        return f"{kinds[slip.kind]} `{shown}`"
    return f"`{shown.upper() if slip.kind in RESERVED | CONTEXTUAL else shown}`"


def _expectation(slip: Slip) -> str:
    left = set(slip.expected) - _UNSAID - (CONTEXTUAL if "NAME" in slip.expected else frozenset())
    words: list[str] = []
    if slip.rule:
        words, said = rule_expectation(slip)
        left -= said
    if slip.before() == "NUMBER" and "NAME" in left:
        left.discard("NAME")
        words.append("a unit of time")
    for needed, said, phrase in _EXPECTATIONS:
        if needed <= left:
            words.append(phrase)
            left -= said
    words += [_WORDS.get(kind, f"`{kind}`") for kind in sorted(left - {"$END"})]
    words += [_WORDS[kind] for kind in left & {"$END"}]
    return _either(words)


def _either(words: Iterable[str]) -> str:
    *most, last = list(words) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


# ------------------------------------------------------------------------------ common slips


_BEGINNINGS = {
    "EVERY": "`every a=A -> b=B` is `SELECT * WHERE A AS a ; B AS b`",
    "PATTERN": "`Pattern.begin('a').followedBy('b')` is `SELECT * WHERE A AS a ; B AS b`",
    "MATCH_RECOGNIZE": "`PATTERN (A B+ C)` is `SELECT * WHERE A ; B+ ; C`",
}
"""How queries begin in other languages, by their first word in capitals."""


def _no_select(slip: Slip) -> str | None:
    if slip.index:
        return None
    return "a query begins with SELECT: " + _BEGINNINGS.get(slip.word, "`SELECT * WHERE A ; B`")


def _arrow(slip: Slip) -> str | None:
    if slip.found is None:
        return None
    start = slip.span.start
    if slip.arrow is not None:
        return "for one event after another write `A ; B`, or `A : B` where no other event may come between"
    if slip.kind == "MORE" and slip.before() == "EQUAL" and slip.text[start - 1] == "=":
        return "at least is written `>=`"
    if slip.kind == "LESS" and slip.before() == "EQUAL" and slip.text[start - 1] == "=":
        return "at most is written `<=`"
    return None


def _comma(slip: Slip) -> str | None:
    if slip.kind == "COMMA" and slip.after_pattern:
        return "for one event after another write `A ; B`, for alternatives `A OR B`"
    if slip.kind == "COMMA" and {"AND", "OR"} & slip.expected:
        return "join conditions with AND or OR"
    if slip.kind in ("NAME", "QUOTED") and slip.before() == "RSQB" and {"AND", "OR"} <= slip.expected:
        return "join conditions with AND or OR"
    if slip.kind in (*_CLAUSES, "FROM", "WHERE") and slip.before() == "COMMA":
        return "leave out the comma before it: nothing is left to list"
    return None


def _unquoted(slip: Slip) -> str | None:
    """Text in quotes where a name or a span belongs, and a number that is a name."""
    if slip.kind == "NUMBER" and slip.wants_pattern:
        return f"write an event type that is a number between back-ticks: {written(str(slip.found))}"
    if slip.found is None or slip.kind != "STRING":
        return None
    inside = slip.found[1:-1].strip()
    if slip.before() == "FROM":
        return (
            f"FROM names the stream, such as `FROM Trades`; name the file in the call: "
            f"query.run({slip.found}), or in the shell cer run QUERY {inside}"
        )
    if slip.before() == "NAME" and slip.tokens[slip.index - 1].upper() in ("TIMESTAMP", "DATE", "TIME"):
        return f"write a time as a text, without a word before it: `ts >= {slip.found}`"
    if slip.before() in ("WITHIN", "FOR"):
        span = re.fullmatch(r"(\d+)\s*([A-Za-z]+)", inside)
        length = f"{span[1]} {span[2]}" if span else "5 MINUTES"
        clause = "SUPPRESS FOR" if slip.before() == "FOR" else "WITHIN"
        return f"write a length of time without quotes: `{clause} {length}`"
    if slip.wants_pattern or ("NAME" in slip.expected and not {"STRING", "NUMBER"} & slip.expected):
        name = written(inside)
        return f"write names without quotes: {name if name.startswith('`') else f'`{name}`'}"
    return None


def _symbols(slip: Slip) -> str | None:
    if slip.kind == "VBAR":
        return "write alternatives with OR: `A OR B`"
    if slip.kind == "STAR" and slip.after_pattern:
        return "one or more is `B+`; zero or more is `B+ ?`, as in `A ; B+ ? ; C`"
    if slip.kind in ("DOT", "LSQB") and slip.after_pattern:
        return "write a condition after FILTER: `A AS x FILTER x[price > 100]`"
    if slip.kind == "LPAR" and slip.before() == "IN":
        return "write a set in braces, `IN {1, 2}`, and a range as `IN RANGE (low, high)`"
    if slip.before() == "LIKE" or (slip.kind == "BARS" and slip.before(2) == "LIKE"):
        return (
            "LIKE takes a regular expression in quotes; for the text of another event write "
            "`CONTAINS(x.text, y.name)`, STARTS_WITH or ENDS_WITH"
        )
    if slip.kind == "NAME" and slip.before() == "FOR":
        return "write a number before the unit: `SUPPRESS FOR 1 h`"
    if slip.kind == "PARAMETER" and slip.before() == "IN":
        return f"each value of a set may be a parameter: `IN {{{slip.found}, $second}}`"
    if slip.kind == "LPAR" and slip.before() == "BY" and slip.before(2) == "PARTITION":
        return "write the names without parentheses: `PARTITION BY user, host`"
    if slip.kind == "LPAR" and _is_key(slip):
        word = slip.tokens[slip.index - 1]
        return f"a key is a column: add one with the values of `{word}(...)` to the events, and name it"
    return None


def _is_key(slip: Slip) -> bool:
    """Whether the name before the place is one of PARTITION BY."""
    place = slip.index - 1
    while place >= 2 and slip.tokens[place].type == "NAME" and slip.tokens[place - 1].type == "COMMA":
        place -= 2
    kinds = [token.type for token in slip.tokens[max(place - 2, 0) : place + 1]]
    return kinds == ["PARTITION", "BY", "NAME"]


def _interval_behind(slip: Slip) -> str | None:
    """`NOT FOLLOWED BY WITHIN 1 HOUR T`: the time belongs between brackets."""
    operator = slip.before(2)
    if slip.kind != "WITHIN" or slip.before() != "BY" or operator not in ("FOLLOWED", "PRECEDED"):
        return None
    negated = "NOT " if slip.before(3) == "NOT" else ""
    after = slip.tokens[slip.index + 1 : slip.index + 4]
    span, event = "1 h", "T"
    if len(after) > 1 and after[0].type == "NUMBER":
        span = f"{after[0]} {_UNITS.get(after[1].upper(), str(after[1]))}"
        event = str(after[2]) if len(after) > 2 and after[2].type in ("NAME", "QUOTED") else event
    return f"write the time in brackets: `{negated}{operator} BY [<= {span}] {event}`"


_UNITS = {"DAY": "d", "DAYS": "d", "HOUR": "h", "HOURS": "h", "MINUTE": "min", "MINUTES": "min"} | {
    "SECOND": "s",
    "SECONDS": "s",
}
"""Units of time, as they are written short."""


def _pointed_name(slip: Slip) -> str | None:
    """`PM2.5`: a name with a point, read as a name and a number."""
    if slip.kind != "NUMBER" or slip.found is None or slip.before() != "NAME":
        return None
    name = slip.tokens[slip.index - 1]
    if not slip.found.startswith(".") or name.end_pos != slip.span.start:
        return None
    return f"write a name with a point between back-ticks: {written(f'{name}{slip.found}')}"


def _words(slip: Slip) -> str | None:
    if slip.after_pattern:
        if slip.kind == "WHERE" or slip.word in ("IF", "WITH", "HAVING", "ON"):
            return "write conditions after FILTER: `A AS x FILTER x[price > 100]`"
        if slip.word in ("THEN", "FOLLOWED", "FOLLOWEDBY", "SEQ"):
            return "for one event after another write `A ; B`"
        if slip.kind == "NOT":
            return (
                "for matches of p without a q inside write `p UNLESS q`; `NOT (T)` is one event of another "
                "type"
            )
        if slip.kind in ("NAME", "QUOTED"):
            return f"to name an event write `AS {slip.found}`; to add a further event write `;` before it"
        if slip.kind == "SPANNING":
            return "write the pattern of an inner window in parentheses: `(A ; B) WITHIN [<= 5 s]`"
        if slip.word in ("EVERY", "SEQUENCE"):
            return "every match is reported, no keyword is needed: write `A ; B`"
        return None
    if slip.expected == {"FOLLOWED", "PRECEDED"}:
        return (
            "for matches of p without a q inside write `p UNLESS q`, and without a q after them "
            "`p NOT FOLLOWED BY q`; `NOT (T)` is one event of another type"
        )
    if slip.word == "BETWEEN":
        return "write a range as `x IN RANGE (low, high)`, which includes both ends"
    if slip.kind == "NULL" and slip.expected & {"STRING"}:
        return "to test for a null write `IS NULL`"
    if slip.kind in _COMPARATORS and {"AND", "PLUS"} <= slip.expected:
        return "write two comparisons with AND: `1 < v AND v < 5`"
    return None


def _bare_attribute(slip: Slip) -> str | None:
    truth = {"EQUAL", "IN", "IS"} <= slip.expected and slip.before() in ("NAME", "QUOTED")
    if truth and slip.kind in ("$END", "AND", "OR", "RSQB", "RPAR", *_CLAUSES):
        name = slip.tokens[slip.index - 1]
        return f"compare it with something: `{name} = TRUE`"
    return None


def _dotted(slip: Slip) -> str | None:
    if slip.kind == "DOT" and slip.expected & {"WHERE", "FROM"}:
        return "select attributes in brackets: `x[price]`"
    if "AS" in slip.expected and slip.kind in ("WHERE", "FROM", "COMMA") and slip.before(2) == "DOT":
        name = slip.tokens[slip.index - 1]
        return f"select attributes in brackets, `x[{name}]`, or name the measure, `x.{name} AS first`"
    return None


def _no_where(slip: Slip) -> str | None:
    if "WHERE" in slip.expected and slip.before() != "SELECT":
        return "write the pattern after WHERE: `SELECT * FROM S WHERE A ; B`"
    return None


def _pointed_key(slip: Slip) -> str | None:
    """`PARTITION BY a.symbol`, `SUM(t[price])`."""
    if slip.index + 1 >= len(slip.tokens) or slip.tokens[slip.index + 1].type != "NAME":
        return None
    name = slip.tokens[slip.index + 1]
    clauses = [token.type for token in slip.tokens[: slip.index] if token.type in ("PARTITION", "WHERE")]
    if slip.kind == "DOT" and clauses[-1:] == ["PARTITION"]:
        return f"a key is a column that all events have: `PARTITION BY {name}`"
    if slip.kind == "LSQB" and "DOT" in slip.expected and slip.open:
        return f"write a value of an event with a point: `{slip.tokens[slip.index - 1]}.{name}`"
    return None


def _no_parenthesis(slip: Slip) -> str | None:
    before = slip.before()
    if slip.expected == {"LPAR"} and before == "NOT":
        return _WITHOUT
    if slip.expected == {"BY"}:
        return f"write `{before} BY`"
    if slip.expected == {"FOR"}:
        return "write `SUPPRESS FOR 1 h`, and whether it is by ANY or PARTITION after the length of time"
    if slip.expected == {"ANY", "PARTITION"} and slip.kind in ("NAME", "QUOTED"):
        name = slip.found
        return f"to match each {name} separately write `PARTITION BY {name}` right after the pattern"
    return None


def _last_semicolon(slip: Slip) -> Diagnostic | None:
    """A query that ends with `;`, as in SQL."""
    joins = slip.kind == "$END" and slip.wants_pattern and slip.before() == "SEMICOLON"
    follows = slip.kind == "SEMICOLON" and "$END" in slip.expected and slip.index == len(slip.tokens) - 1
    if not (joins or follows) or slip.rule:
        return None
    sign = slip.tokens[-1]
    hints = ("remove it: `;` stands between two patterns, as in `A ; B`",)
    span = Span(sign.start_pos or 0, sign.end_pos or 0)
    return Diagnostic("CER001", "a query does not end with `;`", span, hints=hints)


def _trailing(slip: Slip) -> str | None:
    """A `;` where the query could end, and more behind it."""
    if slip.kind == "SEMICOLON" and "$END" in slip.expected:
        return "one query is run at a time: remove the `;` and what follows it"
    return None


def _keyword(slip: Slip) -> str | None:
    if slip.kind == "WHERE" and slip.before() == "FROM":
        return "name a stream after FROM, or leave FROM out"
    if slip.kind in RESERVED and "NAME" in slip.expected and slip.before() not in ("WHERE", "SEMICOLON"):
        return f"`{slip.found}` is a keyword: to use it as a name write it between back-ticks"
    if slip.kind in RESERVED and slip.wants_pattern and slip.after() in _BEHIND_TYPES:
        return f"`{slip.found}` is a keyword: write an event type of that name between back-ticks"
    return None


_BEHIND_TYPES = ("SEMICOLON", "COLON", "AS", "PLUS", "RPAR", "WITHIN", "PARTITION", "FILTER", "$END")
"""What often stands behind an event type."""


_SLIPS: tuple[Callable[[Slip], str | None], ...] = (
    _no_select,
    _interval_behind,
    _pointed_name,
    habit,
    _trailing,
    _arrow,
    _comma,
    _unquoted,
    _symbols,
    _words,
    _bare_attribute,
    _dotted,
    _pointed_key,
    _no_where,
    _no_parenthesis,
    _keyword,
)
"""From the surest to the vaguest; the first that knows what was meant gives the hint."""
