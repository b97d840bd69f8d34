"""`python bench/device.py`: tests and measurements on a machine with a GPU, written to one JSON file.

It needs no installation of this project: Python, numba, numba-cuda, cupy, pyarrow and pytest; `--wheels`
names a folder of further packages. `--dry-run` does every step on tiny data in Numba's simulator, without a
GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cer_gpu import DeviceReport

ROOT = Path(__file__).resolve().parent.parent
SIMULATOR = "NUMBA_ENABLE_CUDASIM"
TAIL = 4000
"""How many characters of the tests' output are kept."""


def main(arguments: list[str] | None = None) -> int:
    """Do all steps; 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python bench/device.py", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="tiny data, in the simulator")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the JSON")
    parser.add_argument("--wheels", type=Path, help="folder of pure-Python wheels to import from")
    parser.add_argument("--no-tests", action="store_true", help="measure only")
    parser.add_argument("--scale", type=float, default=1.0, help="the sizes times this")
    asked = parser.parse_args(arguments)
    if asked.dry_run:
        os.environ[SIMULATOR] = "1"  # before Numba is imported
    paths = [str(ROOT), *(str(wheel) for wheel in sorted((asked.wheels or ROOT / ".").glob("*.whl")))]
    sys.path[:0] = paths

    record = {"begin": datetime.now(UTC).isoformat(timespec="seconds"), "dry_run": asked.dry_run}
    record["tests"] = None if asked.no_tests else tested(paths, asked.dry_run)
    record |= measured(asked.dry_run, asked.scale)
    asked.out.mkdir(parents=True, exist_ok=True)
    commit = record["environment"]["commit"] or "unknown"
    name = f"device-{'dry-run' if asked.dry_run else commit}.json"
    (asked.out / name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for figure in record["kernels"] + record["runs"]:
        sys.stdout.write(f"{line(figure)}\n")
    sys.stdout.write(f"{asked.out / name}\n")
    return 0 if record["tests"] is None or record["tests"]["passed"] else 1


def line(figure: dict[str, Any]) -> str:
    """A figure as a line of text."""
    rate, share = figure["events_per_second"], figure["share_of_copy"]
    events = "" if rate is None else f"{rate:.4g} events/s"
    if "complex_events_per_second" in figure:
        events = f"{figure['complex_events_per_second']:.4g} complex events/s"
    copies = "" if share is None else f"{share:.1%} of a copy"
    return f"{figure['case']:<28}{figure['median']:>12.3g} s {events:>32} {copies:>18}"


def tested(paths: list[str], dry_run: bool) -> dict[str, Any]:
    """Run the tests marked `gpu`, on the device or in the simulator, in a process of their own."""
    files = sorted(str(path) for path in (ROOT / "tests").glob("test_cuda_*.py"))
    files = [name for name in files if not name.endswith(("_simulator.py", "_compile.py"))]
    if dry_run:
        files = [name for name in files if name.endswith("_devices.py")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "bench.checkout",
            "-p",
            "no:cacheprovider",
            "-m",
            "gpu",
            *files,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    return {"passed": done.returncode == 0, "output": output[-TAIL:]}


def measured(dry_run: bool, scale: float) -> dict[str, Any]:
    """Bandwidths, kernels and whole runs."""
    from bench.checkout import importable

    importable()
    from cer_gpu.kernels.device import geometry

    if dry_run:
        from bench import simulated

        simulated.install()
        # Before the modules are imported that launch with these: a thread of the simulator is one of Python.
        geometry.STREAM = geometry.LANE = geometry.Geometry(16, 8)
    import cer_gpu

    report = cer_gpu.device_report()
    sys.stdout.write(f"{report}\n")
    if not report.devices:
        sys.exit("there is no device to measure: the report above says why")
    if not report.right:
        sys.exit("what a device computes wrong is not measured")
    from bench.device_kernels import KERNELS, bandwidths, recording, seconds
    from bench.device_runs import TINY, Sizes, equal, exercise, figure, runs, shrink

    if dry_run:
        shrink()
    sizes = TINY if dry_run else Sizes().scaled(scale)
    copies = bandwidths(sizes.copied, sizes.runs)
    with tempfile.TemporaryDirectory() as folder:
        found = list(runs(sizes, copies, Path(folder)))
    kernels = []
    with recording() as launches:
        exercise(sizes)
    for name in sorted(launches):
        launch = launches.pop(name)
        taken = seconds(launch, sizes.runs, warm=0 if dry_run else 2)
        kernels.append(figure(name, None, taken, launch.moved, copies["device"]))
    launched = {figure["case"] for figure in kernels}
    return {
        "environment": about(report),
        "report": report.to_dict(),
        "copies": copies,
        "kernels": kernels,
        "not_launched": [kernel.name for kernel in KERNELS if kernel.name not in launched],
        "runs": found,
        "equal": equal(sizes),
    }


def about(report: DeviceReport) -> dict[str, Any]:
    """The machine, its devices, and the versions of what was used."""
    from bench.measure import environment

    return {**environment(), **report.versions, "device": [found.name for found in report.devices]}


if __name__ == "__main__":
    sys.exit(main())
