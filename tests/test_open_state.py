"""What machines keep between the pushes of a stream: growing, dropping and storing it changes no meaning."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from cer_gpu.engine.machines import open_state
from cer_gpu.engine.machines.open_state import (
    AxisRows,
    Column,
    OpenState,
    bounds_of,
    first_left,
    in_order,
    next_left,
    numbered,
    past,
)


class Chains(NamedTuple):
    """Entries of lanes: each has a name, the one before it, and links to entries."""

    name: np.ndarray
    before: np.ndarray
    link_first: np.ndarray
    link: np.ndarray
    newest: np.ndarray


COLUMNS = {
    Chains: {
        "name": Column("entry", np.int32),
        "before": Column("entry", np.int32, of="entry"),
        "link_first": Column("entry", of="links"),
        "link": Column("link", width=(2,), of=("entry", None)),
        "newest": Column("lane", of="entry", fill=-1),
    }
}


def filled(rng: Random, lanes: int, entries: int) -> OpenState:
    """A state with random chains; entry e has the name 100 + e."""
    state = OpenState(np.zeros(2, np.int64), {"entry": 0, "link": 1}, COLUMNS)
    state.reach("lane", lanes)
    for entry in range(entries):
        links = rng.randrange(3) if entry else 0
        state.reach("entry", entry + 1)
        state.reach("link", int(state.progress[1]) + links)
        chains, lane = state.read(Chains), rng.randrange(lanes)
        chains.name[entry], chains.before[entry] = 100 + entry, chains.newest[lane]
        chains.link_first[entry] = state.progress[1]
        chains.newest[lane] = entry
        for _ in range(links):
            chains.link[state.progress[1]] = rng.randrange(entry), entry
            state.progress[1] += 1
        state.progress[0] += 1
    return state


def told(state: OpenState) -> tuple[dict[int, list[int]], list[int]]:
    """By the name of each entry those of the entries that it refers to, -1 for none; and of the lanes."""
    chains, count = state.read(Chains), state.used("entry")
    ends = [*chains.link_first[1:count].tolist(), state.used("link")]
    names = [*chains.name[:count].tolist(), -1]
    entries = {
        names[at]: [
            names[chains.before[at]],
            *(names[k] for k in chains.link[chains.link_first[at] : end, 0]),
        ]
        for at, end in enumerate(ends[:count])
    }
    return entries, [names[newest] for newest in chains.newest.tolist()]


@pytest.mark.parametrize("room", [1, 1024])
def test_what_is_kept_means_the_same(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_state, "ROOM", room)
    for seed in range(30):
        rng = Random(f"kept {seed}")
        lanes, entries = rng.randrange(1, 5), rng.randrange(1, 30)
        state = filled(rng, lanes, entries)
        before, newest = told(state)
        kept = np.array([rng.random() < 0.6 for _ in range(entries)])
        chains = state.read(Chains)
        places = state.array(Chains, "link")
        linked = kept[places[:, 0]] & kept[places[:, 1]]
        order = rng.sample(range(lanes), lanes)
        rows = AxisRows(np.array(order), np.arange(lanes), lanes + 1)
        entry_of = numbered(np.flatnonzero(kept), entries)
        state.keep(
            {"entry": in_order(np.flatnonzero(kept)), "link": in_order(np.flatnonzero(linked)), "lane": rows},
            {"entry": entry_of, "links": bounds_of(linked)},
        )
        left = {100 + at for at in np.flatnonzero(kept).tolist()}
        after, lanes_after = told(state)
        assert after == {
            name: [first if first in left else -1, *(each for each in rest if each in left)]
            for name, (first, *rest) in before.items()
            if name in left
        }
        assert lanes_after == [newest[lane] if newest[lane] in left else -1 for lane in order] + [-1]
        assert chains.name[0] == 100, "what was read before stays as it was"
        other = OpenState(np.zeros(2, np.int64), {"entry": 0, "link": 1}, COLUMNS)
        other.restore({name: array.copy() for name, array in state.arrays().items()})
        assert told(other) == (after, lanes_after)
        assert other.nbytes == state.nbytes == 16 * len(after) + 16 * linked.sum() + 8 * (lanes + 1)


def test_numbers_of_what_is_left() -> None:
    for seed in range(50):
        rng = Random(f"left {seed}")
        count = rng.randrange(0, 40)
        kept = [rng.random() < 0.5 for _ in range(count)]
        group = np.array([rng.randrange(3) for _ in range(count)], np.int64)
        after = np.array([rng.choice((-1, rng.randrange(at + 1, count))) if at + 1 < count else -1
                          for at in range(count)], np.int64)  # fmt: skip
        rows = np.flatnonzero(kept)
        place = numbered(rows, count)
        new = {int(old): at for at, old in enumerate(rows)}
        for old in range(count):
            assert place[old] == new.get(old, -1)
            assert past(place)[old + 1] == new.get(old, -1) + 1
            assert bounds_of(np.array(kept))[old] == sum(kept[:old])
            alike = [new[each] for each in new if group[each] == group[old]]
            assert first_left(place, rows, group.take)(np.array([[old]])).item() == new.get(
                old, min(alike, default=-1)
            )
            at = old
            while at >= 0 and at not in new:
                at = int(after[at])
            assert next_left(place, after)[old] == new.get(at, -1)
        assert (
            place[-1]
            == past(place)[-1]
            == first_left(place, rows, group.take)(np.array([-1]))[0]
            == next_left(place, after)[-1]
            == -1
        )
