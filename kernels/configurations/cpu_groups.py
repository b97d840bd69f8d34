"""Where configurations are kept: in chains by their hash, and in groups of a lane by their shape."""

import numpy as np

from ..jit import inline, jit
from .contract import (
    COUNT,
    FREE,
    LIMB,
    LINKS,
    RANKED,
    ROOT,
    TOP,
)
from .cpu_nodes import union
from .cpu_search_trees import rank_in, rank_out


@inline
def limbs_of(kept):
    """How many digits the counts of complex events have; 0: complex events are not counted."""
    return kept.number.shape[1]


@inline
def hash_of(lane, shape, bits, row, n_slots, last):
    mixed = np.int64(lane + 1) * 0x9E3779B97F4A7C1 + np.int64(shape) * 0x2545F4914F6CDD1D
    for k in range(n_slots):
        mixed ^= mixed >> 29
        mixed = mixed * 0x2127599BF4325C37 + bits[row, k]
    mixed ^= mixed >> 32
    mixed *= 0x2545F4914F6CDD1D
    return (mixed >> 20) & last


@inline
def value_of(kept, row, slot, real):
    """The value of a slot as the index of its shape compares it: both zeros of floats are one value."""
    return 0 if real and kept.reals[row, slot] == 0.0 else kept.bits[row, slot]


@inline
def place_of(kept, lane, shape, value):
    """The place in the index of the configurations of a shape with some value."""
    mixed = np.int64(lane + 1) * 0x9E3779B97F4A7C1 + np.int64(shape) * 0x2545F4914F6CDD1D
    mixed ^= mixed >> 29
    mixed = mixed * 0x2127599BF4325C37 + value
    mixed ^= mixed >> 32
    mixed *= 0x2545F4914F6CDD1D
    return (mixed >> 20) & (kept.heads.shape[0] - 1)


@inline
def indexed_at(kept, row, slot, real):
    return place_of(kept, kept.lane[row], kept.shape[row], value_of(kept, row, slot, real))


@inline
def list_in_index(kept, groups, group, row, indexed):
    slot = indexed[kept.shape[row], 0]
    if slot >= 0 and indexed[kept.shape[row], 1] >= RANKED:
        rank_in(kept, groups, group, row, slot, indexed[kept.shape[row], 1])
    elif slot >= 0:
        at = indexed_at(kept, row, slot, indexed[kept.shape[row], 1])
        after = kept.heads[at]
        kept.peer[row] = after
        kept.peered[row] = -1
        if after >= 0:
            kept.peered[after] = row
        kept.heads[at] = row


@inline
def list_in_group(kept, groups, group, row):
    after = groups.group[group, 1]
    kept.next[row] = after
    kept.before[row] = -1
    if after >= 0:
        kept.before[after] = row
    groups.group[group, 1] = row


@jit
def take_out(kept, groups, row, n_slots, indexed, progress):
    """Drop a configuration; its group stays, even if it is empty then."""
    unlink(kept, row, n_slots)
    shape = kept.shape[row]
    slot = indexed[shape, 0]
    ranked = slot >= 0 and indexed[shape, 1] >= RANKED
    if slot >= 0 and not ranked:
        after = kept.peer[row]
        if kept.peered[row] >= 0:
            kept.peer[kept.peered[row]] = after
        else:
            kept.heads[indexed_at(kept, row, slot, indexed[shape, 1])] = after
        if after >= 0:
            kept.peered[after] = kept.peered[row]
    after = kept.next[row]
    if kept.before[row] < 0 or ranked:
        at = groups.lane[kept.lane[row], 0]
        while groups.group[at, 0] != shape:
            at = groups.group[at, 2]
        if ranked:
            rank_out(kept, groups, at, row)
        if kept.before[row] < 0:
            groups.group[at, 1] = after
    if kept.before[row] >= 0:
        kept.next[kept.before[row]] = after
    if after >= 0:
        kept.before[after] = kept.before[row]
    kept.shape[row] = -1
    kept.next[row] = progress[FREE]
    progress[FREE] = row
    progress[COUNT] -= 1


@jit
def unlink(kept, row, n_slots):
    """Take a configuration out of the chain of its hash."""
    at = hash_of(kept.lane[row], kept.shape[row], kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
    one = kept.bucket[at]
    if one == row:
        kept.bucket[at] = kept.chain[row]
        return
    while kept.chain[one] != row:
        one = kept.chain[one]
    kept.chain[one] = kept.chain[row]


@inline
def group_of(groups, lane, shape, progress):
    """The group of a shape in a lane, made if there is none."""
    at = groups.lane[lane, 0]
    while at >= 0 and groups.group[at, 0] != shape:
        at = groups.group[at, 2]
    if at < 0:
        at = progress[LINKS]
        progress[LINKS] = groups.group[at, 2]
        groups.group[at, 0] = shape
        groups.group[at, 1] = -1
        groups.group[at, 2] = groups.lane[lane, 0]
        groups.group[at, ROOT] = -1
        groups.lane[lane, 0] = at
    return at


@jit
def arrange(kept, groups, count, count_of, indexed, progress):
    """Put the configurations of the first `count` rows into chains and groups; all other rows become free.

    `count_of` int32 [shapes] in: the slots of each shape; `indexed` as in `Steps`. All groups are made again.
    """
    for at in range(kept.heads.shape[0]):
        kept.heads[at] = -1
    for at in range(kept.bucket.shape[0]):
        kept.bucket[at] = -1
    for lane in range(groups.lane.shape[0]):
        groups.lane[lane, 0] = -1
    for at in range(groups.group.shape[0]):
        groups.group[at, 2] = at + 1
    progress[LINKS] = 0
    for row in range(count):
        n_slots = count_of[kept.shape[row]]
        at = hash_of(kept.lane[row], kept.shape[row], kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
        kept.chain[row] = kept.bucket[at]
        kept.bucket[at] = row
        group = group_of(groups, kept.lane[row], kept.shape[row], progress)
        list_in_group(kept, groups, group, row)
        list_in_index(kept, groups, group, row, indexed)
    for row in range(count, kept.shape.shape[0]):
        kept.shape[row] = -1
        kept.next[row] = row + 1
    progress[FREE] = count
    progress[COUNT] = count


@jit
def forget(kept, groups, lane, count_of, indexed, progress):
    """Drop all configurations of a lane."""
    at = groups.lane[lane, 0]
    while at >= 0:
        row = groups.group[at, 1]
        while row >= 0:
            after = kept.next[row]
            take_out(kept, groups, row, count_of[kept.shape[row]], indexed, progress)
            row = after
        after = groups.group[at, 2]
        groups.lane[lane, 0] = after  # what is left is looked for among the groups of the lane
        groups.group[at, 2] = progress[LINKS]
        progress[LINKS] = at
        at = after
    groups.lane[lane, 2] = 0


@inline
def put(kept, groups, lane, shape, n_slots, row, indexed, arena, progress):
    """Put in the configuration in the first free row, or add its complex events to an equal one."""
    at = hash_of(lane, shape, kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
    one = kept.bucket[at]
    while one >= 0:
        if kept.shape[one] == shape and kept.lane[one] == lane:
            same = True
            for k in range(n_slots):
                if kept.bits[one, k] != kept.bits[row, k]:
                    same = False
                    break
            if same:
                break
        one = kept.chain[one]
    if one < 0:
        progress[FREE] = kept.next[row]
        progress[COUNT] += 1
        kept.shape[row] = shape
        kept.lane[row] = lane
        kept.chain[row] = kept.bucket[at]
        kept.bucket[at] = row
        group = group_of(groups, lane, shape, progress)
        list_in_group(kept, groups, group, row)
        list_in_index(kept, groups, group, row, indexed)
    else:
        kept.began[one, 0] = min(kept.began[one, 0], kept.began[row, 0])
        if kept.began[row, 1] > kept.began[one, 1]:
            kept.began[one, 1] = kept.began[row, 1]
            kept.since[one] = kept.since[row]
        if kept.node.shape[0] > 0 and kept.node[row] >= 0:
            kept.node[one] = union(arena, progress, kept.node[row], kept.node[one])
        carry = 0
        limbs = limbs_of(kept)
        for k in range(limbs):
            total = kept.number[one, k] + kept.number[row, k] + carry
            carry = 0
            if total >= LIMB:
                total -= LIMB
                carry = 1
            kept.number[one, k] = total
        if limbs > 0:
            progress[TOP] = max(progress[TOP], kept.number[one, limbs - 1])
