"""Golden files of messages: a call that is wrong, and what a user sees of it; every code has one."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.checked_query import check
from cer_gpu.diagnostics import CODES, render_all
from cer_gpu.errors import CerError

GOLDEN = Path(__file__).parent / "golden"
RULE = "-" * 40 + "\n"

TABLE = pa.table(
    {
        "type": ["A", "B", "A"],
        "k": [1, 1, 2],
        "v": [1.0, 2.0, 3.0],
        "name": ["x", "y", "z"],
        "colour": pa.array(["red", "blue", "red"]).dictionary_encode(),
        "at": pa.array([0, 1, 2], pa.timestamp("s", "Europe/Berlin")),
    }
)

SIZES = pa.DictionaryArray.from_arrays([0, 1, 1], ["small", "large"], ordered=True)
"""Categories with an order."""


def findings(query: str, events: object) -> str:
    """What `cer check` says of a query over some events."""
    return render_all(check(query, events), query)


NAMES = {"cer": cer, "t": TABLE, "sizes": TABLE.append_column("size", SIZES), "findings": findings}
"""What calls may use."""


def told(code: str) -> str:
    """What a user sees of a call: its error, or the findings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f"{eval(code, NAMES)}\n"
        except CerError as error:
            return f"{error}\n"


@pytest.mark.parametrize("path", sorted((GOLDEN / "asked").glob("*.txt")), ids=lambda path: path.stem)
def test_what_is_seen_of_a_call(path: Path) -> None:
    code, shown = path.read_text(encoding="utf-8").split(RULE)
    assert told(code) == shown


def test_every_code_has_a_golden_message() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in GOLDEN.rglob("*.txt"))
    assert set(re.findall(r"^\w+\[(CER\d+)\]", texts, re.MULTILINE)) == set(CODES)
