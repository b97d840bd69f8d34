"""What runs on a device, in Numba's CUDA simulator, in a process of its own: no GPU is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


RUN_THERE = [
    "test_cuda_blocks.py",
    "test_cuda_kernels.py",
    "test_cuda_lanes.py",
    "test_cuda_structure.py",
    "test_cuda_strategies.py",
    "test_cuda_engine.py",
    "test_cuda_values.py",
    "test_cuda_joins.py",
    "test_cuda_check.py",
]


@pytest.mark.parametrize("name", RUN_THERE)
def test_in_the_simulator(name: str) -> None:
    """What switches the simulator on is read when Numba is imported, so it cannot be this process."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(TESTS / name)]
    done = subprocess.run(
        command,
        cwd=TESTS.parent,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert re.search(r"\d skipped", done.stdout) is None
