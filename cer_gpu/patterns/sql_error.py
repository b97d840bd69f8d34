"""What is wrong with one part of a SQL statement; the others are still read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.printable_text import names_text

UNREADABLE = "CER115"
"""The code of SQL that cannot be read."""

NAVIGATION = "CER116"
"""The code of a navigation, or an aggregate, where SQL does not allow it."""

NO_EXPRESSION = "CER117"
"""The code of what a clause cannot compute."""

INCOMPATIBLE = "CER118"
"""The code of parts of a clause that exclude each other."""

OUT_OF_PLACE = "CER008"
"""The code of a clause that is repeated or out of order."""

NO_COUNT = "CER019"
"""The code of what is no number of repetitions."""

UNKNOWN_COLUMN = "CER021"
UNKNOWN_VARIABLE = "CER022"

LISTED_TWICE = "CER025"
"""The code of a name that is listed twice."""

UNKNOWN_FUNCTION = "CER028"

NOT_TAKEN = "CER029"
"""The code of a value that a function does not take."""

NO_TIME = "CER035"
"""The code of a text that is no time."""


class SqlError(Exception):
    """Something is wrong with a part of the SQL.

    Attributes
    ----------
    diagnostic : Diagnostic
    """

    def __init__(self, code: str, message: str, span: Span | None, *hints: str) -> None:
        self.diagnostic = Diagnostic(code, message, span, hints=tuple(hint for hint in hints if hint))
        super().__init__(message)

    def placed(self, span: Span) -> SqlError:
        """The same error with a place, if it has none."""
        found = self.diagnostic
        return self if found.span is not None else SqlError(found.code, found.message, span, *found.hints)


def too_deep(span: Span | None) -> SqlError:
    """The error of a part that nests too deeply."""
    return SqlError("CER006", "this nests too deeply", span, "remove parentheses, or split the expression")


def choice_hint(name: str, known: Iterable[str], introduction: str) -> str:
    """The name that was probably meant, and all: "did you mean `price`? the columns are ..."."""
    names = list(known)
    if not names:
        return ""
    by_key = {other.casefold(): other for other in names}
    near = difflib.get_close_matches(name.casefold(), by_key, 1, 0.6)
    meant = f"did you mean `{by_key[near[0]]}`? " if near else ""
    return f"{meant}{introduction} {names_text(names)}"


_CALL_HINTS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "MEDIAN",
            "APPROX_DISTINCT",
            "PERCENTILE_CONT",
            "CORR",
        ),
        "return ALL ROWS PER MATCH, and group them by MATCH_NUMBER()",
    ),
    "LAG": "write PREV(x, n) for the row n before",
    "LEAD": "write NEXT(x, n) for the row n after",
    "FIRST_VALUE": "write FIRST(x)",
    "LAST_VALUE": "write LAST(x)",
    **dict.fromkeys(("LOG", "LOG2"), "write LN(x), LOG10(x), or LN(x) / LN(base)"),
    **dict.fromkeys(
        (
            "NOW",
            "GETDATE",
            "SYSDATE",
            "CURRENT_DATE",
            "CURRENT_TIMESTAMP",
            "LOCALTIMESTAMP",
            "RANDOM",
            "RAND",
        ),
        "write the value as a constant, or as a parameter such as `$now`",
    ),
    **dict.fromkeys(
        ("MATCH_ROWTIME", "MATCH_PROCTIME"),
        "write LAST(ts), with the column of ORDER BY: the time of the last row",
    ),
}


def unknown_function(name: str, span: Span | None, known: Sequence[str]) -> SqlError:
    """The error of a call of a function that a clause does not have."""
    hint = _CALL_HINTS.get(name.upper(), "")
    if not hint:
        near = difflib.get_close_matches(name.upper(), known, 1, 0.8)
        meant = f"did you mean {near[0]}? " if near else ""
        hint = f"{meant}compute it before: FROM (SELECT *, {name}(...) AS x FROM ...) MATCH_RECOGNIZE (...)"
    return SqlError(UNKNOWN_FUNCTION, f"a row pattern has no function `{name}`", span, hint)
