"""The examples of the README give what it says."""

import re
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import cer_gpu
from cer_gpu.cli import status_of

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def block(language):
    """The first code block of a language."""
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "trades.csv").write_text(block("csv"))
    (tmp_path / "query.ceql").write_text(block("sql"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_first_screen(folder, capsysbinary):
    command = re.search(r"`cer (run .*?)`", README)[1]
    assert status_of(command.split()) == 0
    assert capsysbinary.readouterr().out.decode() == block("json")


def test_python(folder, capsys):
    exec(re.search(r"```python\n(import .*?)```", README, re.DOTALL)[1], {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["0 3 (0,) ('ACME',)", "1 3 (1,) ('ACME',)"]
    assert len(lines) > 3


def test_rule(folder, capsys):
    text = re.search(r"```python\n(rule = .*?)```", README, re.DOTALL)[1]
    exec(text, {"cer": cer_gpu})
    said = re.search(r"# (\(0.*?\}) and (\(1.*?\})", text)
    assert capsys.readouterr().out.splitlines() == [said[1], said[2]]


def test_view(capsys):
    text = re.search(r"```python\n(view = .*?)```", README, re.DOTALL)[1]
    exec(text, {"cer": cer_gpu, "pa": pa})
    assert capsys.readouterr().out.splitlines() == re.findall(r"# (\d+|\[.*?\])(?:,|\n)", text)


def test_queries_with_joins():
    [pattern] = re.findall(r"```\n(SELECT \* WHERE Login.*?)```", README, re.DOTALL)
    assert "a chain of events" in cer_gpu.compile(pattern).explain()
    [rule] = re.findall(r"```\n(Q\(user.*?)```", README, re.DOTALL)
    assert "hierarchical" in cer_gpu.compile(rule).explain()
    said = cer_gpu.compile("Q() <- R(a, b), S(b, c), T(c)").explain()
    assert "acyclic, not hierarchical" in said
    [compared] = re.findall(r"`(Buy\(symbol.*?)`", README)
    assert "join: takes it, and runs it" in cer_gpu.compile(f"Q(x) <- {compared}").explain()


def test_a_query_with_unless():
    [text] = re.findall(r"```\n(SELECT \* WHERE \(Temp.*?)```", README, re.DOTALL)
    begin = datetime(2024, 1, 1)
    values = [10, 50, 15, 30, 45, 12, 44]
    table = pa.table(
        {
            "type": ["Temp"] * len(values),
            "value": values,
            "ts": [begin + timedelta(minutes=10 * number) for number in range(len(values))],
        }
    )
    found = cer_gpu.compile(text).run(table, order_by="ts")
    assert [(match.start, match.end) for match in found] == [(0, 1), (5, 6)]


def test_a_log_on_without_a_log_off():
    [text] = re.findall(r"```\n(SELECT \* WHERE Logon.*?)```", README, re.DOTALL)
    begin = datetime(2024, 1, 1)
    events = [("Logon", "ann", 0), ("Logon", "bob", 1), ("Logoff", "ann", 8), ("Logoff", "bob", 9.5)]
    types, users, hours = zip(*events, strict=True)
    table = pa.table({"type": types, "user": users, "ts": [begin + timedelta(hours=hour) for hour in hours]})
    query = cer_gpu.compile(text)
    assert [match.partition for match in query.run(table, order_by="ts")] == [("bob",)]
    stream = query.stream(order_by="ts")
    pushed = [[match.end for match in stream.push(table.slice(row, 1))] for row in range(4)]
    assert pushed == [[], [], [], [1]]


def test_error_message(folder):
    shown = re.search(r"```\n(error\[.*?)```", README, re.DOTALL)[1]
    text = re.search(r"^1 \| (.*)$", shown, re.MULTILINE)[1]
    with pytest.raises(cer_gpu.QueryError) as caught:
        cer_gpu.compile(text).count(
            {"Buy": "trades.csv", "Sell": "trades.csv"}, order_by="ts", type_column="kind"
        )
    # On the single table the types are known only after a scan, which `check` makes.
    findings = cer_gpu.compile(text).check("trades.csv", order_by="ts")
    assert shown.strip() == str(cer_gpu.QueryError(findings, text)).strip()
    assert caught.value.diagnostics[0].code == findings[0].code
