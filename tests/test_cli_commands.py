"""The shell's commands: what they print, where, and their exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.json as pajson
import pyarrow.parquet as pq
import pytest
from processes import started

import cer_gpu
from cer_gpu.cli import status_of
from cer_gpu.cli_outputs import Format, result_format
from cer_gpu.digits import LargeCount

QUERY = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 10] WITHIN 5 EVENTS"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    table = pa.table(
        {
            "type": ["A", "A", "C", "B", "C", "C", "C", "B", "A"],
            "ts": pa.array(range(9), pa.int64()),
            "price": [11.0, 12.0, 13.0, 1.0, 2.0, 3.0, 4.0, 5.0, 99.0],
            "key": ["x", "y", "x", "x", "y", "x", "y", "y", "x"],
        }
    )
    folder = tmp_path_factory.mktemp("data")
    pq.write_table(table, folder / "events.parquet")
    pacsv.write_csv(table, folder / "events.csv")
    for kind in "ABC":
        part = table.filter(pa.array([value == kind for value in table["type"].to_pylist()]))
        pq.write_table(part.drop_columns(["type"]), folder / f"{kind}.parquet")
    return folder


def cer(capsys, *arguments):
    """Exit status, standard output, standard error."""
    status = status_of([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def spawned(*arguments, **options):
    """The command as a process of its own, which is gone when the test is over.

    Under nohup the tests ignore SIGHUP, and so would the command: it begins with what a terminal gives it.
    """
    script = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); from cer_gpu.cli import main; main()"
    )
    command = [sys.executable, "-c", script, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return started(command, text=True, **pipes, **options)


EXPECTED = [
    {
        "start": start,
        "end": 3,
        "start_time": start,
        "end_time": 3,
        "marks": {"A": [start], "a": [start], "B": [3], "b": [3]},
    }
    for start in (0, 1)
]
BARE = [{name: value for name, value in line.items() if "_time" not in name} for line in EXPECTED]
"""The same without a column of time."""


def as_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def run_binary(capsysbinary, *arguments):
    status = status_of([str(argument) for argument in arguments])
    captured = capsysbinary.readouterr()
    return status, captured.out.decode(), captured.err.decode()


def test_an_engine_that_there_is_not(data, capsys):
    status, out, err = cer(capsys, "count", QUERY, data / "events.csv", "--engine", "fast")
    assert (status, out) == (4, "")
    assert "there is no engine `fast`: the engines are auto, regular, chain," in err


@pytest.mark.parametrize("name", ["events.parquet", "events.csv"])
def test_run(name, data, capsysbinary):
    status, out, err = run_binary(capsysbinary, "run", QUERY, data / name, "--order-by", "ts")
    assert (status, as_lines(out), err) == (0, EXPECTED, "")


def test_run_of_a_query_file_on_named_tables(data, tmp_path, capsysbinary):
    (tmp_path / "q.ceql").write_text(QUERY)
    named = [f"{kind}={data / kind}.parquet" for kind in "ABC"]
    status, out, _ = run_binary(capsysbinary, "run", f"@{tmp_path}/q.ceql", *named, "--order-by", "ts")
    assert (status, as_lines(out)) == (0, EXPECTED)


TIDY = "SELECT a[price], b WHERE A AS a ; B AS b FILTER a[price > 10] WITHIN 5 EVENTS"

TIDY_ROWS = [
    {"match": 0, "variable": "a", "position": 0, "row": 0, "time": 0, "price": 11.0},
    {"match": 0, "variable": "b", "position": 3, "row": 3, "time": 3, "price": None},
    {"match": 1, "variable": "a", "position": 1, "row": 1, "time": 1, "price": 12.0},
    {"match": 1, "variable": "b", "position": 3, "row": 3, "time": 3, "price": None},
]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_events_in_every_format(form, data, tmp_path, capsys):
    written = tmp_path / f"rows.{form}"
    arguments = ["run", TIDY, data / "events.parquet", "--order-by", "ts", "--events"]
    assert cer(capsys, *arguments, "-o", written) == (0, "", "")
    rows = {"jsonl": pajson.read_json, "csv": pacsv.read_csv, "parquet": pq.read_table}[form](written)
    assert rows.to_pylist() == TIDY_ROWS


def test_events_up_to_the_limit(data, capsys):
    arguments = ["run", TIDY, data / "events.parquet", "--order-by", "ts", "--events", "--limit", 1]
    status, out, error = cer(capsys, *arguments)
    assert (status, error) == (0, "warning: stopped at limit=1: there are more matches\n")
    assert [json.loads(line) for line in out.splitlines()] == TIDY_ROWS[:2]


def test_the_package_is_the_command(data):
    command = [sys.executable, "-m", "cer_gpu", "count", QUERY, str(data / "events.parquet")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2\n"


def test_partition_and_limit(data, capsysbinary):
    query = QUERY.replace("WITHIN", "PARTITION BY key WITHIN")
    status, out, err = run_binary(capsysbinary, "run", query, data / "events.parquet", "--limit", 1)
    assert status == 0
    assert as_lines(out) == [{**BARE[0], "partition": {"key": "x"}}]
    assert "stopped at limit=1: there are more matches" in err
    status, out, err = run_binary(capsysbinary, "run", query, data / "events.parquet", "--limit", 2)
    assert (status, len(as_lines(out)), err) == (0, 2, "")


def test_count_and_hits(data, capsysbinary):
    path = data / "events.parquet"
    assert run_binary(capsysbinary, "count", QUERY, path)[:2] == (0, "2\n")
    status, out, _ = run_binary(capsysbinary, "hits", QUERY, path, "--order-by=ts")
    assert (status, as_lines(out)) == (0, [{"position": 3, "time": 3, "latest_start": 1}])
    assert run_binary(capsysbinary, "hits", QUERY, path, "--format", "csv")[1].splitlines()[1] == "3,1"


def test_a_count_of_more_digits_than_python_prints(tmp_path, capsys):
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"type": ["A"] * 15_000 + ["B"]}), path)
    status, out, err = cer(capsys, "count", "SELECT a WHERE A+ AS a ; B", path)
    assert (status, len(out)) == (0, 4517)
    assert err.startswith("warning: there are about 10^4515 matches: SELECT MAX or NEXT")
    assert int(out[-10:]) == (2**15_000 - 1) % 10**9
    status, out, _ = cer(capsys, "count", "SELECT A WHERE A", path, "--memory", "9" * 5000)
    assert (status, out) == (0, "15000\n")


def test_output_file(data, tmp_path, capsysbinary):
    for name in ("out.parquet", "out.csv", "out.jsonl"):
        status, out, _ = run_binary(capsysbinary, "run", QUERY, data / "events.csv", "-o", tmp_path / name)
        assert (status, out) == (0, "")
    assert pq.read_table(tmp_path / "out.parquet").column("start").to_pylist() == [0, 1]
    assert as_lines((tmp_path / "out.jsonl").read_text()) == BARE
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.jsonl", "out.parquet"]
    status, _, err = run_binary(capsysbinary, "run", QUERY, data / "events.csv", "-o", "/nowhere/out.csv")
    assert status == 4
    assert "/nowhere/out.csv" in err


def test_explain(data, capsys):
    status, out, err = cer(capsys, "explain", QUERY)
    assert (status, err) == (0, "")
    assert out.strip() == cer_gpu.compile(QUERY).explain().strip()
    assert cer(capsys, "explain", QUERY, data / "events.csv")[0] == 0
    assert cer(capsys, "explain", QUERY.replace("price", "prize"), data / "events.csv")[0] == 1


def test_engine(data, capsys):
    equal = "SELECT * WHERE A AS a ; B AS b FILTER a.key = b.key"
    for command in ("run", "count", "hits"):
        chain = cer(capsys, command, equal, data / "events.csv", "--engine", "chain")
        assert chain == cer(capsys, command, equal, data / "events.csv")
        status, out, err = cer(capsys, command, QUERY, data / "events.csv", "--engine", "chain")
        assert (status, out) == (1, "")
        assert "error[CER091]: engine='chain' does not take this query: no filter compares two events" in err
    assert "engine      chain\n" in cer(capsys, "explain", equal, "--engine", "chain")[1]
    shown = cer(capsys, "explain", equal, "--engine", "chain", "--verbose")[1]
    assert "chain: takes it, and runs it" in shown
    assert cer(capsys, "count", QUERY, data / "events.csv", "--engine", "fast")[0] == 4


def test_check(data, capsys):
    assert cer(capsys, "check", QUERY) == (0, "ok\n", "")
    assert cer(capsys, "check", QUERY, data / "events.csv", "--order-by", "ts") == (0, "ok\n", "")
    wrong = "SELECT * WHERE A ; Bee FILTER A[prize > 3]"
    status, out, _ = cer(capsys, "check", wrong, data / "events.parquet")
    assert status == 1
    assert "`Bee`" in out
    assert "`price`" in out
    assert "^^^^^" in out
    assert "ok" not in out.splitlines()
    status, out, _ = cer(capsys, "check", "SELECT * WHERE (A")
    assert status == 1
    assert out.startswith("error[CER")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["count", "SELECT * WHERE", "DATA"], 1, "error[CER"),
        (["count", "SELECT * WHERE A FILTER A[prize > 3]", "DATA"], 1, "did you mean `price`"),
        (["count", QUERY, "missing.parquet"], 2, "missing.parquet: there is no such file"),
        (["count", QUERY, "DATA", "--order-by", "tss"], 2, "did you mean `ts`"),
        (["count", QUERY, "DATA", "A=x.csv"], 2, "give every path an event type"),
        (["count", QUERY, "A=DATA"], 2, "order_by"),
        (["count", QUERY, "DATA", "--order-by", "price"], 2, "price"),
        (["count", QUERY, "DATA", "--device", "cuda"], 4, "cuda"),
        (["count", QUERY, "DATA", "--memory", "lots"], 4, "`lots` is not a size"),
        (["count", QUERY, "DATA", "--sort"], 4, "--order-by"),
        (["count", QUERY, "DATA", "--ordered"], 4, "--order-by"),
        (["count", QUERY, "DATA", "--order-unit", "years"], 4, "order-unit"),
        (["count", "@missing.ceql", "DATA"], 4, "the query cannot be read from missing.ceql"),
        (["count"], 4, "Missing argument"),
        (["bogus"], 4, "No such command"),
    ],
)
def test_errors(arguments, status, message, data, capsys):
    filled = [each.replace("DATA", str(data / "events.parquet")) for each in arguments]
    found, out, err = cer(capsys, *filled)
    assert (found, out) == (status, "")
    assert message in err
    assert "Traceback" not in err


def test_limit_error_has_its_own_status(monkeypatch, data, capsys):
    def over(text):
        raise cer_gpu.LimitError("the automaton would need 10 states")

    monkeypatch.setattr(cer_gpu, "compile", over, raising=False)
    assert cer(capsys, "count", QUERY, data / "events.csv") == (
        3,
        "",
        "error: the automaton would need 10 states\n",
    )


def test_a_bug_is_not_hidden(monkeypatch, data, capsys):
    def broken(text):
        raise RuntimeError("a bug")

    monkeypatch.setattr(cer_gpu, "compile", broken, raising=False)
    status, _, err = cer(capsys, "count", QUERY, data / "events.csv")
    assert status == 4
    assert "Traceback" in err


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Events with some billion complex events for the query `A+`, more than anyone prints."""
    path = tmp_path_factory.mktemp("many") / "many.parquet"
    pq.write_table(pa.table({"type": ["A"] * 40}), path)
    return path


def test_reader_that_goes_away(many):
    with spawned("run", "SELECT * WHERE A AS a ; A+ AS b", many) as process:
        assert json.loads(process.stdout.readline())["end"] == 1
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_interrupted_while_writing(sent, status, many, tmp_path):
    with spawned("run", "SELECT * WHERE A+ AS a", many, "-o", "out.jsonl", cwd=tmp_path) as process:
        while not any(path.stat().st_size for path in tmp_path.iterdir()):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_warnings_are_a_line_of_their_own(data, capsys):
    status, out, err = cer(capsys, "count", "SELECT * WHERE A ; Bx", data / "events.parquet")
    assert (status, out) == (0, "0\n")
    assert err == "warning: no event has the type `Bx`: did you mean `B`?\n"


def test_a_result_is_not_written_over_its_input(data, capsys, tmp_path):
    path = tmp_path / "events.csv"
    path.write_bytes((data / "events.csv").read_bytes())
    before = path.read_bytes()
    status, _, err = cer(capsys, "run", QUERY, path, "-o", path)
    assert status == 4
    assert "is one of the inputs" in err
    assert path.read_bytes() == before


def test_a_name_that_says_no_format(data, capsys, tmp_path):
    status, _, err = cer(capsys, "run", QUERY, data / "events.parquet", "-o", tmp_path / "out.xlsx")
    assert status == 4
    assert "--format" in err
    assert not (tmp_path / "out.xlsx").exists()


def test_like_with_a_per_cent_sign_is_an_error(capsys):
    status, out, _ = cer(capsys, "check", "SELECT * WHERE A FILTER A[s LIKE 'AB%']")
    assert status == 1
    assert "error[CER107]" in out
    assert "`'^AB'`" in out
    assert "regular expression" in out


def test_check_reports_what_the_text_and_what_the_data_say_at_once(data, capsys):
    query = "SELECT * WHERE (A AS a ; B AS b FILTER x.price > 3 AND a.prize > 3)"
    status, out, _ = cer(capsys, "check", query, data / "events.parquet", "--order-by", "ts")
    assert status == 1
    assert [line[6:12] for line in out.splitlines() if line.startswith("error[")] == [
        "CER022",
        "CER021",
    ]


# ------------------------------------------------------------------------------------- how it behaves


@pytest.mark.parametrize("command", [(), ("run",), ("explain",)])
def test_the_short_option_for_help(command, capsys):
    status, out, _ = cer(capsys, *command, "-h")
    assert status == 0
    assert out.startswith(" ".join(("Usage: cer", *command)))


def test_words_are_completed_in_a_shell(data):
    typed = {"_CER_COMPLETE": "complete_bash", "COMP_WORDS": "cer ex", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "cer_gpu"], capture_output=True, text=True, env=os.environ | typed, check=False
    )
    assert done.stdout.split() == ["explain"]


@pytest.mark.parametrize("suffix", ["png", "PDF", "jpg"])
def test_pictures_that_are_not_drawn(suffix, tmp_path, capsys):
    picture = tmp_path / f"a.{suffix}"
    status, out, err = cer(capsys, "explain", QUERY, "-o", picture)
    assert (status, out) == (4, "")
    assert "drawn as SVG or Mermaid: name a file that ends in .svg or .mmd" in " ".join(err.split())
    assert not picture.exists()


@pytest.mark.parametrize("command", ["run", "hits", "explain"])
def test_a_folder_that_is_not_there_is_named_before_anything_runs(command, tmp_path, capsys):
    wrong = ["no query at all", tmp_path / "no_data.csv"] if command != "explain" else ["no query at all"]
    status, _, err = cer(capsys, command, *wrong, "-o", tmp_path / "missing" / "out.csv")
    assert status == 4
    assert "there is no folder" in err
    assert "missing; make it first" in " ".join(err.split())
    status, _, err = cer(capsys, command, *wrong, "-o", tmp_path)
    assert "is a folder: name a file in it" in " ".join(err.split())


def test_ids_stand_for_positions(data, tmp_path, capsysbinary):
    table, named = pq.read_table(data / "events.parquet"), tmp_path / "named.parquet"
    pq.write_table(table.append_column("id", pa.array(list("abcdefghi"))), named)
    _, out, _ = run_binary(capsysbinary, "run", QUERY, named, "--event-id", "id")
    assert [line["start"] for line in as_lines(out)] == ["abcdefghi"[line["start"]] for line in EXPECTED]
    _, out, _ = run_binary(capsysbinary, "hits", QUERY, named, "--event-id", "id")
    assert as_lines(out) == [{"position": "d", "latest_start": "b"}]


def test_results_on_a_terminal_are_a_table(data, monkeypatch):
    assert result_format(None, None) == "jsonl"
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: True))
    assert result_format(None, None) == "table"
    assert result_format(Format.csv, None) == "csv"
    assert result_format(None, str(data / "x.parquet")) == "parquet"


def test_check_takes_the_values_of_parameters(data, capsys):
    query = "SELECT * WHERE A AS a ; B AS b WITHIN $w"
    given = (data / "events.parquet", "--order-by", "ts")
    assert cer(capsys, "check", query, "--param", "w=5 EVENTS") == (0, "ok\n", "")
    assert cer(capsys, "check", query, *given, "--param", "w=5 EVENTS") == (0, "ok\n", "")
    status, out, _ = cer(capsys, "check", query, *given, "--param", "w=often")
    assert status == 1
    assert "`$w`" in out
    status, out, _ = cer(capsys, "check", query, "--param", "v=1")
    assert status == 1
    assert "the parameter `$w` has no value" in out
    assert "the query has no parameter `$v`" in out


def test_the_shell_completes_words():
    # Typer asks which shell started it; under a scheduler there is none.
    ran = subprocess.run(
        [sys.executable, "-m", "cer_gpu", "--show-completion", "bash"],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "complete -o default -F _cer_completion cer" in ran.stdout
    asked = {**os.environ, "_CER_COMPLETE": "complete_bash", "COMP_WORDS": "cer ex", "COMP_CWORD": "1"}
    told = subprocess.run(
        [sys.executable, "-m", "cer_gpu"], env=asked, capture_output=True, text=True, check=False
    )
    assert "explain" in told.stdout.split()


@pytest.mark.parametrize("form", ["", "d", ",", ">12", "012d", "+,", "x", "e", "<9"])
def test_a_count_is_formatted_as_a_number(form):
    for number in (0, 12, 1_234_567, 10**30):
        assert format(LargeCount(number), form) == format(number, form)


def test_a_count_of_many_digits_is_formatted():
    number = LargeCount(10**5000)
    assert f"{number:,}" == "100" + ",000" * 1666
    assert f"{number:>6000}" == " " * 999 + "1" + "0" * 5000
