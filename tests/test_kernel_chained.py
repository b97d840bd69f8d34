"""Hits of long chains of states: the same as register by register, and what their definition says."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.hits.cpu import hits
from cer_gpu.kernels.hits.cpu_chains import ROOM, hits_chained
from cer_gpu.kernels.runs.barriers import barred
from cer_gpu.kernels.runs.programs import CHAINED, chained_program, hits_program

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.plan.automaton import AutomatonMachine

NONE = np.zeros(0, np.int64)

CHAINS = (
    "A {200,}",
    "A {40} ; B",
    "B ; A {13,} ; C",
    "A AS a {30,60}",
    "(A OR B) {25,}",
    "C {20,} OR (A ; B {20})",
    "A {14,} ; B {14,}",
)

TOLD = ("A {200,}", "A {40} ; B", "A AS a {30,60}", "(A OR B) {25,}")
"""Those of which an event only accepts the latest start that lies so many places back, or further."""


def machine_of(pattern: str) -> AutomatonMachine:
    machine = Query(f"SELECT * WHERE {pattern}")._plan.compiled.machine
    assert isinstance(machine, AutomatonMachine)
    return machine


@pytest.mark.crossed
@pytest.mark.parametrize("pattern", CHAINS)
@pytest.mark.parametrize("kind", ["whole", "windowed", "barred"])
def test_the_hits_and_the_registers_are_those_without_a_chain(pattern: str, kind: str) -> None:
    tables = machine_of(pattern).tables
    if kind == "barred":
        tables = barred(tables)
    program = hits_program(tables)
    chained = chained_program(program)
    assert (chained is None) == (pattern in ("C {20,} OR (A ; B {20})", "A {14,} ; B {14,}"))
    if chained is None:
        return
    assert chained.high - chained.low >= CHAINED
    assert (len(chained.told) > 0) == (pattern in TOLD and kind != "barred")
    rng = np.random.default_rng(len(pattern))
    found = 0
    for n in (0, 1, 50, 700, 3 * ROOM):
        symbols = rng.integers(0, tables.n_symbols, n).astype(np.uint8)
        begin, stop = np.array([0, n // 3]), np.array([n // 3, n])
        report = np.array([0, n // 2])
        keys, size = (np.cumsum(rng.integers(0, 3, n)), 900) if kind == "windowed" else (NONE, 0)
        registers = np.full((2, tables.n_live), -1, np.int64)
        others = registers.copy()
        one = hits(program, symbols, NONE, keys, size, begin, report, stop, registers)
        other = hits_chained(chained, symbols, NONE, keys, size, begin, report, stop, others)
        assert one[0].tolist() == other[0].tolist()
        assert one[1].tolist() == other[1].tolist()
        assert registers.tolist() == others.tolist()
        found += len(one[0])
    assert found > 100


def test_a_count_starts_so_many_events_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random("so many")
    table = pa.table({"type": [rng.choice("AAB") for _ in range(9_000)]})
    places = np.flatnonzero(table["type"].to_numpy() == "A").tolist()
    query = cer.compile("SELECT * WHERE A {100,}")
    for chunk in (runner.CHUNK, 500):
        monkeypatch.setattr(runner, "CHUNK", chunk)
        told = query.hits(table.to_reader(max_chunksize=chunk))
        assert told["position"].to_pylist() == places[99:]
        assert told["latest_start"].to_pylist() == places[:-99]
