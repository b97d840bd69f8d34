"""How diagnostics are shown, and golden files of queries that users get wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from counting import calls

from cer_gpu.diagnostics import CODES, LINE, NOT_TAKEN, SHOWN, render, render_all
from cer_gpu.errors import Diagnostic, LimitError, QueryError, Span
from cer_gpu.language.check import check
from cer_gpu.language.findings import Findings
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.outline import outline
from cer_gpu.plan.planning.planner import plan

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
    return render_all(check(statement, schema), query) + "\n"


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


# ------------------------------------------------------------------------------- very many findings

SCHEMA = Schema({"v": ValueType.INT64}, types={"A": frozenset("v")})


def test_of_very_many_findings_the_first_are_shown() -> None:
    text = "SELECT * WHERE A FILTER A[" + " OR ".join(f"w{k} = 1" for k in range(2_000)) + "]"
    found = check(parse(text), SCHEMA)
    assert [one.code for one in found] == ["CER021"] * SHOWN + ["CER007"]
    assert [text[one.span.start : one.span.end] for one in found[:-1] if one.span] == [
        f"w{k}" for k in range(SHOWN)
    ]
    assert found[-1].message == "1,980 more findings are not shown"
    assert found[-1].severity == "error"
    shown = render_all(found, text)
    assert len(shown) < 10_000
    assert max(map(len, shown.splitlines())) < LINE + 30
    # What is put together elsewhere is cut where it is shown.
    many = [Diagnostic(NOT_TAKEN, f"construct {k}", Span(k, k + 1)) for k in range(500)]
    assert render_all(many, text).endswith("error[CER007]: 480 more findings are not shown")
    assert "CER007" not in render_all(many[: SHOWN + 1], text)


def test_errors_are_shown_before_notes() -> None:
    findings = Findings()
    for k in range(30):
        findings.note("CER101", f"note {k}", Span(k, k + 1))
    findings.error("CER021", "the only error", Span(99, 100))
    found = findings.sorted()
    assert [one.severity for one in found] == ["note"] * (SHOWN - 1) + ["error", "note"]
    assert found[-1].message == "11 more findings are not shown"
    assert [one.span.start for one in found[:-1] if one.span] == [*range(SHOWN - 1), 99]


def test_hints_are_made_for_what_is_shown_only() -> None:
    made = []
    findings = Findings()
    for k in range(1_000):
        findings.error("CER020", f"m {k}", Span(k, k + 1), lambda k=k: made.append(k) or "hint", "second")
        findings.error("CER020", f"m {k}", Span(k, k + 1), "the same again")
    found = findings.sorted()
    assert made == list(range(SHOWN))
    assert found[0].hints == ("hint", "second")
    assert found[-1].message == "980 more findings are not shown"


@pytest.mark.parametrize(
    "text",
    [
        lambda count: "SELECT " + ", ".join(["x"] * count) + " WHERE A AS x",
        lambda count: "SELECT x[" + ", ".join(["v"] * count) + "] WHERE A AS x",
        lambda count: "SELECT * WHERE PROJECT(A AS x | " + ", ".join(["x"] * count) + ")",
        lambda count: "SELECT * WHERE PROJECT(A | " + ", ".join(["y"] * count) + ")",
        lambda count: "SELECT * WHERE A PARTITION BY " + ", ".join(["u"] * count),
        lambda count: "SELECT * WHERE A " + "LIMIT 3 " * count,
        lambda count: "SELECT * WHERE " + " ; ".join(["A AS x"] * count),
        lambda count: "SELECT * WHERE " + " OR ".join(f"Unknown{k}" for k in range(count)),
        lambda count: "Q() <- A(" + ", ".join(["v = x"] * count) + ")",
        lambda count: "Q(" + ", ".join(["y"] * count) + ") <- A(x)",
    ],
)
def test_names_that_are_repeated_cost_what_they_take_to_read(text: Callable[[int], str]) -> None:
    def shown(count: int) -> int:
        def work() -> None:
            written = text(count)
            try:
                found = check(parse(written), SCHEMA)
            except QueryError as error:
                found = error.diagnostics
            assert len(found) <= SHOWN + 1
            assert len(render_all(found, written)) < 20_000

        return calls(work)

    shown(10)
    assert shown(4_000) < 5.5 * shown(1_000)


def test_a_long_line_is_cut_around_the_carets() -> None:
    text = "a" * 500 + "bcd" + "e" * 500
    shown = shown_lines(text, 500, 503)
    assert shown[1] == " --> query:1:501"
    source, carets = shown[3].removeprefix("1 | "), shown[4].removeprefix("  | ")
    assert source == "..." + "a" * (LINE // 3) + "bcd" + "e" * (LINE - LINE // 3 - 3) + "..."
    assert carets == " " * (LINE // 3 + 3) + "^^^"
    source, carets = (line[4:] for line in shown_lines(text, 10, 900)[3:])
    assert (source, carets) == ("a" * LINE + "...", " " * 10 + "^" * (LINE - 10))
    source, carets = (line[4:] for line in shown_lines(text, 1_000, 1_003)[3:])
    assert (source, carets) == ("..." + "e" * LINE, " " * (LINE + 0) + "^^^")
    assert shown_lines("x" * LINE, 0, 1)[3] == "1 | " + "x" * LINE


def test_a_long_message_is_cut_in_its_middle() -> None:
    shown = render(Diagnostic("CER001", "m" * 5_000 + "end", None, hints=("h" * 5_000,)), "")
    assert len(shown) < 2_200
    assert "mmm ... mmm" in shown
    assert "end\n" in shown


def test_filters_on_sixteen_columns_are_refused_at_once() -> None:
    """65,536 classes of events are over the budget: what is to blame is not searched for in the pattern."""
    columns = range(16)
    schema = Schema({f"c{k}": ValueType.INT64 for k in columns})
    text = "SELECT * WHERE " + " ; ".join(f"(A FILTER A[c{k} > 0])" for k in columns)

    def refused() -> None:
        with pytest.raises(
            LimitError,
            match="This comes from the filters: together they divide the events into 65,536 classes",
        ):
            plan(outline(parse(text), text), schema, RoleColumns())

    assert calls(refused) < 6_000_000
