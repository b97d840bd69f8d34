"""The kernels that extend partial answers of rules, against their contract."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.tuples import contract as words
from cer_gpu.kernels.tuples.contract import Candidates, Pairs, RowBounds
from cer_gpu.kernels.tuples.cpu import extend, summed
from cer_gpu.kernels.tuples.cpu_sweep import SweepOrders, swept


def random_case(rng: Random, conditions: int) -> tuple[Candidates, RowBounds]:
    count, keys = rng.randrange(0, 14), rng.randrange(1, 4)
    ops = [rng.randrange(6) for _ in range(conditions)]
    ops.sort(key=lambda op: op == words.UNEQUAL)
    rank = np.array([[rng.randrange(5) for _ in range(count)] for _ in ops], np.int64).reshape(
        len(ops), count
    )
    event = sorted(rng.sample(range(count), rng.randrange(count + 1)))
    key = {one: rng.randrange(keys) for one in event}
    by_event = sorted(event, key=lambda one: (key[one], one))
    ranked = sorted(event, key=lambda one: (key[one], rank[0, one], one)) if ops else []
    begin = np.searchsorted([key[one] for one in by_event], np.arange(keys + 1))
    asked = []
    for _ in range(rng.randrange(8) if count else 0):
        low = rng.randrange(count)
        asked.append((rng.randrange(keys), low, rng.randrange(low, count)))
    which = np.array([one[0] for one in asked], np.int64)
    rows = RowBounds(
        begin[which], begin[which + 1], *(np.array([one[at] for one in asked], np.int64) for at in (1, 2)),
        np.array([[rng.randrange(5) for _ in asked] for _ in ops], np.int64).reshape(len(ops), len(asked)),
    )  # fmt: skip
    arrays = [np.array(one, np.int64) for one in (by_event, ranked, ops)]
    return Candidates(*arrays, rank), rows


@pytest.mark.parametrize("conditions", [0, 1, 2])
def test_pairs_and_their_sums(conditions: int) -> None:
    rng = Random(f"tuples {conditions}")
    made = 0
    for _ in range(400):
        candidates, rows = random_case(rng, conditions)
        wanted = words.pairs_reference(candidates, rows)
        found: list[tuple[int, int]] = []
        progress, status, room = np.zeros(words.WORDS, np.int64), words.FULL, rng.choice((1, 3, 100))
        while status == words.FULL:
            pairs = Pairs(np.empty(room, np.int64), np.empty(room, np.int64))
            status = extend(candidates, rows, pairs, progress)
            many = progress[words.MADE]
            found += zip(pairs.row[:many].tolist(), pairs.event[:many].tolist(), strict=True)
        assert sorted(found) == sorted(wanted)
        made += len(found)
        n = len(rows.begin)
        count, latest, own, last = (np.zeros(n, np.int64) for _ in range(4))
        words.summed_reference(candidates, rows, count, latest)
        assert summed(candidates, rows, own, last, np.zeros(words.WORDS, np.int64)) == words.DONE
        assert own.tolist() == count.tolist()
        assert last.tolist() == latest.tolist()
        if conditions == 1:
            place = np.full(candidates.rank.shape[1], -1, np.int64)
            place[candidates.ranked] = np.arange(len(candidates.ranked))
            many = len(candidates.event)
            sweep = SweepOrders(
                np.sort(candidates.event), place, np.argsort(rows.low, kind="stable"),
                np.argsort(rows.high, kind="stable"), np.empty((1, many), np.int64),
                np.empty((1, 2 * many), np.int64),
            )  # fmt: skip
            swept(candidates, rows, sweep, own, last)
            assert own.tolist() == count.tolist()
            assert last.tolist() == latest.tolist()
    assert made > 200
