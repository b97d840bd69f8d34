"""The types that the package gives a program outside of it, as mypy reads them."""

import importlib
import inspect
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from cer_gpu.engine.run import options

ROOT = Path(__file__).resolve().parent.parent
TYPED = ROOT / "tests" / "typed"


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says of the programs, by their names; they stand in no checkout."""
    folder = tmp_path_factory.mktemp("outside")
    for program in TYPED.glob("*.py"):
        (folder / program.name).write_text(program.read_text())
    asked = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    asked += ["--config-file=", f"--cache-dir={folder}/cache", "--disable-error-code=import-untyped"]
    ran = subprocess.run(
        [*asked, "program.py", "wrong.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (ran.stdout + ran.stderr).splitlines()
    return {name: [line for line in lines if line.startswith(name)] for name in ("program.py", "wrong.py")}


@pytest.mark.xdist_group("typed")  # mypy takes most of a minute, and reads both programs at once
def test_a_program_with_its_types_written_down_is_right(said):
    assert said["program.py"] == []
    assert (ROOT / "cer_gpu" / "py.typed").is_file()


@pytest.mark.xdist_group("typed")
def test_wrong_programs_are_refused(said):
    lines = (TYPED / "wrong.py").read_text().splitlines()
    awaited = [f"{number}: {line.split('# ')[1]}" for number, line in enumerate(lines, 1) if "# " in line]
    errors = [line for line in said["wrong.py"] if ": error: " in line]
    assert [f"{line.split(':')[1]}: {line.rsplit('[')[-1][:-1]}" for line in errors] == awaited


def test_the_program_runs(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(TYPED))
    program = importlib.import_module("program")
    assert program.asked() == 2
    assert program.listed() == [(0, 1, 1), (0, 2, 2)]
    assert len(program.streamed()) > 0
    assert list(program.tried()["matches"]) == [2, 0]
    assert program.maintained() == 0
    assert "nothing" in program.refused()
    assert program.drawn().startswith("<svg")


def test_keywords_are_those_that_are_read():
    given = inspect.signature(options.read_options, eval_str=True).parameters
    known = {name: one.annotation for name, one in given.items() if one.kind is not one.VAR_KEYWORD}
    assert typing.get_type_hints(options.ReadKeywords) == known
