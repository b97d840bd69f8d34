"""Measurements in a process of its own: imports, the first count, a large file.

`python -m bench.fresh WHAT ...` measures in this process and prints one JSON object; `in_fresh_process` runs
that. Nothing large is imported before it is needed: imports are part of what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class ChildError(Exception):
    """A measuring process has failed; the message ends with its last words."""


def in_fresh_process(
    module: str, arguments: Sequence[object], timeout: float, cache: Path | None = None
) -> dict[str, Any]:
    """Run a module of `bench` in a new interpreter, and read the JSON object that it prints.

    Parameters
    ----------
    module : str
    arguments : sequence
        The arguments of its command line.
    timeout : float
        Seconds.
    cache : Path, optional
        A folder for caches in place of the user's, so that no kernel is compiled yet.

    Raises
    ------
    TimeoutError
        After `timeout` seconds.
    ChildError
        If it fails.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    # The modules are compiled once, as where a package is installed, whatever the caller's settings.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"more than {timeout:g} s") from error
    if done.returncode:
        raise ChildError(done.stderr.strip()[-2000:] or f"exit status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_bytes() -> int:
    """The most memory that this process has had resident.

    On Linux a program inherits `ru_maxrss` from the process that starts it, so the kernel's own high-water
    mark of this program is read if there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def bare_import() -> dict[str, Any]:
    """`import cer_gpu`."""
    begin = time.perf_counter()
    import cer_gpu

    taken = time.perf_counter() - begin
    assert cer_gpu.__name__ in sys.modules
    return {"seconds": taken}


def first_count(path: str, text: str) -> dict[str, Any]:
    """Import, compile and count, on a table that is already in memory (so pyarrow is imported)."""
    import pyarrow as pa

    with pa.OSFile(path) as file:
        events = pa.ipc.open_file(file).read_all()
    known = set(sys.modules)
    begin, used = time.perf_counter(), time.process_time()
    import cer_gpu as cer

    query = cer.compile(text)
    compiled = time.perf_counter()
    number = query.count(events)
    end = time.perf_counter()
    return {
        "seconds": end - begin,
        "processor": time.process_time() - used,
        "compile": compiled - begin,
        "count": end - compiled,
        "number": number,
        "modules": [name for name in sys.modules if name not in known],
    }


def importing(*names: str) -> dict[str, Any]:
    """Import modules, one after another; `pyarrow` is imported before unless it is the first."""
    if names[0] not in ("numpy", "pyarrow"):
        import pyarrow as pa

        assert pa.__name__ in sys.modules
    begin = time.process_time()
    for name in names:
        import_module(name)
    return {"processor": time.process_time() - begin}


def parquet_count(path: str, text: str) -> dict[str, Any]:
    """Count over a file, in the order of its time."""
    begin = time.perf_counter()
    import cer_gpu as cer

    number = cer.compile(text).count(path, order_by="time")
    return {"seconds": time.perf_counter() - begin, "number": number, "peak": peak_bytes()}


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "import": bare_import,
    "first": first_count,
    "importing": importing,
    "parquet": parquet_count,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[1]](*sys.argv[2:])) + "\n")
