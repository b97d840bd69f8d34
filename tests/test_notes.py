"""What a run has noticed: as warnings once, and in `Matches.notes`."""

from __future__ import annotations

import inspect
import json
import math
import pydoc
import warnings
from collections.abc import Iterator

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run import bound_query, chunks

EVENTS = pa.table(
    {
        "type": list("ABABBA"),
        "k": ["x", None, "y", "y", "x", None],
        "stream": list("SSSSRR"),
        "price": [1.0, 2, 3, 4, 5, 6],
        "ts": range(6),
    }
)


@pytest.fixture
def warned() -> Iterator[list[str]]:
    """What is warned of meanwhile."""
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: found.append(str(message))
        yield found


def run(text: str, **keywords: object) -> Matches:
    found = cer.compile(text).run(EVENTS, order_by="ts", **keywords)
    found.to_arrow()
    return found


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("A ; B PARTITION BY k", "2 events have no `k`: they belong to no partition, and were skipped"),
        (
            "B : A PARTITION BY k, price",
            "2 events have no value in a part of the key, which is `k`, `price`: they",
        ),
        ("A ; b", "no event has the type `b`: there is `B`, and names are case-sensitive"),
        ("A ; Aa", "no event has the type `Aa`: there is"),
        ("A AND B", "no match is possible; `p AND q` keeps matches of p that are also matches of q"),
        ("A AS a FILTER a[price IN {5..3}]", "the range is empty"),
        ("A NOT FOLLOWED BY B WITHIN 2 EVENTS", "WITHIN has no effect here: each match is one event"),
    ],
)
def test_what_is_noticed_is_warned_of_and_kept(text: str, note: str, warned: list[str]) -> None:
    found = run(f"SELECT * FROM S WHERE {text}")
    said = found.notes
    assert any(one.startswith(note.removesuffix(": there is")) for one in said), said
    assert warned == list(said[:-1])
    assert said[-1].startswith("ran on cpu: ")
    assert list(found) is not None
    assert warned == list(found.notes[:-1])


def test_a_warning_points_at_the_line_that_asked() -> None:
    query = cer.compile("SELECT * WHERE a ; B")
    asked = [
        lambda: query.count(EVENTS),
        lambda: query.hits(EVENTS),
        lambda: query.run(EVENTS).to_arrow(),
        lambda: list(query.run(EVENTS)),
        lambda: query.run(EVENTS).batches().read_all(),
    ]
    for ask in asked:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ask()
        assert [(one.filename, one.lineno) for one in found] == [(__file__, ask.__code__.co_firstlineno)]


@pytest.mark.parametrize("clause", ["WITHIN 5 [t]", "PARTITION BY k"])
def test_so_does_a_warning_of_another_thread(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bound_query, chunks):
        monkeypatch.setattr(module, "CHUNK", 50)
    monkeypatch.setattr(bound_query, "BATCH", 50)
    values = [float(at) for at in range(600)]
    values[75] = math.nan
    events = pa.table({"type": ["A", "B"] * 300, "t": range(600), "k": [0] * 600, "x": values})
    query = cer.compile(f"SELECT * WHERE A AS a ; B FILTER a[NOT (x > 300)] {clause}")

    def ask() -> None:
        query.hits(events, order_by="t")

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ask()
    assert [(one.filename, one.lineno) for one in found] == [(__file__, ask.__code__.co_firstlineno + 1)]


@pytest.mark.parametrize(
    ("pattern", "number"),
    [("A : B", 2), ("A ; B", 2), ("B : A", 2), ("(A AS a FILTER a[price > 5]) : B", 2),
     ("NOT (A) : B", 2), ("A UNLESS C", 1), ("A : NOT (B)", 2)],
)  # fmt: skip
def test_only_events_that_might_matter_are_said_to_be_skipped(
    pattern: str, number: int, warned: list[str]
) -> None:
    """Those that are nothing of what the pattern asks stand between others at most, and not without a key."""
    others = pa.table(
        {"type": ["X", "X"], "k": [None, "x"], "stream": ["S", "R"], "price": [1.0, 2], "ts": [6, 7]}
    )
    events = pa.concat_tables([EVENTS, others.cast(EVENTS.schema)])
    cer.compile(f"SELECT * WHERE {pattern} PARTITION BY k").run(events, order_by="ts").to_arrow()
    skipped = "event has" if number == 1 else "events have"
    assert next(one for one in warned if "skipped" in one).startswith(f"{number} {skipped} no `k`")
    cer.compile(f"SELECT * FROM S WHERE {pattern}").run(events, stream_column="stream").to_arrow()
    assert all("3 events were skipped" not in one for one in warned)


def test_an_event_with_two_alternatives_of_a_key(warned: list[str]) -> None:
    both = pa.table({"type": list("ABAB"), "a": [1, 1, None, None], "b": [2, None, 3, 3]})
    query = cer.compile("SELECT * WHERE A ; B PARTITION BY [a, b]")
    said = "some events have both `a` and `b`, with different values: PARTITION BY [a, b] takes the first"
    assert query.count(both) == 2
    assert len([text for text in warned if text.startswith(said)]) == 1
    warned.clear()
    alike = pa.table({"type": list("AB"), "a": ["x", "x"], "b": ["x", None]})
    assert query.count(alike) == 1
    assert not warned


def test_events_of_other_streams(warned: list[str]) -> None:
    run("SELECT * FROM S WHERE A ; B PARTITION BY k", stream_column="stream")
    assert warned == [
        "1 event has no `k`: it belongs to no partition, and was skipped",
        "2 events were skipped, of streams that FROM does not name",
    ]
    assert len(run("SELECT * FROM S, R WHERE A ; B", stream_column="stream").notes) == 1


def test_what_many_mean_is_no_warning(warned: list[str]) -> None:
    found = run("SELECT * FROM S WHERE A AS a ; A AS a")
    assert (
        found.notes[0]
        == "`a` is on both sides of `;`: it marks events on both sides; to tell them apart use two names"
    )
    assert not warned


def test_a_limit_is_said_but_not_that_of_a_look(warned: list[str]) -> None:
    query = cer.compile("SELECT * FROM S WHERE A ; B")
    found = query.run(EVENTS, order_by="ts", limit=2)
    repr(found)
    found.first()
    found.head(1).to_arrow()
    assert not warned
    found.to_arrow()
    assert warned == ["stopped at limit=2: there are more matches"]
    assert found.notes[0] == warned[0]
    assert len(query.run(EVENTS, order_by="ts", limit=5).events()) == 10
    assert len(warned) == 1


def test_notes_of_a_push_are_its_own(warned: list[str]) -> None:
    with cer.compile("SELECT * FROM S WHERE A ; B").stream(order_by="ts", limit=1) as stream:
        first, second = stream.push(EVENTS.slice(0, 4)), stream.push(EVENTS.slice(4, 1))
        assert [len(list(one)) for one in (first, second)] == [1, 1]
        assert first.notes[:-1] == ("stopped at limit=1: there are more matches",)
        third = stream.push(EVENTS.slice(5))
        assert third.notes[:-1] == ()


def test_large_counts_print(warned: list[str]) -> None:
    events = pa.table({"type": ["A"] * 16000 + ["B"]})
    found = cer.compile("SELECT * WHERE A+ ; B").count(events)
    assert found + 1 == 2**16000
    text = str(found)
    assert text == repr(found) == f"{found}"
    assert len(text) == 4817
    assert text.startswith("30194")
    assert (int(text[-9:]) + 1) % 10**9 == pow(2, 16000, 10**9)
    assert warned[0].startswith("there are about 10^4816 matches: SELECT MAX or NEXT keeps")


def test_ordinary_counts_are_plain_numbers(warned: list[str]) -> None:
    found = cer.compile("SELECT * WHERE A+ ; B").count(pa.table({"type": ["A"] * 90 + ["B"]}))
    assert (type(found), json.dumps(found)) == (int, str(2**90 - 1))
    assert not warned


# ------------------------------------------------------------------------------------ help and signatures

WORDS = ("order_by", "type_column", "device", "limit", "memory", "engine", "event_id")


@pytest.mark.parametrize("name", ["run", "count", "counts", "hits", "stream", "explain", "check"])
def test_signatures_spell_out_their_keywords(name: str) -> None:
    keywords = inspect.signature(getattr(cer.Query, name)).parameters
    assert set(WORDS) <= keywords.keys()
    assert ("sort" in keywords) == (name != "stream")
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in keywords.values())
    assert keywords["order_by"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("name", ["run", "count", "hits", "run_files", "counts_files"])
def test_signatures_on_spark_do_so_too(name: str) -> None:
    from cer_gpu import spark

    keywords = inspect.signature(getattr(spark, name)).parameters
    assert {"order_by", "event_id", "memory", "engine"} <= keywords.keys()
    assert ("limit" in keywords) == name.startswith("run")
    assert ("spark" in keywords) == name.endswith("_files")
    assert "keywords" not in keywords


def test_help_opens_with_a_page() -> None:
    page = pydoc.plain(pydoc.render_doc(cer))
    first = page[: page.index("PACKAGE CONTENTS")]
    assert all(word in first for word in ("cer.compile(", "q.hits(events)", "order_by=", "LimitError"))
    assert len(first.splitlines()) < 45
