"""`python -m virtual_device -m bench.device_model`: how long the runs of `bench/device.py` take at least.

On the virtual device each run is counted for two sizes: the bytes that its kernels read and write, and its
launches. A card takes at least as long as its memory takes for these bytes, its bus for the columns, and the
driver for the launches: a roofline. It does not know how long accesses wait for each other, nor what the host
does: a measured time far above it says what is left to gain. Beside it stand the times of an H100, where
`results/device-4eec05c.json` has them.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from numba import cuda

import cer_gpu as cer
from bench.device_runs import KEPT, KINDS, PRICED, WINDOWLESS, Sizes, answer_of, on_device, page_locked_table
from bench.measure import environment
from bench.queries import ThreeSteps
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.machines import comparisons, general, units
from cer_gpu.engine.run.bound_query import BATCH
from virtual_device import installed

RESULTS = Path(__file__).parent / "results"

MEASURED = RESULTS / "device-4eec05c.json"
"""What an H100 took, for an earlier version."""

COUNTED = 50_000
"""Events of the smaller of the two runs that are counted."""

WAITS = (
    *("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"),
    *("cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2"),
)
ALLOCATIONS = ("cuMemAlloc_v2", "cuMemAllocAsync", "cuMemHostAlloc", "cuMemAllocHost_v2")

ASKED = ("hits", "count", "backtest", "match_recognize")
"""What a device does of what is asked."""


class Card(NamedTuple):
    """A device that is predicted for.

    Attributes
    ----------
    name : str
    memory, bus : float
        Bytes/s that a copy in its memory reads and writes together, and that one from page-locked memory of
        the host moves.
    launch : float
        Seconds of a launch.
    """

    name: str
    memory: float
    bus: float
    launch: float


H100 = Card("H100", 2.76e12, 53.7e9, 4e-6)
"""As one was measured. Its data sheet says 3.35e12."""

H200 = Card("H200", 2.76e12 * 4.8 / 3.35, 53.7e9, 4e-6)
"""Its memory as much below its data sheet, 4.8e12, as that of the H100."""


class Cost(NamedTuple):
    """What a run costs once all is compiled and the pool of memory is filled.

    ===============  ====================================================================
    `moved`          bytes that all kernels together read and write
    `launches`
    `waits`          of the host: synchronisations, copies to it that it waits for, and copies from memory
                     that is not page-locked, which first wait for what was launched
    `allocations`    of the driver, beside the pool
    `calls`          of the driver
    ===============  ====================================================================
    """

    moved: int
    launches: int
    waits: int
    allocations: int
    calls: int


class Prediction(NamedTuple):
    """The least time of a run.

    Attributes
    ----------
    case : str
    events : int
    moved : float
        Bytes that kernels move for each event.
    launches : int
        Of a batch.
    seconds : dict of str to float
        By the name of the card.
    measured : float or None
        Seconds on an H100 for so many events.
    """

    case: str
    events: int
    moved: float
    launches: int
    seconds: dict[str, float]
    measured: float | None


class DeviceRun(NamedTuple):
    """A run of `bench/device.py`.

    Attributes
    ----------
    make : callable
        Gives the run over a number of events.
    events : int
        How many `bench/device.py` takes.
    column_bytes : int
        Bytes of an event that come over the bus; 0 where the columns lie on the device.
    """

    make: Callable[[int], Callable[[], Any]]
    events: int
    column_bytes: int


def cost(run: Callable[[], object]) -> Cost:
    """What a run costs after the first one: the least of some, since threads of the host may be late.

    Python's collector does not run meanwhile: what holds memory of a device until it comes by is a fault.
    """
    gc.collect()
    gc.disable()
    try:
        run()
        cuda.synchronize()
        return Cost(*map(min, zip(*(_next_cost(run) for _ in range(3)))))
    finally:
        gc.enable()


def _next_cost(run: Callable[[], object]) -> Cost:
    device = installed()
    assert device is not None
    device.reset()
    run()
    cuda.synchronize()
    traffic, calls = device.traffic().values(), device.calls()
    return Cost(
        sum(one.bytes_read + one.bytes_written for one in traffic),
        sum(one.launches for one in traffic),
        sum(calls.get(name, 0) for name in WAITS) - 1,
        sum(calls.get(name, 0) for name in ALLOCATIONS),
        sum(calls.values()) - 1,
    )


def counted_runs(sizes: Sizes) -> Iterator[tuple[str, DeviceRun]]:
    """The runs by their names, in the order of `bench/device.py`."""
    window = ThreeSteps(KEPT, within=1000).text
    for name, text in (("resident", window), ("resident, no window", WINDOWLESS)):
        for ask in ("hits", "count"):
            yield f"{name}: {ask}", DeviceRun(partial(_resident, text, ask), sizes.resident, 0)
    for ask in ("hits", "count"):
        yield f"pinned: {ask}", DeviceRun(partial(pinned_run, window, ask), sizes.resident, 12)
    for kind, (_, names, field, ask) in KINDS.items():
        if ask in ASKED and field != "attribute":
            own = 4 + 8 * (len(names) - 1)  # the code of the type, and numbers
            yield kind, DeviceRun(partial(_of_kind, kind), getattr(sizes, field), own)


def _resident(text: str, ask: str, events: int) -> Callable[[], Any]:
    run: Callable[[], Any] = getattr(on_device(text, page_locked_table(events, PRICED)), ask)
    return run


def pinned_run(text: str, ask: str, events: int) -> Callable[[], Any]:
    """A question over columns in page-locked memory of the host."""
    return partial(getattr(cer.compile(text), ask), page_locked_table(events, PRICED), device="cuda")


def _of_kind(kind: str, events: int) -> Callable[[], Any]:
    names = "keyed", "joined", "gapped", "carried", "swept"
    sizes = Sizes(**dict.fromkeys(names, events), keys=events // 50)
    return partial(answer_of(kind, sizes), "cuda")


def predicted(case: str, run: DeviceRun, measured: dict[str, Any] | None) -> Prediction:
    """The least time of a run on each card, from its costs over two sizes."""
    few, many = (cost(run.make(events)) for events in (COUNTED, 2 * COUNTED))
    each = (many.moved - few.moved) / COUNTED
    events = run.events if measured is None else measured["events"]
    batches = 1 if not run.column_bytes else -(-events // BATCH)
    seconds = {
        card.name: max(events * each / card.memory, events * run.column_bytes / card.bus)
        + batches * many.launches * card.launch
        for card in (H100, H200)
    }
    taken = None if measured is None else measured["median"]
    return Prediction(case, events, each, many.launches, seconds, taken)


def line(one: Prediction) -> str:
    """A prediction as a row of a table in Markdown."""
    taken = "" if one.measured is None else f"{1000 * one.measured:.3g}"
    cells = (
        one.case,
        f"{one.events / 1e6:g} M",
        f"{one.moved:.3g}",
        f"{one.launches}",
        *(f"{1000 * seconds:.3g}" for seconds in one.seconds.values()),
        taken,
    )
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| run | events | bytes an event | launches a batch | H100, ms at least | H200, ms at least "
    "| an H100 before, ms |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def main(arguments: list[str] | None = None) -> int:
    """Count, predict, print a table and write it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m virtual_device -m bench.device_model")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the JSON")
    parser.add_argument("--runs", nargs="*", help="the beginnings of the names of the runs; by default all")
    asked = parser.parse_args(arguments)
    if installed() is None:
        parser.error("there is no virtual device: python -m virtual_device -m bench.device_model")
    findings.check_in_process = findings.check_here  # another process has no virtual device
    for module in (units, comparisons, general):
        module.LEAST = 1  # otherwise so few events stay on the CPU
    asked.out.mkdir(parents=True, exist_ok=True)
    there = {one["case"]: one for one in json.loads(MEASURED.read_text(encoding="utf-8"))["runs"]}
    found = []
    sys.stdout.write(f"{HEAD}\n")
    for case, run in counted_runs(Sizes()):
        if asked.runs is None or case.startswith(tuple(asked.runs)):
            found.append(predicted(case, run, there.get(case)))
            sys.stdout.write(f"{line(found[-1])}\n")
            sys.stdout.flush()
    about = environment()
    record = {"environment": about, "predictions": [one._asdict() for one in found]}
    path = asked.out / f"device-model-{about['commit'] or 'unknown'}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
