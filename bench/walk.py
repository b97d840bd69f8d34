"""The functions of the package between a call and its answer: `python -m bench.walk [QUERY]` prints them.

A count of a few events does little besides what every run does, so the number of functions that it goes
through is what a reader has to know of the way from a query to a kernel.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pyarrow as pa

import cer_gpu as cer

ROOT = Path(__file__).resolve().parent.parent

FOLDERS = ("cer_gpu", "kernels", "spark_plugin")

TRIVIAL = "SELECT * WHERE A ; B WITHIN 100 EVENTS"
"""A query that asks for nothing but the types of two events."""

EVENTS = pa.table({"type": ["A", "B", "C", "A", "B"] * 200, "x": range(1000)})


class Step(NamedTuple):
    """A call of a function of the package.

    Attributes
    ----------
    depth : int
        How many calls of the package it lies within.
    name : str
        The function: `Query.count`.
    file : str
        Its file, from the root of the checkout.
    line : int
        Where it begins in the file.
    """

    depth: int
    name: str
    file: str
    line: int


def walked(call: Callable[[], Any]) -> list[Step]:
    """The functions of the package that a call goes through in this thread, in their order.

    Comprehensions and lambdas are left out: they are parts of the function that they are written in, and some
    versions of Python call them and others do not.
    """
    steps: list[Step] = []
    depth = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        file = Path(code.co_filename)
        if code.co_name.startswith("<") or not file.is_relative_to(ROOT):
            return
        own = file.relative_to(ROOT)
        if own.parts[0] not in FOLDERS:
            return
        if event == "call":
            steps.append(Step(depth, code.co_qualname, own.as_posix(), code.co_firstlineno))
            depth += 1
        elif event == "return":
            depth -= 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return steps


def counted(query: str = TRIVIAL) -> list[Step]:
    """The walk of the first count of a compiled query, in a process that has counted it before."""
    for _ in range(2):
        cer.compile(query).count(EVENTS)
    compiled = cer.compile(query)
    return walked(lambda: compiled.count(EVENTS))


def functions_of(steps: list[Step]) -> set[tuple[str, int]]:
    """The distinct functions of a walk: their file and line."""
    return {(step.file, step.line) for step in steps}


def main() -> None:
    """Print the walk of a count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("query", nargs="?", default=TRIVIAL)
    steps = counted(parser.parse_args().query)
    for step in steps:
        print(f"{'  ' * step.depth}{step.name}  {step.file}:{step.line}")
    files = {step.file for step in steps}
    print(f"{len(functions_of(steps))} functions of {len(files)} files, {len(steps)} calls")


if __name__ == "__main__":
    main()
