"""FOLLOWED BY, PRECEDED BY and their negations: every way to run them agrees with the reference."""

from __future__ import annotations

import warnings
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import check
from generate import pattern, query_around, stream
from random_besides import with_besides
from random_formulas import formula
from test_engine_selection import tiny_pieces  # noqa: F401

import cer_gpu as cer
from cer_gpu.engine.run import bound_query
from cer_gpu.errors import LimitError
from cer_gpu.language import tree

SEEDS, QUERIES = 3, 15


def agree(seed: str) -> None:
    answered, refused = 0, 0
    for number in range(QUERIES):
        rng = Random(f"{seed} {number}")
        inner = formula(rng, 1) if number % 3 == 0 else pattern(rng, atoms=3)
        strategy = rng.choice(list(tree.Strategy)) if rng.random() < 0.3 else tree.Strategy.ALL
        query = query_around(rng, with_besides(rng, inner), strategy)
        events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:  # some random automata are over the budget
                refused += 1
    assert answered >= QUERIES // 6
    assert refused <= QUERIES // 4


@pytest.mark.draws("seed", SEEDS)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"beside {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", SEEDS)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"beside in pieces {seed}")


# ------------------------------------------------------------------------------- when a stream gives answers


def rows(*events: tuple[str, int, str]) -> pa.Table:
    """Events of a type, at a time, of a user."""
    types, times, users = zip(*events, strict=True)
    return pa.table({"type": types, "ts": pa.array(times, pa.int64()), "user": users})


def pushed_ends(stream: cer.Stream, *events: tuple[str, int, str]) -> list[int]:
    return [ce.end for ce in stream.push(rows(*events))]


def test_an_answer_is_given_when_time_has_passed() -> None:
    stream = cer.compile("SELECT * WHERE On NOT FOLLOWED BY [<= 5] Off").stream(order_by="ts")
    assert pushed_ends(stream, ("On", 0, "u"), ("On", 1, "u")) == []
    assert pushed_ends(stream, ("Other", 5, "u")) == []  # an Off at the same time may come
    assert pushed_ends(stream, ("Other", 6, "u")) == [0]
    assert pushed_ends(stream, ("Off", 6, "u"), ("On", 6, "u"), ("On", 20, "u")) == [5]
    last = stream.close()
    assert last is not None
    assert [ce.end for ce in last] == [6]
    assert stream.close() is None


def test_an_answer_is_given_as_soon_as_something_follows() -> None:
    stream = cer.compile("SELECT * WHERE On FOLLOWED BY Off PARTITION BY user").stream(order_by="ts")
    assert pushed_ends(stream, ("On", 0, "u"), ("On", 1, "v"), ("On", 2, "u")) == []
    assert pushed_ends(stream, ("Off", 900, "v")) == [1]
    assert pushed_ends(stream, ("Off", 901, "u"), ("Off", 902, "u")) == [0, 2]
    last = stream.close()
    assert last is not None
    assert list(last) == []


@pytest.mark.parametrize("reach", ["[<= 5]", "[<= 1 EVENTS]"])
def test_of_partitions_each_has_its_own_time(reach: str) -> None:
    query = cer.compile(f"SELECT * WHERE On NOT FOLLOWED BY {reach} Off PARTITION BY user")
    stream = query.stream(order_by="ts")
    assert pushed_ends(stream, ("On", 0, "u"), ("On", 1, "v")) == []
    assert pushed_ends(stream, ("Other", 50, "u"), ("Other", 60, "u")) == [0]
    counts = "EVENTS" in reach  # the next event of v is two places on
    assert pushed_ends(stream, ("On", 4, "v")) == [1] * counts
    assert pushed_ends(stream, ("Other", 7, "v")) == [4 if counts else 1]


def test_of_a_stream_that_is_in_order_every_partition_is_decided() -> None:
    query = cer.compile("SELECT * WHERE On NOT FOLLOWED BY [<= 5] Off PARTITION BY user")
    stream = query.stream(order_by="ts", ordered=True)
    assert pushed_ends(stream, ("On", 0, "u"), ("On", 1, "v")) == []
    assert pushed_ends(stream, ("Other", 6, "w")) == [0]
    assert pushed_ends(stream, ("Other", 7, "w")) == [1]


def test_a_stream_that_got_nothing_ends_with_nothing() -> None:
    assert cer.compile("SELECT * WHERE A NOT FOLLOWED BY B").stream(order_by="ts").close() is None


def test_what_consumes_is_known_in_the_order_of_the_stream() -> None:
    """The On at 0 is only decided at 9; that of v, later, may not drop it before."""
    query = cer.compile("SELECT * WHERE Go ; On NOT FOLLOWED BY [<= 8] Off PARTITION BY user CONSUME BY ANY")
    events = rows(
        ("Go", 0, "u"), ("Go", 0, "v"), ("On", 0, "u"), ("On", 1, "v"), ("Other", 30, "v"), ("Other", 31, "u")
    )
    wanted = [ce.end for ce in query.run(events, order_by="ts")]
    stream = query.stream(order_by="ts")
    found = [ce.end for at in range(len(events)) for ce in stream.push(events.slice(at, 1))]
    assert found == wanted == [2]


# -------------------------------------------------------------------------------------- what is said


def test_a_log_on_without_a_log_off() -> None:
    hours = [0, 1, 2, 9, 10, 11]
    events = pa.table(
        {
            "type": ["Logon", "Logon", "Logoff", "Logoff", "Logon", "Logon"],
            "user": ["ann", "bob", "ann", "bob", "ann", "bob"],
            "ts": pa.array([hour * 3_600_000 for hour in hours], pa.timestamp("ms")),
        }
    )
    text = "SELECT * WHERE Logon NOT FOLLOWED BY [<= 7 h] Logoff PARTITION BY user"
    found = cer.compile(text).run(events, order_by="ts")
    assert [(ce.start, ce.partition) for ce in found] == [(1, ("bob",)), (4, ("ann",)), (5, ("bob",))]


def test_explain_says_what_is_derived_and_what_waits() -> None:
    told = cer.compile(
        "SELECT * WHERE A NOT FOLLOWED BY [<= 5 s] (B ; C) PRECEDED BY [>= 2 EVENTS] D"
    ).explain(verbose=True)
    lines = told[told.index("looks") : told.index("partitions")].splitlines()
    assert [line.strip() for line in lines] == [
        "looks       FOLLOWED BY [<= 5 s] B ; C",
        "a derived column of bits, by one pass of the CPU over 2 kinds of events that make it and 1 kind "
        "that read it;",
        "an event that reads it is held back until the bit is known: a match is found, or the interval "
        "is over",
        "PRECEDED BY [>= 2 EVENTS] D",
        "a derived column of bits, by one pass of the CPU over 1 kind of events that make it and 1 kind "
        "that read it;",
        "it keeps the latest start in each state of its automaton, and those that are too near",
    ]
    assert "`close` reports the rest" in told


def test_what_comes_may_be_earlier_in_another_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 2)
    times = pa.array([7, 7, 8, 1, 2, 3])
    table = pa.table({"type": list("ACBACC"), "ts": times, "k": list("aaabbb")})
    query = cer.compile("SELECT * WHERE A NOT FOLLOWED BY [<= 2] B PARTITION BY k")
    assert query.hits(table, order_by="ts", order_unit="s")["position"].to_pylist() == [3]


def test_a_count_holds_back_only_what_waits_itself() -> None:
    """Of 99 users each On is followed by an Off; the one On of the last user is not, and comes first."""
    users = ["last", *(f"user {row // 2 % 99}" for row in range(40_000))]
    types = ["On", *("On", "Off") * 20_000]
    events = pa.table({"type": types, "user": users, "ts": range(40_001)}).to_reader(max_chunksize=500)
    query = cer.compile("SELECT * WHERE On FOLLOWED BY Off PARTITION BY user")
    assert query.count(events, order_by="ts", memory=200_000) == 20_000


def test_too_much_that_waits_is_an_error_where_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_query, "BATCH", 1000)
    events = pa.table({"type": ["A"] * 20_000, "ts": range(20_000)})
    query = cer.compile("SELECT * WHERE A FOLLOWED BY B")
    with pytest.warns(UserWarning, match="no event has the type `B`"):
        assert query.count(events, order_by="ts") == 0
    with pytest.raises(cer.LimitError, match=r"`FOLLOWED BY B` keeps [\d,]+ bytes .* wait"):
        query.count(events, order_by="ts", memory=400_000)
    near = cer.compile("SELECT * WHERE A NOT FOLLOWED BY [<= 9] B")
    assert near.count(events, order_by="ts", memory=400_000) == 20_000


# -------------------------------------------------------------------------------- the units of intervals


HALVES = [0, 1, 1, 4, 6, 7, 12]
"""Times of A B A B A B A, in halves of a unit."""


def in_halves(kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind):
        return pa.array([half / 2 for half in HALVES], kind)
    return pa.array([half * 500 for half in HALVES], pa.int64()).cast(kind)


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (pa.timestamp("ms"), "{} s"),
        (pa.timestamp("ms"), "{}000 ms"),
        (pa.duration("ms"), "{} s"),
        (pa.float64(), "{}"),
        (pa.float32(), "{}"),
        (pa.int64(), "{}000"),
    ],
    ids=str,
)
def test_intervals_are_in_the_units_of_the_time(kind: pa.DataType, written: str) -> None:
    """From an A the next B is 0.5, 1.5 and 0.5 units away, and none follows the last."""
    table = pa.table({"type": list("ABABABA"), "ts": in_halves(kind)})

    def ends(text: str) -> list[int]:
        query = cer.compile(f"SELECT * WHERE {text.replace('one', written.format(1))}")
        return [ce.end for ce in query.run(table, order_by="ts")]

    assert ends("A FOLLOWED BY [<= one] B") == [0, 4]
    assert ends("A NOT FOLLOWED BY [<= one] B") == [2, 6]
    assert ends("A FOLLOWED BY [> one] B") == [0, 2]
    assert ends("B PRECEDED BY [>= one] A") == [3, 5]
    assert ends("B NOT PRECEDED BY [< one] A") == [3]


def test_a_bound_that_a_time_meets_exactly() -> None:
    table = pa.table({"type": ["A", "B", "A", "B"], "ts": [0.0, 0.1, 1.0, 1.3]})
    for text, wanted in (("[<= 0.1]", [0]), ("[< 0.1]", []), ("[>= 0.1, < 0.3]", [0]), ("[> 0.1]", [0, 2])):
        found = cer.compile(f"SELECT * WHERE A FOLLOWED BY {text} B").run(table, order_by="ts")
        assert [ce.end for ce in found] == wanted, text


def test_times_far_apart_and_negative() -> None:
    table = pa.table({"type": list("ABAB"), "ts": [-(2**63), -1, 0, 2**63 - 1]})
    assert cer.compile(f"SELECT * WHERE A FOLLOWED BY [<= {2**63 - 1}] B").count(table, order_by="ts") == 2
    assert cer.compile(f"SELECT * WHERE A FOLLOWED BY [<= {2**63 - 2}] B").count(table, order_by="ts") == 0
    assert cer.compile(f"SELECT * WHERE B PRECEDED BY [> {2**63 - 1}] A").count(table, order_by="ts") == 1
