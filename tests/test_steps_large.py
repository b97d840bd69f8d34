"""Numbers of complex events of steps that do not fit 64 bits, and what is counted after them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer

MINUTE = 60_000


def bursts(sizes: Sequence[int], keys: int = 1) -> pa.Table:
    """Events of one type, a second apart in a burst; an hour from one burst to the next; some lanes alike."""
    moments = [
        hour * 60 * MINUTE + 1000 * second for hour, size in enumerate(sizes) for second in range(size)
    ]
    times = np.repeat(np.array(moments), keys)
    return pa.table(
        {
            "type": pa.array(["A"] * len(times)),
            "k": np.tile(np.arange(keys), len(moments)),
            "ts": pa.array(times, pa.timestamp("ms")),
        }
    )


@pytest.mark.crossed
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A+[<= 5 min]{keys}",
        "SELECT * WHERE A+[<= 5 min]{keys} WITHIN 1 DAY",
        "SELECT * WHERE A+[<= 5 min]{keys} WITHIN 30 MIN",
        "SELECT * WHERE A ;[<= 5 min] A+[<= 5 min] OR A{keys}",
    ],
)
@pytest.mark.parametrize("keys", [1, 3])
def test_a_number_is_exact_after_much_larger_ones(text: str, keys: int) -> None:
    """A burst of n events has 2^(n - 1) repetitions that end with its last event."""
    sizes = [130, 70, 5, 200, 66]
    query = cer.compile(text.format(keys=" PARTITION BY k" if keys > 1 else ""))
    found = query.counts(bursts(sizes, keys), order_by="ts", engine="timed")["count"].to_pylist()
    assert found == [1 << n for size in sizes for n in range(size) for _ in range(keys)]


def test_sums_that_do_not_fit_are_added_up() -> None:
    """Of 200 repetitions some end at each B; in the next burst there are few."""
    table = bursts([200, 68])
    with_b = table.set_column(0, "type", pa.array(["B" if at % 10 == 9 else "A" for at in range(len(table))]))
    found = cer.compile("SELECT * WHERE A+[<= 5 min] ;[<= 5 min] B").counts(with_b, order_by="ts")
    first = [(1 << 9 * n) - 1 for n in range(1, 21)]
    later = [(1 << 9 * n) - 1 for n in range(1, 7)]
    assert found["count"].to_pylist() == first + later


def test_pushes_list_few_complex_events_after_very_many() -> None:
    """They are counted by sums before they are listed: 2^13 of them, after 2^129 at one event."""
    table = bursts([130, 14])
    with cer.compile("SELECT * WHERE A+[<= 5 min]").stream(order_by="ts") as ours:
        ours.push(table.slice(0, 130))
        sizes = [len(ours.push(table.slice(130 + at, 1)).to_arrow()) for at in range(14)]
    assert sizes == [1 << at for at in range(14)]
