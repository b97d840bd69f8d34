"""What runs on a device, in Numba's CUDA simulator, in a process of its own: no GPU is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


RUN_THERE = {
    "kernels": [
        "test_cuda_blocks.py",
        "test_cuda_kernels.py",
        "test_cuda_lanes.py",
        "test_cuda_joins.py",
        "test_cuda_steps.py",
        "test_cuda_compared.py",
        "test_cuda_general.py",
        "test_cuda_abreast.py",
        "test_cuda_abreast_masked.py",
        "test_cuda_row_patterns.py",
    ],
    "queries": ["test_cuda_engine.py", "test_cuda_values.py", "test_cuda_cases.py"],
    "devices": [
        "test_cuda_devices.py",
        "test_cuda_resident.py",
        "test_cuda_suite.py",
        "test_cuda_check.py",
        "test_cuda_checked.py",
        "test_cuda_arrays.py",
    ],
}
"""The files of a process: to start one and import Numba takes longer than most of them."""

AS_ON_A_DEVICE = "devices"
"""The process whose blocks are as large as on a device: most of their threads have no events of a test."""


@pytest.mark.parametrize("process", RUN_THERE)
def test_in_the_simulator(process: str, pytestconfig: pytest.Config) -> None:
    """What switches the simulator on is read when Numba is imported, so it cannot be this process."""
    files = [str(TESTS / name) for name in RUN_THERE[process]]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *files]
    command += [name for name in ("--all", "--every") if pytestconfig.getoption(name)]
    if process != AS_ON_A_DEVICE:
        command += ["-p", "small_blocks"]
    done = subprocess.run(
        command,
        cwd=TESTS.parent,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert re.search(r"\d skipped", done.stdout) is None
