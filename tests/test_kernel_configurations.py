"""The nodes of configurations: unions of any two, a few steps from every output; what is kept of them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.configurations import contract
from cer_gpu.kernels.configurations.cpu_nodes import kept_nodes, nodes_below, union
from cer_gpu.kernels.forest.contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION


def runs_below(arena: np.ndarray, node: int) -> list[tuple[int, ...]]:
    """The complex events of a node: the start, then events and labels, by definition."""
    label, left, right, _ = arena[node].tolist()
    if label == BOTTOM:
        return [(right,)]
    if label == UNION:
        return runs_below(arena, left) + runs_below(arena, right)
    return [(*one, right, label) for one in runs_below(arena, left)]


def check_shape(arena: np.ndarray, count: int) -> None:
    """Children come first, latest starts are right, and two steps to the left meet an output."""
    for node in range(count):
        label, left, right, latest = arena[node].tolist()
        assert latest == max(one[0] for one in runs_below(arena, node))
        if label == BOTTOM:
            continue
        assert left < node
        if label == UNION:
            assert right < node
            steps = 0
            while arena[node, LABEL] == UNION:
                node, steps = int(arena[node, LEFT]), steps + 1
            assert steps <= 2


@pytest.mark.draws("seed", 20)
def test_unions_and_what_is_kept_of_them(seed: int) -> None:
    rng = Random(seed)
    arena, progress = np.empty((4000, 4), np.int64), np.zeros(contract.WORDS, np.int64)

    def node(label: int, left: int, right: int, latest: int) -> int:
        number = int(progress[contract.NODES])
        arena[number, [LABEL, LEFT, RIGHT, LATEST]] = label, left, right, latest
        progress[contract.NODES] += 1
        return number

    sets: list[tuple[int, list[tuple[int, ...]]]] = []
    for event in range(60):
        pick = rng.random()
        if pick < 0.4 or len(sets) < 2:
            sets.append((node(BOTTOM, -1, event, event), [(event,)]))
        elif pick < 0.6:
            child, runs = sets.pop(rng.randrange(len(sets)))
            sets.append(
                (node(3, child, event, int(arena[child, LATEST])), [(*one, event, 3) for one in runs])
            )
        else:
            one, ours = sets.pop(rng.randrange(len(sets)))
            other, theirs = sets.pop(rng.randrange(len(sets)))
            sets.append((int(union(arena, progress, one, other)), ours + theirs))
    count = int(progress[contract.NODES])
    check_shape(arena, count)
    for top, runs in sets:
        assert sorted(runs_below(arena, top)) == sorted(runs)
    some = [one for one in sets if rng.random() < 0.7]
    place = np.arange(100, 161)
    place_of = np.empty(count, np.int64)
    roots = np.array([top for top, _ in some] + [-1], np.int64)
    left = int(nodes_below(arena, count, roots, place_of))
    out = np.empty((left, 4), np.int64)
    kept_nodes(arena, count, place, place_of, out)
    check_shape(out, left)
    for top, runs in some:
        moved = [(one[0] + 100, *(v if n % 2 else v + 100 for n, v in enumerate(one[1:]))) for one in runs]
        assert sorted(runs_below(out, int(place_of[top]))) == sorted(moved)
    assert (place_of >= 0).sum() == left
