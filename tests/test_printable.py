"""Names and values of others never command the terminal that they are shown on."""

from __future__ import annotations

import io
import json
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu
from cer_gpu.cli import status_of
from cer_gpu.output import write_rows
from cer_gpu.printable_text import on_one_line, printable

EVIL = "\x1b]0;title\x07\x9b31m\x7f\u202e\u2028\rx\x00"
OBEYED = set(EVIL) - set("]0;title31mx")


def test_what_a_terminal_obeys_is_replaced():
    assert not set(printable(EVIL)) & OBEYED
    assert len(printable(EVIL)) == len(EVIL)
    assert printable("é漢\u00a0\U0001f469\u200d\U0001f33e\t\n") == "é漢\u00a0\U0001f469\u200d\U0001f33e\t\n"
    assert on_one_line("a\r\nb\tc") == "a b c"
    assert printable("\ud800\uffff") == "\ufffd\ufffd"
    printable("".join(map(chr, range(0x110000)))).encode()


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "events.parquet"
    columns = {"type": ["A", "B", EVIL], EVIL: ["x", EVIL, "y"], "n": [1, 2, 3]}
    pq.write_table(pa.table(columns), path)
    return path


def spoken(text):
    """Characters of a text that a terminal obeys, but for line ends and the colours of a table."""
    return set(text.replace("\r\n", "\n")) & OBEYED


@pytest.mark.parametrize("form", ["table", "csv", "jsonl"])
def test_answers_on_a_terminal(form):
    table = pa.table({EVIL: [EVIL, "plain"], "b": pa.array([EVIL, None]).dictionary_encode()})

    class Terminal(io.BytesIO):
        def isatty(self):
            return True

    sink = Terminal()
    write_rows(table.to_reader(), form, sink)
    text = sink.getvalue().decode()
    shown = text.replace("\x1b[1m", "").replace("\x1b[0m", "")  # the head of a table is bold
    assert not spoken(shown)
    assert "plain" in text
    if form == "jsonl":
        assert json.loads(text.splitlines()[0]) == {EVIL: EVIL, "b": EVIL}


def test_files_keep_what_they_are_given():
    sink = io.BytesIO()
    write_rows(pa.table({"a": [EVIL]}).to_reader(), "csv", sink)
    assert EVIL.encode() in sink.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [
        ["count", f"SELECT * WHERE `{EVIL}` ; `{EVIL}b`", "DATA"],
        ["count", f"SELECT * WHERE A FILTER A[`{EVIL}z` > 3]", "DATA"],
        ["count", f"SELECT * WHERE A FILTER A[`{EVIL}` > 3]", "DATA"],
        ["count", "SELECT * WHERE A", "DATA", "--order-by", EVIL.replace("\x00", "")],
        ["count", "SELECT * WHERE A", "DATA", "--order-by", "nn"],
        ["count", "SELECT * WHERE A", f"{EVIL}.parquet"],
        ["count", "SELECT * WHERE A", "DATA", f"--{EVIL}"],
        ["count", "SELECT * WHERE A", "DATA", "--memory", EVIL],
        ["explain", f"SELECT * WHERE `{EVIL}` AS a FILTER a[b = '{EVIL}']"],
        ["check", f"SELECT * WHERE `{EVIL}` ; A", "DATA"],
    ],
)
def test_what_the_shell_says(arguments, data, capsys):
    status_of([argument.replace("DATA", str(data)) for argument in arguments])
    captured = capsys.readouterr()
    assert captured.out + captured.err
    assert not spoken(captured.out + captured.err)
    assert "Traceback" not in captured.err


def test_errors_and_warnings_in_python(data):
    with pytest.raises(cer_gpu.DataError) as caught:
        cer_gpu.compile("SELECT * WHERE A").count(data, order_by="m")
    assert "`n`" in str(caught.value)
    assert not spoken(str(caught.value))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cer_gpu.compile(f"SELECT * WHERE A ; `{EVIL}b`").count(data)
    assert len(said) == 1
    assert not spoken(str(said[0].message))
