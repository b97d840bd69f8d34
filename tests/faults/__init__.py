"""Faults that `make test-mutants` plants: a table for each part of the package."""

from faults import (
    answers,
    arena,
    device_loss,
    general,
    indexes,
    loop,
    outcomes,
    registers,
    rewriting,
    rows,
    streams,
    thresholds,
    virtual_device,
    windows,
)

TABLES = {
    "loop": loop.FAULTS,
    "indexes": indexes.FAULTS,
    "arena": arena.FAULTS,
    "windows": windows.FAULTS,
    "registers": registers.FAULTS,
    "streams": streams.FAULTS,
    "general": general.FAULTS,
    "rewriting": rewriting.FAULTS,
    "rows": rows.FAULTS,
    "answers": answers.FAULTS,
    "outcomes": outcomes.FAULTS,
    "thresholds": thresholds.FAULTS,
    "virtual_device": virtual_device.FAULTS,
    "device_loss": device_loss.FAULTS,
}
"""The faults of each part, by the name that `ONLY=` takes."""
