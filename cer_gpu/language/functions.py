"""Functions of one event, PREV and aggregates: their names, and the node of a call (section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.walk import walk
from cer_gpu.language.words import written, written_variable

FUNCTIONS: Mapping[str, str] = {
    "ABS": "ABS(v)",
    "FLOOR": "FLOOR(v)",
    "CEIL": "CEIL(v)",
    "ROUND": "ROUND(v)",
    "COALESCE": "COALESCE(v, 0)",
    "LOWER": "LOWER(s)",
    "UPPER": "UPPER(s)",
    "LENGTH": "LENGTH(s)",
    "SUBSTRING": "SUBSTRING(s, 1, 3)",
    "REPLACE": "REPLACE(s, '-', '')",
    "TRIM": "TRIM(s)",
    "SPLIT_PART": "SPLIT_PART(s, '-', 1)",
    "CONTAINS": "CONTAINS(s, 'abc')",
    "STARTS_WITH": "STARTS_WITH(s, 'abc')",
    "ENDS_WITH": "ENDS_WITH(s, 'abc')",
    "SQRT": "SQRT(v)",
    "EXP": "EXP(v)",
    "LN": "LN(v)",
    "POWER": "POWER(v, 2)",
    "SIGN": "SIGN(v)",
    "GREATEST": "GREATEST(v, w)",
    "LEAST": "LEAST(v, w)",
    "YEAR": "YEAR(t)",
    "MONTH": "MONTH(t)",
    "DAY": "DAY(t)",
    "HOUR": "HOUR(t)",
    "MINUTE": "MINUTE(t)",
    "SECOND": "SECOND(t)",
    "WEEKDAY": "WEEKDAY(t)",
    "DATE": "DATE(t)",
}
"""The functions of one event, each with an example."""

OUTERMOST = frozenset({"GREATEST", "LEAST"})
"""Functions that choose one of their values by its order."""

JOINED = "||"
"""The function of `s || t`: one text behind the other."""

TEXTS = frozenset({"LOWER", "UPPER", "SUBSTRING", "REPLACE", "TRIM", "SPLIT_PART", JOINED})
"""Functions that give a text."""

PREDICATES = frozenset({"CONTAINS", "STARTS_WITH", "ENDS_WITH"})
"""Functions of two texts that are conditions: they give a bool."""

FLOATS = frozenset({"SQRT", "EXP", "LN", "POWER", "SIGN"})
"""Functions of numbers that give a float64."""

VALUES: Mapping[str, tuple[int, int | None]] = {
    **dict.fromkeys(("COALESCE", *OUTERMOST), (2, None)),
    **dict.fromkeys(PREDICATES, (2, 2)),
    "SUBSTRING": (2, 3),
    "POWER": (2, 2),
    "REPLACE": (3, 3),
    "SPLIT_PART": (3, 3),
}
"""How many values a function takes, at least and at most (None: any number); those not named take one."""

OF_EXPRESSIONS = ("SUM", "AVG", "MIN", "MAX")
"""The aggregates of expressions."""

AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST", "LAST")
"""The functions of all the events that a variable marks."""

_MEANT: Mapping[str, str] = {
    "AVERAGE": "AVG",
    "MEAN": "AVG",
    "TOTAL": "SUM",
    "CEILING": "CEIL",
    "TRUNC": "FLOOR",
    "LAG": "PREV",
    "PREVIOUS": "PREV",
    "IFNULL": "COALESCE",
    "NVL": "COALESCE",
    "LEN": "LENGTH",
    "CHAR_LENGTH": "LENGTH",
    "DAYOFWEEK": "WEEKDAY",
    "DAYOFMONTH": "DAY",
    "TO_DATE": "DATE",
    "LCASE": "LOWER",
    "UCASE": "UPPER",
    "STARTSWITH": "STARTS_WITH",
    "ENDSWITH": "ENDS_WITH",
    "SUBSTR": "SUBSTRING",
    "MID": "SUBSTRING",
    "BTRIM": "TRIM",
    "STRIP": "TRIM",
    "LOG": "LN",
    "POW": "POWER",
    "SIGNUM": "SIGN",
}

_NOW = "a query knows only the times of its events: `y.ts - x.ts < 5 min`, `WITHIN 5 MINUTES`"
_FOUND = (
    "LIKE finds a regular expression anywhere in a text, `name LIKE 'AB'`, or at its start, `name LIKE '^AB'`"
)
_SPAN = "subtract the times: `y.ts - x.ts > 5 min`"
_LATER = "add a length of time to a time: `x.ts + 5 min`"
_SPREAD = "return the values with `SELECT x[price]`, and compute it in DuckDB, polars or pandas"
_BEFORE = "compute a column with its values, and add it to the events before the query reads them"

INSTEAD_OF: Mapping[str, str] = {
    **dict.fromkeys(("NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "GETDATE", "SYSDATE"), _NOW),
    **dict.fromkeys(
        ("REGEXP_LIKE", "REGEXP_MATCHES", "REGEXP_CONTAINS"), _FOUND,
    ),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "TIMEDIFF", "AGE"), _SPAN),
    **dict.fromkeys(("DATEADD", "DATE_ADD", "DATE_SUB", "TIMESTAMPADD"), _LATER),
    **dict.fromkeys(
        ("STDDEV", "STDDEV_POP", "STDDEV_SAMP", "STD", "VARIANCE", "VAR", "VAR_POP", "VAR_SAMP", "MEDIAN",
         "MODE", "QUANTILE", "PERCENTILE", "PERCENTILE_CONT", "CORR"), _SPREAD,
    ),
    **dict.fromkeys(
        ("SIN", "COS", "TAN", "LTRIM", "RTRIM", "REGEXP_EXTRACT", "REGEXP_REPLACE", "DATE_TRUNC",
         "TO_TIMESTAMP", "STRFTIME", "STRPTIME", "HASH"),
        _BEFORE,
    ),
    "LEAD": "write the next event as a step of the pattern: `A AS a : A AS b FILTER b.price > a.price`",
    "MOD": "`v % 2` is the remainder",
    "ISNULL": "`v IS NULL` is true for a null, and `COALESCE(v, 0)` replaces a null",
    **dict.fromkeys(("CONCAT", "CONCAT_WS"), "join texts with `||`: `s || '-' || t`"),
    **dict.fromkeys(("INSTR", "STRPOS", "CHARINDEX", "POSITION"), "`CONTAINS(s, 'ab')` finds 'ab' in s"),
    "LOG10": "divide logarithms: `LN(v) / LN(10)`",
    "LOG2": "divide logarithms: `LN(v) / LN(2)`",
    "LEFT": "the first three characters are `SUBSTRING(s, 1, 3)`",
    "RIGHT": "the last three characters are `SUBSTRING(s, LENGTH(s) - 2)`",
    "SPLIT": "the second part is `SPLIT_PART(s, '-', 2)`",
}  # fmt: skip
"""How functions that other languages have are written here."""


@dataclass(frozen=True, slots=True)
class PriorEvents:
    """`PRIOR(x)` or `BEFORE(x)`, as it stands before `.a` and `[...]` and inside COUNT."""

    variable: str
    word: t.Earlier
    span: Span


@dataclass(frozen=True, slots=True)
class StreamVariable:
    """`S>T` between the parentheses of COUNT."""

    variable: str
    span: Span


@dataclass(frozen=True, slots=True)
class Everything:
    """`*` between the parentheses of a call."""

    span: Span


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """`DISTINCT x.a` between the parentheses of COUNT."""

    attribute: t.Attribute
    span: Span


Given: TypeAlias = t.Expression | PriorEvents | StreamVariable | Everything | DistinctValues
"""What may stand between the parentheses of a call."""

_INSTEAD = t.Aggregate("COUNT", None, "x")
"""What takes the place of an aggregate that is reported."""


def is_predicate(call: t.Call) -> bool:
    """Whether a call stands where a condition does."""
    return call.function in PREDICATES


def stands_as_condition(word: str) -> bool:
    """Whether a call of what is so named may stand where a condition does; of no function it may, too."""
    function = word.upper()
    return function in PREDICATES or function not in (*FUNCTIONS, "PREV", *AGGREGATES)


def call_of(word: str, place: Span, given: Sequence[Given], span: Span, findings: Findings) -> t.Expression:
    """The node of a call. A wrong call is reported.

    Parameters
    ----------
    word : str
        The function as it is written.
    place : Span
        Where the word stands.
    given : sequence of Given
        The arguments between the parentheses.
    span : Span
        Of the whole call.
    findings : Findings
    """
    function = word.upper()
    if function == "COUNT":
        return _count(given, span, findings)
    if function in AGGREGATES:
        return _aggregate(function, given, span, findings)
    if function == "PREV":
        return _previous(given, span, findings)
    if function not in FUNCTIONS:
        _unknown(word, place, findings)
        return _in_its_place(given)
    odd = next((one for one in given if not isinstance(one, t.Expression)), None)
    least, most = VALUES.get(function, (1, 1))
    if odd is not None or len(given) < least or (most is not None and len(given) > most):
        what = _taken(least, most)
        place = span if odd is None else odd.span
        findings.error("CER029", f"{function} {what} of an event", place, f"as in `{FUNCTIONS[function]}`")
        return _in_its_place(given)
    return t.Call(function, tuple(one for one in given if isinstance(one, t.Expression)), span=span)


def _taken(least: int, most: int | None) -> str:
    numbers = ("no", "one", "two", "three")
    if most is None:
        return f"takes {numbers[least]} or more values"
    several = "value" if most == 1 else "values"
    return f"takes {' or '.join(numbers[count] for count in range(least, most + 1))} {several}"


def _unknown(word: str, place: Span, findings: Findings) -> None:
    known = [*FUNCTIONS, "PREV", *AGGREGATES]
    function = word.upper()
    if function in INSTEAD_OF:
        hints: tuple[str, ...] = (INSTEAD_OF[function],)
    else:
        import difflib

        meant = _MEANT.get(function) or next(iter(difflib.get_close_matches(function, known, 1, 0.7)), None)
        hints = () if meant is None else (f"did you mean `{meant}`?",)
    findings.error(
        "CER028",
        f"there is no function `{written(word)}`",
        place,
        *hints,
        f"the functions are {', '.join(known)}",
    )


def _count(given: Sequence[Given], span: Span, findings: Findings) -> t.Expression:
    match given:
        case [t.Attribute(name=name, variable=None)]:
            return t.Aggregate("COUNT", None, name, span=span)
        case [StreamVariable(variable=name)]:
            return t.Aggregate("COUNT", None, name, span=span)
        case [PriorEvents(variable=name, word=word)]:
            return t.Aggregate("COUNT", None, name, word, span=span)
        case [t.Attribute(variable=str(name)) as attribute]:
            return t.Aggregate("COUNT", attribute, name, attribute.prior, span=span)
        case [DistinctValues(attribute=t.Attribute(variable=str(name)) as attribute)]:
            return t.Aggregate("COUNT", attribute, name, attribute.prior, True, span=span)
    hint = (
        "`COUNT(x)` counts the events that x marks, `COUNT(x.a)` their values of a, `COUNT(DISTINCT x.a)` "
        "their different values"
    )
    findings.error("CER037", "COUNT takes a variable, or one attribute of one", _inside(given, span), hint)
    return _INSTEAD


def _aggregate(function: str, given: Sequence[Given], span: Span, findings: Findings) -> t.Expression:
    match given:
        case [t.Attribute(variable=str(name)) as attribute]:
            return t.Aggregate(function, attribute, name, attribute.prior, span=span)
        case [t.Attribute(name=name, variable=None)]:
            own = written(name)
            hint = (
                f"name the variable of the attribute, `{function}(x.{own})`; if `{own}` is a variable, name "
                f"an attribute of it, `{function}({own}.price)`"
            )
        case [DistinctValues()]:
            hint = "only COUNT can have DISTINCT"
        case [t.Arithmetic() | t.Negation() | t.Call() | t.Previous() as expression] if (
            function in OF_EXPRESSIONS
        ):
            return _of_expression(function, expression, span, findings)
        case [t.Arithmetic()]:
            hint = f"arithmetic is written around it, `{function}(x.price) * 2`, or in SUM, AVG, MIN and MAX"
        case _:
            hint = f"as in `{function}(x.price)`"
            if function in OF_EXPRESSIONS:
                hint = f"{hint}, or `{function}(x.price * x.size)`"
    more = ", or an expression of attributes" if function in OF_EXPRESSIONS else ""
    message = f"{function} takes one attribute of a variable{more}"
    findings.error("CER037", message, _inside(given, span), hint)
    return _INSTEAD


def _of_expression(function: str, inner: t.Expression, span: Span, findings: Findings) -> t.Expression:
    parts = list(walk(inner))
    named = {(one.variable, one.prior) for one in parts if isinstance(one, t.Attribute)}
    nested = next((one for one in parts if isinstance(one, t.Aggregate)), None)
    place = span if inner.span is None else inner.span
    if nested is not None:
        hint = f"write arithmetic of aggregates around them, `{function}(x.a) / COUNT(x)`"
        findings.error("CER037", "an aggregate cannot stand inside another", nested.span or place, hint)
    elif not named:
        findings.error("CER037", f"{function} takes values of events", place, f"as in `{function}(x.price)`")
    elif bare := next((one for one in parts if isinstance(one, t.Attribute) and one.variable is None), None):
        name = written(bare.name)
        hint = f"name the variable: `x.{name}`"
        findings.error("CER037", f"`{name}` belongs to no variable", bare.span or place, hint)
    elif len({word for _, word in named}) > 1:
        findings.error(
            "CER037",
            f"{function} takes values of one repetition",
            place,
            "write PRIOR or BEFORE around all variables, or around none: `SUM(BEFORE(u).ts - BEFORE(d).ts)`",
        )
    elif len(named) == 1:
        ((variable, word),) = named
        return t.Aggregate(function, inner, variable, word, span=span)
    else:
        return t.Aggregate(function, inner, span=span)
    return _INSTEAD


def _previous(given: Sequence[Given], span: Span, findings: Findings) -> t.Expression:
    match given:
        case [t.Attribute() as attribute]:
            return t.Previous(attribute, span=span)
        case [t.Attribute() as attribute, t.Parameter() as parameter]:
            return t.Previous(attribute, 1, parameter, span=span)
        case [t.Attribute() as attribute, t.Number(value=int(distance))] if distance >= 1:
            return t.Previous(attribute, distance, span=span)
        case [t.Attribute() as attribute, second]:
            hint = f"as in `PREV({_shown(attribute)}, 2)`; for events that come later use FOLLOWED BY"
            findings.error("CER029", "PREV goes back a whole number of events, at least 1", second.span, hint)
        case [t.Previous(attribute=attribute, distance=distance), *rest]:
            more = next((one.value for one in rest if isinstance(one, t.Number)), 1)
            hint = f"to go further back write `PREV({_shown(attribute)}, {distance + more})`"
            findings.error("CER029", "PREV cannot stand inside PREV", span, hint)
        case _:
            hint = "as in `PREV(price)`, `PREV(price, 2)`; arithmetic is written around it"
            findings.error("CER029", "PREV takes one attribute", _inside(given, span), hint)
    return _in_its_place(given)


def _in_its_place(given: Sequence[Given]) -> t.Expression:
    """What takes the place of a call of a function of one event: an attribute of the same event."""
    inside = (node for one in given if isinstance(one, t.Expression) for node in walk(one))
    return next((node for node in inside if isinstance(node, t.Attribute)), t.Number(0))


def _shown(attribute: t.Attribute) -> str:
    if attribute.variable is None:
        return written(attribute.name)
    return f"{written_variable(attribute.variable)}.{written(attribute.name)}"


def _inside(given: Sequence[Given], span: Span) -> Span:
    places = [one.span for one in given if one.span is not None]
    return Span(places[0].start, places[-1].end) if places else span
