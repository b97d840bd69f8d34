"""The way from `count` to the kernels and back is short: how many functions of the package lie on it."""

from __future__ import annotations

from bench.walk import counted, functions_of

MOST = 368
"""Functions of the walk of a trivial count. Lower it when the way becomes shorter; never raise it."""


def test_a_count_goes_through_few_functions() -> None:
    steps = counted()
    assert steps[0].name == "Query.count"
    assert any(step.file.startswith("kernels/counts") for step in steps)
    functions = functions_of(steps)
    assert len(functions) <= MOST, sorted(functions)
