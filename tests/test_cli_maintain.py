"""`cer maintain`: views in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from cer_gpu.cli import status_of

RULE = "Q(a, c) <- R(a, b), S(b, c), a < c"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    tables = {
        "r": pa.table({"a": [1, 2], "b": [1, 1]}),
        "s": pa.table({"b": [1, 1], "c": [2, 3]}),
        "gone": pa.table({"a": [1], "b": [1]}),
    }
    for name, table in tables.items():
        if name == "r":
            csv.write_csv(table, tmp_path / "r.csv")
        else:
            parquet.write_table(table, tmp_path / f"{name}.parquet")
    return {
        "r": str(tmp_path / "r.csv"),
        "s": str(tmp_path / "s.parquet"),
        "gone": str(tmp_path / "gone.parquet"),
        "snapshot": str(tmp_path / "view.snapshot"),
    }


def test_answers_changes_and_counts(files: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    start = ["maintain", RULE, "--snapshot", files["snapshot"], "--format", "jsonl"]
    assert status_of([*start, "--insert", f"R={files['r']}", "--insert", f"S={files['s']}"]) == 0
    lines = {tuple(json.loads(line).values()) for line in capfd.readouterr().out.splitlines()}
    assert lines == {(1, 2, 1), (1, 3, 1), (2, 3, 1)}
    assert status_of([*start, "--delete", f"R={files['gone']}", "--delta"]) == 0
    lines = {tuple(json.loads(line).values()) for line in capfd.readouterr().out.splitlines()}
    assert lines == {(1, 2, -1), (1, 3, -1)}
    assert status_of([*start, "--count"]) == 0
    assert capfd.readouterr().out == "1\n"
    assert status_of([*start, "--explain"]) == 0
    assert "a < c" in capfd.readouterr().out
    assert status_of([*start, "--delete", f"R={files['gone']}"]) == 2
    assert "(a = 1, b = 1)" in capfd.readouterr().err
    assert status_of([*start, "--count"]) == 0
    assert capfd.readouterr().out == "1\n"


def test_what_is_wrong_is_said(files: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert status_of(["maintain", "Q(a) <- R(a), a <", "--count"]) == 1
    assert status_of(["maintain", RULE, "--insert", "R", "--count"]) == 4
    assert "RELATION=FILE" in capfd.readouterr().err
    assert status_of(["maintain", RULE, "--count", "--delta"]) == 4
    assert status_of(["maintain", RULE, "--snapshot", files["snapshot"], "--count"]) == 0
    assert status_of(["maintain", "Q(x) <- R(x)", "--snapshot", files["snapshot"], "--count"]) == 2
    assert "was written for another rule" in capfd.readouterr().err
