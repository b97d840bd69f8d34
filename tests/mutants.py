"""Plant each fault of the tables in `faults`, and run the tests that are to catch it: `make test-mutants`.

```console
python tests/mutants.py             # all faults
python tests/mutants.py loop views  # the faults of these tables
```

The faults are planted in a copy of the package. At first the tests have to pass without a fault. Then machine
code is kept in a copy of the user's folder: a fault compiles the kernels that it changes, and no others.
Gives 1 where a fault survives.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import time
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory

from faults import TABLES
from faults.fault import Fault
from test_cuda_simulator import AS_ON_A_DEVICE, RUN_THERE

# The package is imported nowhere here: a process that runs tests begins with what this one has imported.

TOP = Path(__file__).resolve().parents[1]

PLACES = {
    "cer_gpu": "cer_gpu",
    "kernels": "cer_gpu/kernels",
    "spark_plugin": "cer_gpu/spark",
    "virtual_device": "virtual_device",
}
"""Where the folders of the checkout lie in the copy, which is imported as an installed package is."""

BESIDE = ("tests", "bench", "docs", "README.md", "pyproject.toml")
"""What tests read besides the package."""

IMPORTED_ONCE = ["hypothesis", "numba", "pandas", "pyarrow.compute", "pytest"]
"""What all processes that run tests are forked with: to import it takes longer than most of the tests."""

PASSED, FAILED = 0, 1
"""What pytest gives; anything else says that the tests did not run."""

LONGEST_S = 900


class Copy:
    """A copy of the package, its tests and its compiled kernels.

    Parameters
    ----------
    folder : Path
        An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._cache, self._output = (folder / name for name in ("package", "cache", "output"))
        ignored = shutil.ignore_patterns("__pycache__", "shipped")
        for place, copied in (*PLACES.items(), *((name, name) for name in BESIDE)):
            if (TOP / place).is_dir():
                shutil.copytree(TOP / place, self._folder / copied, ignore=ignored)
            elif (TOP / place).exists():
                shutil.copy2(TOP / place, self._folder / copied)

    def keep_kernels(self) -> None:
        """Copy the kernels that have been compiled so far; those that are compiled from now on stay here."""
        from cer_gpu.cache_folder import NAME, cache_folder

        kept = cache_folder()
        self._cache.mkdir(mode=0o700)
        if kept is not None:
            shutil.copytree(kept, self._cache / NAME, ignore=shutil.ignore_patterns("*.lock", "*.new"))

    @property
    def said(self) -> str:
        """What the tests have printed."""
        return self._output.read_text(errors="replace")

    def plant(self, fault: Fault) -> None:
        """Put a fault where the right text stands."""
        self._write(fault, planted(fault))

    def take_out(self, fault: Fault) -> None:
        """Put the right text back."""
        self._write(fault, text_of(fault))

    def run(self, tests: list[str]) -> int | None:
        """Run tests up to the first that fails; gives what pytest gives, None where they do not end."""
        process = process_of(tests[0])
        # What switches the simulator on is read when Numba is imported.
        context = multiprocessing.get_context("spawn" if process else "forkserver")
        if not process:
            context.set_forkserver_preload(IMPORTED_ONCE)
        named = [str(Path("tests") / test) for test in tests]
        if process not in ("", AS_ON_A_DEVICE):
            named += ["-p", "small_blocks"]
        paths = os.pathsep.join((str(self._folder), str(self._folder / "tests")))
        own = {"PYTHONPATH": paths}
        if self._cache.exists():
            own["XDG_CACHE_HOME"] = str(self._cache)
        if process:
            own["NUMBA_ENABLE_CUDASIM"] = "1"
        running = context.Process(target=run_tests, args=(self._folder, self._output, named, own))
        running.start()
        running.join(LONGEST_S)
        if running.exitcode is None:
            running.kill()
            running.join()
            return None
        return running.exitcode

    def _write(self, fault: Fault, text: str) -> None:
        folder, _, rest = fault.file.partition("/")
        path = self._folder / PLACES[folder] / rest
        path.write_text(text, encoding="utf-8")
        # Bytecode is compared by time and size alone, and faults follow each other closely.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)


def run_tests(folder: Path, output: Path, tests: list[str], own: dict[str, str]) -> None:
    """Run tests of a copy up to the first that fails, in a process of its own; ends it.

    Parameters
    ----------
    folder : Path
        Of the copy.
    output : Path
        The file to which all is printed.
    tests : list of str
        As pytest is given them.
    own : dict of str to str
        Environment variables of this process.
    """
    os.environ.update(own)
    os.chdir(folder)
    sys.path[:0] = own["PYTHONPATH"].split(os.pathsep)
    with output.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    import pytest

    sys.exit(int(pytest.main(["-x", "--tb=line", "-p", "no:cacheprovider", *tests])))


def process_of(test: str) -> str:
    """The process of the simulator that runs a test by default; "" for a test that runs without it."""
    file = test.partition("::")[0]
    return next((process for process, files in RUN_THERE.items() if file in files), "")


def text_of(fault: Fault) -> str:
    """The text of the file of a fault, as it is in the checkout."""
    return (TOP / fault.file).read_text(encoding="utf-8")


def planted(fault: Fault) -> str:
    """The text of the file with the fault.

    Raises
    ------
    ValueError
        If what should stand there is not found exactly once.
    """
    text = text_of(fault)
    if (found := text.count(fault.right)) != 1:
        raise ValueError(f"{fault.file}: found {found} times, not once: {fault.right!r}")
    return text.replace(fault.right, fault.wrong)


def main(tables: list[str]) -> int:
    """Plant the faults of some tables, or of all; gives 1 where one survives or the tests do not run."""
    if unknown := set(tables) - TABLES.keys():
        print(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
        return 1
    faults = [fault for name in tables or TABLES for fault in TABLES[name]]
    for fault in faults:
        planted(fault)
    survived = 0
    with TemporaryDirectory(prefix="cer-gpu-mutants-") as made:
        copy = Copy(Path(made))
        tests = list(dict.fromkeys(test for fault in faults for test in fault.tests))
        for process in dict.fromkeys(map(process_of, tests)):
            if copy.run([test for test in tests if process_of(test) == process]) != PASSED:
                print(f"without a fault the tests do not pass:\n{copy.said}")
                return 1
        copy.keep_kernels()
        for fault in faults:
            copy.plant(fault)
            began = time.monotonic()
            status = copy.run(list(fault.tests))
            word = {FAILED: "caught", PASSED: "SURVIVED"}.get(status, "DID NOT RUN")
            print(f"{word:11} {time.monotonic() - began:5.1f} s  {fault.file}: {fault.rule}", flush=True)
            if status not in (FAILED, PASSED):
                print(copy.said)
            survived += status != FAILED
            copy.take_out(fault)
    print(f"{len(faults) - survived} of {len(faults)} faults were caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
