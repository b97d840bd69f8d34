"""How diagnostics are shown, and golden files of queries that users get wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cer_gpu.diagnostics import CODES, render, render_all
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan.evaluated import unevaluated

GOLDEN = sorted((Path(__file__).parent / "golden" / "check").glob("*.txt"))
RULE = "-" * 40 + "\n"


def read_golden(path: Path) -> tuple[str, Schema | None, str]:
    """The query, the schema and the rendered text of a golden file.

    Lines that begin with `#` come first: `# type T: name kind, ...` for each event type, `# order: name`,
    and anything else as a remark. Then the query, a rule, and what is shown.
    """
    head, shown = path.read_text(encoding="utf-8").split(RULE)
    lines = head.splitlines()
    remarks = [line for line in lines if line.startswith("# ")]
    query = "\n".join(line for line in lines if not line.startswith("# "))
    types: dict[str, dict[str, ValueType]] = {}
    order = None
    for line in remarks:
        if match := re.fullmatch(r"# type (\w+): (.*)", line):
            columns = [column.split() for column in match[2].split(", ")]
            types[match[1]] = {name: ValueType(kind) for name, kind in columns}
        elif match := re.fullmatch(r"# order: (\w+)", line):
            order = match[1]
    if not types:
        return query, None, shown
    schema = Schema(
        {name: kind for columns in types.values() for name, kind in columns.items()},
        {name: frozenset(columns) for name, columns in types.items()},
        order=order,
        ordered={name: tuple(one for one in columns if one != order) for name, columns in types.items()},
    )
    return query, schema, shown


def what_is_shown(query: str, schema: Schema | None) -> str:
    """What a user sees of a query: a syntax error, or what the check finds, or what is not evaluated."""
    try:
        statement = parse(query)
    except QueryError as error:
        return f"{error}\n"
    return render_all(check(statement, schema) or unevaluated(statement), query) + "\n"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    query, schema, shown = read_golden(path)
    assert what_is_shown(query, schema) == shown


def test_there_are_golden_files() -> None:
    rules = [path for path in GOLDEN if path.stem.startswith("rule_")]
    assert len(rules) >= 14
    assert len(GOLDEN) - len(rules) >= 10


def test_the_form_of_a_diagnostic() -> None:
    text = "SELECT *\nWHERE s[pricee > 100]"
    diagnostic = Diagnostic(
        "CER021",
        "event type `Sell` has no attribute `pricee`",
        Span(17, 23),
        hints=("did you mean `price`? `Sell` has name, price, volume",),
    )
    assert render(diagnostic, text) == (
        "error[CER021]: event type `Sell` has no attribute `pricee`\n"
        " --> query:2:9\n"
        "  |\n"
        "2 | WHERE s[pricee > 100]\n"
        "  |         ^^^^^^\n"
        "  = help: did you mean `price`? `Sell` has name, price, volume"
    )


def shown_lines(text: str, start: int, end: int) -> list[str]:
    return render(Diagnostic("CER001", "m", Span(start, end), "note"), text).splitlines()


def test_a_span_over_lines_shows_the_first() -> None:
    assert shown_lines("ab cd\nef", 3, 8)[3:] == ["1 | ab cd", "  |    ^^"]


def test_wide_characters_and_tabs_keep_the_carets_in_place() -> None:
    assert shown_lines("\t日本 x", 1, 3)[1:] == [" --> query:1:2", "  |", "1 |     日本 x", "  |     ^^^^"]
    assert shown_lines("\te\u0301 x", 4, 5)[3:] == ["1 |     e\u0301 x", "  |       ^"]


def test_characters_that_do_not_print_are_replaced() -> None:
    shown = shown_lines("a\0\x1b\ud800b", 1, 4)
    assert shown[3:] == ["1 | a\ufffd\ufffd\ufffdb", "  |  ^^^"]
    "\n".join(shown).encode()


def test_windows_line_ends_and_wide_gutters() -> None:
    text = "a\r\n" * 9 + "bad\r\n"
    assert shown_lines(text, 27, 30) == [
        "note[CER001]: m", "  --> query:10:1", "   |", "10 | bad", "   | ^^^"
    ]  # fmt: skip


def test_the_end_of_the_text_and_no_place_at_all() -> None:
    assert shown_lines("ab", 2, 2)[1:] == [" --> query:1:3", "  |", "1 | ab", "  |   ^"]
    assert shown_lines("ab\n", 3, 3)[1:] == [" --> query:2:1", "  |", "2 |", "  | ^"]
    assert shown_lines("", 0, 0)[1:] == [" --> query:1:1", "  |", "1 |", "  | ^"]
    assert render(Diagnostic("CER001", "m", hints=("h",)), "text") == "error[CER001]: m\n  = help: h"


def test_an_error_shows_all_its_diagnostics() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT * WHERE A FILTER v > 1 WITHIN 5")
    text = str(caught.value)
    assert text == render_all(caught.value.diagnostics, caught.value.text)
    assert text.count("error[") == 2
    assert "\n\nerror[CER016]" in text


def test_every_code_that_the_language_uses_has_a_title() -> None:
    folder = Path(parse.__code__.co_filename).parent
    used = {code for path in folder.glob("*.py") for code in re.findall(r'"(CER\d{3})"', path.read_text())}
    assert used <= CODES.keys()
    assert len(used) > 40
