"""States with values as bytes, to be stored with a stream: `written_down`, `read_back`."""

from __future__ import annotations

import json
from typing import Any

from cer_gpu.automata.configurations.serialization import plain, read


def written_down(value: Any) -> bytes:
    """Write nested lists, tuples, sets, mappings, clocks, numbers and texts as bytes."""
    return json.dumps(plain(value), allow_nan=False).encode()


def read_back(stored: bytes) -> Any:
    """Read what `written_down` has written; a NaN is `math.nan` itself, as `read.comparisons` has it."""
    return read(json.loads(stored))
