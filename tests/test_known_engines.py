"""The pages on Flink CEP and Esper: translations find what these engines find, where jars can be had."""

import subprocess

import pages
import pyarrow as pa
import pyarrow.csv
import pytest

import cer_gpu as cer
from bench.rivals.jvm import DRIVERS, compiled, is_kept, jars_of, started

pytestmark = pytest.mark.usefixtures("short_lived_java")

EVENTS = pa.table(
    {
        "ts": [0, 1000, 2000, 3000, 5000, 6000, 6500, 8000, 8200, 9000, 11000, 12000],
        "type": ["A", "A", "B", "A", "B", "B", "C", "A", "B", "C", "A", "C"],
        "key": [1, 2, 1, 1, 2, 1, 1, 2, 1, 2, 1, 2],
        "price": [5.0, 20.0, 12.0, 11.0, 30.0, 9.0, 1.0, 2.0, 3.0, 4.0, 50.0, 6.0],
    }
)

ESPER = {
    "every a=A -> b=B": "SELECT a, b WHERE A AS a : (NOT (B)) :{0,} : B AS b",
    "every a=A -> every b=B": "SELECT a, b WHERE A AS a ; B AS b",
    "every a=A and every b=B": "SELECT a, b WHERE A AS a ALL B AS b",
    "every (a=A or b=B)": "SELECT a, b WHERE A AS a OR B AS b",
    "every a=A -> (every b=B and not C)": "SELECT a, b WHERE (A AS a ; B AS b) UNLESS C",
    "every a=A -> (timer:interval(2 sec) and not B)": "SELECT a WHERE A AS a NOT FOLLOWED BY [< 2 s] B",
    "every a=A -> (every b=B) where timer:within(2 sec)": "SELECT a, b WHERE (A AS a ; B AS b) WITHIN [< 2 s]",  # noqa: E501
    "every (a=A until b=B)": "SELECT MAX a, b WHERE (A + AS a) ? ; B AS b CONSUME BY ANY",
    "every a=A(price > 10)": "SELECT a WHERE A AS a FILTER a[price > 10]",
    "every a=A -> every b=B(price > a.price)": "SELECT a, b WHERE A AS a ; B AS b FILTER b.price > a.price",
}

FLINK = {
    "where": "SELECT a WHERE A AS a FILTER a[price > 10]",
    "next": "SELECT a, b WHERE A AS a : B AS b",
    "followedBy": "SELECT a, b WHERE A AS a : (NOT (B)) :{0,} : B AS b",
    "followedByAny": "SELECT a, b WHERE A AS a ; B AS b",
    "keyBy": "SELECT a, b WHERE A AS a ; B AS b PARTITION BY key",
    "notNext": "SELECT a, c WHERE (A AS a : NOT (B)) ; C AS c OR A AS a : C AS c",
    "notFollowedBy": "SELECT a, b WHERE (A AS a ; B AS b) UNLESS C",
    "notFollowedBy.within": "SELECT a WHERE A AS a NOT FOLLOWED BY [< 2 s] B",
    "consecutive": "SELECT a, b WHERE A :+ AS a ; B AS b",
    "times": "SELECT a WHERE A :{2} AS a",
    "timesOrMore": "SELECT a, b WHERE A :{2,} AS a : B AS b",
    "combinations": "SELECT a, b WHERE A + AS a ; B AS b",
    "optional": "SELECT a, b, c WHERE A AS a : (B AS b) ? : C AS c",
    "or": "SELECT a, c WHERE (A OR B) AS a : C AS c",
    "iterative": "SELECT a, b WHERE A AS a ; B AS b FILTER b.price > a.price",
    "within": "SELECT a, b WHERE (A AS a ; B AS b) WITHIN [< 2 s]",
    "skipPastLastEvent": "SELECT NEXT a, b WHERE A AS a ; B AS b CONSUME BY ANY",
}


def ours(text):
    times = EVENTS["ts"].to_pylist()
    found = cer.compile(text).run(EVENTS, order_by="ts", order_unit="ms")
    named = ({name: at for name, at in one.marks.items() if name.islower() and at} for one in found)
    return sorted(sorted((name, [times[place] for place in at]) for name, at in one.items()) for one in named)


def theirs(engine, name, asked, folder, events=EVENTS):
    """What a program of `tests/known` lists for each question."""
    if not is_kept(engine):
        pytest.skip(f"no jars of {engine}: `python -m bench --quick rivals` fetches them; it needs a JDK")
    pyarrow.csv.write_csv(events, folder / "events.csv", pyarrow.csv.WriteOptions(quoting_style="none"))
    sources = [*(DRIVERS / f"{one}.java" for one in ("Event", "Driver"))]
    sources.append(pages.ROOT / "tests" / "known" / f"{name}.java")
    jars = jars_of(engine)
    command = started(name, compiled(sources, jars), jars, str(folder / "events.csv"))
    done = subprocess.run(command, input="\n".join(asked) + "\n", capture_output=True, text=True, check=False)
    found, lists = [], []
    for line in done.stdout.splitlines():
        if line.startswith("match"):
            parts = (part.split("=") for part in line.split()[1:])
            found.append(
                sorted((key, [int(one) for one in times.split("+")]) for key, times in parts if times)
            )
        elif line.startswith("answer"):
            lists.append(sorted(found))
            found = []
    assert len(lists) == len(asked), done.stderr[-2000:]
    return lists


def test_esper(tmp_path):
    asked = [f"select * from pattern [{text}]" for text in ESPER]
    for text, found in zip(ESPER, theirs("esper", "EsperKnown", asked, tmp_path), strict=True):
        assert found == ours(ESPER[text]), text
        assert found, text


def test_flink(tmp_path):
    for text, found in zip(FLINK, theirs("flink-cep", "FlinkKnown", FLINK, tmp_path), strict=True):
        assert found == ours(FLINK[text]), text
        assert found, text


def test_relaxed_iteration_of_flink(tmp_path):
    """It skips what does not match, and gives every run that begins at each A: six, as the page says."""
    runs = pa.table({"ts": [0, 1, 2, 3, 4], "type": list("AAXAB"), "key": [1] * 5, "price": [1.0] * 5})
    [found] = theirs("flink-cep", "FlinkKnown", ["relaxed"], tmp_path, runs)
    wanted = [[0], [0, 1], [0, 1, 3], [1], [1, 3], [3]]
    assert sorted(marks for match in found for name, marks in match if name == "a") == wanted
