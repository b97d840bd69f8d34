"""The threads of the process: shared by all queries, counted by the cores there are, and ended by Ctrl-C."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import compiled_bodies as bodies
import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu import progress
from cer_gpu.compiling.loader import GOES_ON, HaltedError, words
from cer_gpu.cores import granted_cores, usable_cores
from cer_gpu.engine import workers as module
from cer_gpu.engine.workers import FEW, NAME, Workers
from cer_gpu.progress import Progress


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(NAME)]


def test_a_hundred_queries_share_the_threads() -> None:
    rng = np.random.default_rng(3)
    events = pa.table({"type": rng.choice(["A", "B", "C"], 300_000)})
    queries = [cer.compile(f"SELECT * WHERE A ; B WITHIN {width} EVENTS") for width in range(1, 101)]
    before = len(ours())  # other tests of this process may have asked for more
    found = [query.count(events) for query in queries]
    assert found == sorted(found)
    assert len(ours()) == max(before, usable_cores())


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_at_first(item: int) -> int:
        time.sleep(0.01 if item < 3 else 0)
        return item * item

    assert Workers(4).map("testing", slow_at_first, range(40)) == [item * item for item in range(40)]
    for events in (0, FEW + 1):  # nothing to do is done at once, however much it was said to be
        assert Workers(4).map("testing", slow_at_first, [], events) == []
    assert list(Workers(2).ahead("testing", iter(range(5)))) == list(range(5))


def test_a_single_item_with_few_events_stays_in_the_thread_of_the_caller() -> None:
    def where(_: object) -> str:
        return threading.current_thread().name

    caller = threading.current_thread().name
    assert Workers(2).map("testing", where, [0], FEW) == [caller]
    for found in (
        Workers(2).map("testing", where, [0], FEW + 1),
        Workers(1).map("testing", where, range(3)),
        list(Workers(2).ahead("testing", map(where, range(3)))),
    ):
        assert all(name.startswith(NAME) for name in found)


def test_the_next_item_is_made_while_one_is_used() -> None:
    made: list[str] = []

    def items() -> Iterator[int]:
        for item in range(4):
            made.append(threading.current_thread().name)
            yield item
        raise ValueError("no fifth item")

    used = Workers(2).early(items())
    for expected in range(4):
        assert next(used) == expected
        deadline = time.monotonic() + 10
        while len(made) < min(expected + 2, 4) and time.monotonic() < deadline:
            time.sleep(0.001)  # the next one is made meanwhile
        assert len(made) == min(expected + 2, 4)
    with pytest.raises(ValueError, match="no fifth"):
        next(used)
    assert made[0] == threading.current_thread().name
    assert all(name.startswith(NAME) for name in made[1:])
    assert list(Workers(1).early(iter(range(3)))) == [0, 1, 2]


def test_who_stops_early_leaves_nothing_running() -> None:
    ended = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            ended.set()

    used = Workers(2).early(items())
    assert next(used) == 0
    used.close()
    assert ended.is_set()
    ended.clear()
    # Whoever makes items of others ends the making of those, even if no thread has begun with the next one.
    used = Workers(2).early(-item for item in Workers(2).early(items()))
    assert next(used) == 0
    used.close()
    assert ended.is_set()


def test_items_are_made_early_in_threads_that_all_wait_for_some() -> None:
    done: list[list[list[int]]] = []

    def use(number: int) -> list[int]:
        return list(Workers(2).early(iter(range(number))))

    caller = threading.Thread(
        target=lambda: done.append(Workers(2).map("testing", use, range(2, 20))), daemon=True
    )
    caller.start()
    caller.join(20)
    assert done == [[list(range(number)) for number in range(2, 20)]]


def test_items_are_made_early_of_items_that_are_made_early() -> None:
    """More callers than threads: threads wait for items that other threads make."""
    callers = 3 * usable_cores()
    found: list[list[int]] = []

    def slow(number: int) -> Iterator[int]:
        for item in range(number):
            time.sleep(0.001)
            yield item

    def use() -> None:
        inner = Workers(2).early(slow(20))
        found.append(list(Workers(2).early(item * item for item in inner)))

    threads = [threading.Thread(target=use, daemon=True) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert found == [[item * item for item in range(20)]] * callers


def test_some_are_computed_while_others_are_made() -> None:
    made: list[int] = []

    def items(number: int) -> Iterator[int]:
        for item in range(number):
            made.append(item)
            yield item

    def slow_at_first(item: int) -> int:
        time.sleep(0.02 if item < 3 else 0)
        return item * item

    for threads in (1, 2, 4):
        made.clear()
        found = Workers(threads).abreast("testing", slow_at_first, items(30), lambda item: item == 20)
        for expected in range(30):
            assert next(found) == expected * expected
            ahead = 0 if expected == 20 else 2 * threads
            assert len(made) <= expected + ahead + 1
        assert next(found, None) is None
    assert list(Workers(2).abreast("testing", slow_at_first, [], bool)) == []


def test_an_error_of_one_that_is_computed_beside_others_ends_them() -> None:
    count = np.zeros(1, np.int64)

    def run(item: int) -> None:
        if item == 0:
            while not count[0]:
                time.sleep(0.001)
            raise ValueError("the first item")
        bodies.until_halted(count)

    with pytest.raises(ValueError, match="the first item"):
        list(Workers(2).abreast("testing", run, range(2), lambda item: False))
    assert words.halt is GOES_ON
    stopped = Workers(2).abreast("testing", lambda item: item, range(100), lambda item: False)
    assert next(stopped) == 0
    stopped.close()
    assert Workers(2).map("testing", lambda item: item, range(3)) == [0, 1, 2]


def test_work_inside_of_work() -> None:
    """Threads of the pool that ask for work themselves do not wait for one another."""
    workers = Workers(2)

    def outer(item: int) -> int:
        return sum(workers.map("inner", lambda part: item * part, range(10), FEW + 1))

    assert workers.map("outer", outer, range(20)) == [45 * item for item in range(20)]


def test_many_threads_ask_at_once() -> None:
    workers, found = Workers(2), {}

    def ask(number: int) -> None:
        found[number] = workers.map("testing", lambda item: item + number, range(50))

    askers = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == {number: [item + number for item in range(50)] for number in range(20)}


def test_an_error_ends_the_others_and_is_raised() -> None:
    count = np.zeros(1, np.int64)

    def run(item: int) -> None:
        if item == 1:
            while not count[0]:
                time.sleep(0.001)
            raise ValueError("the second item")
        bodies.until_halted(count)

    with pytest.raises(ValueError, match="the second item"):
        Workers(2).map("testing", run, range(2))
    assert words.halt is GOES_ON


def test_an_interrupted_caller_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are told to end, and have ended, when the exception leaves `map`."""
    count = np.zeros(1, np.int64)
    ended = []

    def run(_: int) -> None:
        try:
            bodies.until_halted(count)
        except HaltedError:
            ended.append(threading.current_thread().name)
            raise

    def interrupted(*_: object) -> None:
        if count[0]:
            raise KeyboardInterrupt

    bodies.until_halted.py_func(count, np.ones(1, np.uint8))
    monkeypatch.setattr(module, "STEP_S", 0.01)
    monkeypatch.setattr(module.progress, "show", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Workers(2).map("testing", run, range(10))
    assert 1 <= len(set(ended)) <= 2
    assert len(ended) == len(set(ended)), "no further item was begun"
    assert words.halt is GOES_ON
    assert Workers(2).map("testing", abs, range(-3, 3)) == [3, 2, 1, 0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert Workers(2).map("testing", abs, range(-3, 3)) == [3, 2, 1, 0, 1, 2]
    child = os.fork()
    if not child:
        done = Workers(2).map("testing", abs, range(-3, 3)) == [3, 2, 1, 0, 1, 2]
        os._exit(0 if done else 1)
    for _ in range(1000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        pytest.fail("the forked process waits for threads that it does not have")
    assert status == 0


# ----------------------------------------------------------------------------------------- cores


def machine(root: Path, groups: str, files: dict[str, str]) -> Path:
    """A machine's `proc` and `sys` with some control groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


V1 = "cpu,cpuacct"


@pytest.mark.parametrize(
    ("groups", "files", "granted"),
    [
        ("0::/\n", {}, None),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "200000 100000\n"}, 2.0),
        ("0::/a/b\n", {"a/b/cpu.max": "50000 100000\n", "a/cpu.max": "200000 100000\n"}, 0.5),
        # A container that is told the machine's path, which it does not have.
        ("0::/system.slice/box\n", {"cpu.max": "300000 100000\n"}, 3.0),
        (f"4:{V1}:/\n", {f"{V1}/cpu.cfs_quota_us": "-1\n", f"{V1}/cpu.cfs_period_us": "100000\n"}, None),
        (f"4:{V1}:/\n", {f"{V1}/cpu.cfs_quota_us": "250000\n", f"{V1}/cpu.cfs_period_us": "100000\n"}, 2.5),
        (
            "4:cpu:/x\n0::/\n",
            {"cpu/x/cpu.cfs_quota_us": "100000\n", "cpu/x/cpu.cfs_period_us": "50000\n"},
            2.0,
        ),
        ("7:memory:/x\n", {"memory/x/cpu.max": "100000 100000\n"}, None),
        ("0::/\n", {"cpu.max": "what is this"}, None),
    ],
)
def test_cores_that_a_control_group_grants(
    tmp_path: Path, groups: str, files: dict[str, str], granted: float | None
) -> None:
    assert granted_cores(machine(tmp_path, groups, files)) == granted


def test_a_machine_without_control_groups(tmp_path: Path) -> None:
    assert granted_cores(tmp_path) is None


def test_cores_are_those_of_the_affinity_within_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    for granted, wanted in ((None, 6), (1.5, 2), (0.1, 1), (48.0, 6)):
        monkeypatch.setattr("cer_gpu.cores.granted_cores", lambda _, granted=granted: granted)
        usable_cores.cache_clear()
        assert usable_cores() == wanted
    usable_cores.cache_clear()


def test_nothing_to_do_is_done_at_once_however_many_events_are_said() -> None:
    assert Workers(4).map("testing", str, [], FEW + 1) == []


def test_an_end_with_more_answers_than_are_held_at_once_is_listed() -> None:
    events = pa.table({"type": ["A"] * 70_000 + ["B"]})
    assert len(cer.compile("SELECT * WHERE A AS a ; B AS b").run(events).to_arrow()) == 70_000


# -------------------------------------------------------------------------------------- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal on which everything that takes any time is shown, for the rest of the test."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "STEP_S", 0.01)
    return stream


def test_long_phases_are_shown_with_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)

    def run() -> Iterator[int]:
        for phase in ("counting", "listing"):
            yield sum(Workers(2).map(phase, lambda item: time.sleep(0.05) or item, range(12)))

    assert list(Progress(100).over(run())) == [66, 66]
    shown = terminal.getvalue()
    for word in ("events read", "counting", "listing", "/12"):
        assert word in shown


def test_what_is_done_between_two_items_is_no_part_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run gives its results one by one; meanwhile its thread may run something else."""
    terminal = on_a_terminal(monkeypatch)
    for _ in Progress(None).over(iter(range(3))):
        Workers(2).map("something else", lambda _: time.sleep(0.03), range(4))
    assert "something else" not in terminal.getvalue()


def test_a_step_that_says_nothing_is_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading of a large file is one call of a library."""
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    shown = []

    def read() -> Iterator[int]:
        time.sleep(0.6)
        shown.append("events read" in terminal.getvalue())
        yield 1

    run = Progress(5).over(read())
    assert next(run) == 1
    assert shown == [True]
    run.close()


def test_nobody_is_shown_a_run_that_waits_for_who_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    run = Progress(5).over(iter(range(3)))
    next(run)
    time.sleep(0.3)
    assert terminal.getvalue() == ""
    run.close()


def test_writing_is_shown_with_the_run_whose_results_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with progress.shown_together():
        for _ in progress.begun(7).over(iter(range(3))):
            Workers(2).map("writing", lambda _: time.sleep(0.03), range(4))
        Workers(2).map("ending", lambda _: time.sleep(0.03), range(4))
    for word in ("events read", "writing", "ending", "/7"):
        assert word in terminal.getvalue()
    before = terminal.getvalue()
    progress.show("nothing", 1, 2)
    assert terminal.getvalue() == before


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    list(Progress(3).over(iter(Workers(2).map("counting", abs, range(3)))))
    assert stream.getvalue() == ""
