"""The measurement of a device goes through every step without one, and its results can be drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.large
def test_a_dry_run_takes_every_step(tmp_path: Path) -> None:
    command = [sys.executable, "bench/device.py", "--dry-run", "--no-tests", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("*.json")
    record = json.loads(path.read_text())
    assert record["environment"]["device"] == ["simulator"]
    (device,) = record["report"]["devices"]
    assert device["fault"] is None
    assert len(device["kernels"]) == len(record["kernels"])
    assert f"{len(device['kernels'])} kernels give the CPU's results" in done.stdout
    assert set(record["copies"]) == {"device", "to_device", "to_host"}
    measured = {figure["case"] for figure in record["kernels"]}
    assert {"classify", "counts", "maps", "configurations", "find_hits"} <= measured
    assert record["not_launched"] == []
    cases = [run["case"] for run in record["runs"]]
    kinds = ("resident", "pinned", "parquet", "keyed", "no window", "listed", "cut", "next")
    assert all(any(case.startswith(f"{kind}:") for case in cases) for kind in kinds)
    for figure in record["kernels"] + record["runs"]:
        assert figure["median"] > 0
        assert len(figure["seconds"]) >= 1
    assert record["equal"]["ends"] > 0
    drawn(path)


def test_without_a_device_the_reason_ends_it(tmp_path: Path) -> None:
    command = [sys.executable, "bench/device.py", "--no-tests", "--out", str(tmp_path)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No GPU is used" in done.stdout
    assert done.stderr.splitlines()[-1] == "there is no device to measure: the report above says why"
    assert not list(tmp_path.iterdir())


def drawn(path: Path) -> None:
    """Draw the results, where what draws is installed."""
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    record = json.loads(path.read_text())
    for number, kernel in enumerate(record["kernels"]):
        kernel["bytes"], kernel["share_of_copy"] = 1 << 20, 0.1 * (number % 9)
    path.write_text(json.dumps(record))
    subprocess.run([sys.executable, "-m", "bench.pictures", str(path)], cwd=ROOT, check=True)
    for name, words in (("roofline", "resident: hits"), ("kernels", "classify")):
        assert words in (path.parent / f"device-{name}.svg").read_text()
