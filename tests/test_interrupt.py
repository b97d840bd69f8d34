"""Ctrl-C in the middle of long work: it ends soon, in every phase, and no thread goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interrupted_app import CASES
from processes import started

from cer_gpu.compiling.kernel import Kernel, kernel_named
from cer_gpu.compiling.needs import needs

HERE = Path(__file__).resolve().parent

SOON_S = 5.0
"""Seconds that an interrupt may take here. It takes some hundredths of a second where nothing else runs."""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("case", CASES)
def test_an_interrupt_is_met(case: str) -> None:
    command = [sys.executable, str(HERE / "interrupted_app.py"), case]
    with started(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.4)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        lines = child.stdout.read().splitlines()
        assert child.wait() == 0
    assert len(lines) == 2
    assert float(lines[0]) - sent < SOON_S
    assert float(lines[1]) < 0.1, "a thread goes on"


IMPORTING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from cer_gpu.__main__ import main
main()
"""
"""The shell's `cer`, interrupted when it imports a module."""

BEFORE = ("cer_gpu.cli", "cer_gpu.errors", "cer_gpu.diagnostics", "typer", "cer_gpu.whole_file")
"""Modules that are imported before the command begins, and some that it imports itself."""
DURING = ("cer_gpu.api", "numpy", "pyarrow", "pyarrow.lib", "numba", "cer_gpu.language.parser")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("module", [*BEFORE, *DURING])
def test_an_interrupt_during_an_import_gives_no_traceback(module: str, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("type,ts\nA,1\nB,2\n", encoding="utf-8")
    asked = ["run", "SELECT * WHERE A ; B", str(tmp_path / "events.csv"), "-o", str(tmp_path / "out.jsonl")]
    command = [sys.executable, "-c", IMPORTING.format(module=module), *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["events.csv"]


def test_the_package_imports_nothing_that_an_interrupt_could_meet() -> None:
    script = "import sys; before = set(sys.modules); import cer_gpu; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cer_gpu"]


def test_kernels_whose_time_has_no_bound_can_be_told_to_end() -> None:
    """Those that follow runs or walk structures; the others make one pass over a bounded part."""
    # Those of views go once over sorted rows: of a batch, of the runs that it meets, of a piece of answers.
    one_pass = ("classify", "consume", "keys", "lanes", "lists", "monitor", "suppress", "views", "windows")
    bounded = {
        "cer_gpu.kernels.selection.cpu:_fill",  # a block of marks
        "cer_gpu.kernels.selection.cpu:_lengths",
        "cer_gpu.kernels.forest_selection.cpu:wanted",  # one pass over the nodes
        "cer_gpu.kernels.clock.cpu_liveness:write_dead",  # one node
        "cer_gpu.kernels.clock.cpu_stream:follow",  # `STEP` events
        "cer_gpu.kernels.comparisons.cpu_rows:_floats",  # one pass over a batch
        "cer_gpu.kernels.comparisons.cpu_rows:_whole",
        "cer_gpu.kernels.configurations.cpu_groups:arrange",  # one pass over the configurations
        "cer_gpu.kernels.configurations.cpu_nodes:kept_nodes",  # one pass over the nodes
        "cer_gpu.kernels.configurations.cpu_nodes:nodes_below",  # three passes over the nodes
        "cer_gpu.kernels.configurations.cpu_programs:work_out",  # the instructions of one comparison
        "cer_gpu.kernels.steps.cpu_sessions:marked_back",  # a block of marks
        "cer_gpu.kernels.steps.cpu_sessions:session_begins",  # one pass over the events of a chunk
        "cer_gpu.kernels.attribute_windows.cpu_order:_admit",  # n log n, of the events of a chunk
        "cer_gpu.kernels.attribute_windows.cpu_order:_first_admitted",
        "cer_gpu.kernels.attribute_windows.cpu_order:_sort_lanes",
        "cer_gpu.kernels.joins.cpu_counts:weigh",  # one pass over the nodes
        "cer_gpu.kernels.joins.cpu_order:arrange",
        "cer_gpu.kernels.joins.cpu_order:lengths",
        "cer_gpu.kernels.joins.cpu_order:reserve",
        "cer_gpu.kernels.joins.cpu_slots:localise",
        "cer_gpu.kernels.joins.cpu_slots:localise_near",
        "cer_gpu.kernels.sorting.cpu:order_of",  # three passes over the numbers of a chunk
        "cer_gpu.kernels.outlook.cpu_single_event:left_open",  # one pass over the events of a batch
        "cer_gpu.kernels.outlook.cpu:become",  # one pass over the events of a chunk, or over those that wait
        "cer_gpu.kernels.outlook.cpu:lanes_pass",
        "cer_gpu.kernels.outlook.cpu:relink",
        "cer_gpu.kernels.outlook.cpu:staying",
        "cer_gpu.kernels.outlook.cpu:time_passes",
        "cer_gpu.kernels.outlook.cpu:without_ripe",
    }
    names = {
        name for named in needs().purposes.values() for name, _ in named if name.split(".")[2] not in one_pass
    }
    endless = {name for name in names - bounded if not _halts(kernel_named(name))}
    assert not endless


def _halts(kernel: Kernel | None) -> bool:
    return kernel is not None and kernel.halts
