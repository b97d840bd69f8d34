"""Sums whose parts 64 bits do not hold: the total is exact, and an error only where it does not fit."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.errors import DataError, LimitError

LARGE = (2**61, 2**62 - 1, 2**60 + 7, 3, -1)


def values_of(rng: Random) -> list[int]:
    """Values that nearly cancel, in any order."""
    some = [rng.choice(LARGE) for _ in range(rng.randrange(1, 12))]
    other = [-value for value in some[rng.randrange(0, 2) :]] + [rng.randrange(-9, 9) for _ in range(3)]
    found = [*some, *other]
    rng.shuffle(found)
    return found


def fits(total: int) -> bool:
    return -(2**63) < total < 2**63


@pytest.mark.draws("seed", 40)
def test_views_add_up_exactly(seed: int) -> None:
    rng = Random(seed)
    values = values_of(rng)
    times = rng.randrange(1, 4)  # each row is in as many answers
    view = cer.maintain("Q(k; SUM(x), AVG(x), COUNT(*)) <- R(k, x), S(k)")
    view.insert("S", pa.table({"k": [1] * times}))
    held: Counter[int] = Counter()
    for low in range(0, len(values), 4):
        held.update(values[low : low + 4])
        view.insert("R", pa.table({"k": [1] * len(values[low : low + 4]), "x": values[low : low + 4]}))
        total, many = times * sum(held.elements()), times * held.total()
        if fits(total):
            (row,) = view.enumerate().to_arrow().to_pylist()
            assert (row["SUM(x)"], row["COUNT(*)"]) == (total, many)
            assert row["AVG(x)"] == pytest.approx(total / many, rel=1e-15)
        else:
            with pytest.raises(LimitError, match=str(total)):
                view.enumerate().to_arrow()


def test_views_of_durations_add_up_exactly() -> None:
    view = cer.maintain("Q(k; SUM(x), AVG(x)) <- R(k, x)")
    lasting = [2**61, 2**61, 2**61, -(2**61), -(2**61), -5]
    view.insert("R", pa.table({"k": [1] * 6, "x": pa.array(lasting, pa.duration("ns"))}))
    found = view.enumerate().to_arrow()
    assert found.column("SUM(x)").cast(pa.int64()).to_pylist() == [2**61 - 5]
    assert found.column("AVG(x)").cast(pa.int64()).to_pylist() == [int((2**61 - 5) / 6)]


@pytest.mark.draws("seed", 20)
def test_rules_and_measures_add_up_exactly(seed: int) -> None:
    values = values_of(Random(seed))
    total, mean = sum(values), sum(values) / len(values)
    events = pa.table({"type": ["R"] * len(values), "k": [1] * len(values), "x": values})
    rule = cer.compile("Q(k; SUM(x), AVG(x)) <- R(k = k, x = x)")
    pattern = cer.compile(
        f"SELECT NONE, SUM(r.x) AS s, AVG(r.x) AS m WHERE R AS r :{{{len(values)}}}"
        if len(values) > 1
        else "SELECT NONE, SUM(r.x) AS s, AVG(r.x) AS m WHERE R AS r"
    )
    if not fits(total):
        for query in (rule, pattern):
            with pytest.raises(DataError, match="does not fit"):
                query.run(events).to_arrow()
        return
    (row,) = rule.run(events).to_arrow().to_pylist()
    assert row["SUM(x)"] == total
    assert row["AVG(x)"] == pytest.approx(mean, rel=1e-15)
    (row,) = pattern.run(events).to_arrow().to_pylist()
    assert row["s"] == total
    assert row["m"] == pytest.approx(mean, rel=1e-15)


def test_a_rule_multiplies_beyond_64_bits_only_on_the_way() -> None:
    events = pa.table({"type": ["R"] * 11, "k": [1] * 11, "x": [2**61] * 6 + [-(2**61)] * 5})
    (row,) = cer.compile("Q(k; SUM(x)) <- R(k = k, x = x)").run(events).to_arrow().to_pylist()
    assert row["SUM(x)"] == 2**61
    with pytest.raises(DataError, match=r"SUM\(x\)` has a value that does not fit"):
        cer.compile("Q(k; SUM(x)) <- R(k = k, x = x), R(k = k)").run(events).to_arrow()
