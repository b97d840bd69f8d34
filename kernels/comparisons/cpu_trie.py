"""The trees of `Versions`: entries by value, of which a stream keeps every version that a run refers to.

A tree forks at bits of its keys. So it is never deeper than keys have bits, and if keys come in random order,
its depth is about the logarithm of their number; it is never rebalanced.
"""

import numpy as np

from ..jit import inline, jit
from .contract import BIT, LATEST, LEAF, LEFT, RIGHT

LAST_PLACE = np.uint64(2**64 - 1)
"""Greater than every position."""

DEPTH = 130
"""Nodes that an insertion makes at most."""


@inline
def _right(bit, word, place):
    """Whether a key has a 1 at a bit."""
    shifted = place
    by = np.uint64(bit)
    if bit >= 64:
        shifted = word
        by = np.uint64(bit - 64)
    return (shifted >> by) & np.uint64(1) == np.uint64(1)


@inline
def _above(bit, word, place, other_word, other_place):
    """Whether two keys differ above a bit."""
    differs = False
    if bit >= 64:
        differs = (word ^ other_word) >> np.uint64(bit - 64) > np.uint64(1)
    else:
        differs = word != other_word or (place ^ other_place) >> np.uint64(bit) > np.uint64(1)
    return differs


@inline
def _before(word, place, other_word, other_place):
    """Whether a key is less than another."""
    return word < other_word or (word == other_word and place < other_place)


@jit
def first_difference(word, place, other_word, other_place):
    """The highest bit at which two different keys differ.

    ===============  ======  ==
    `word`           uint64  in
    `place`          uint64  in
    `other_word`     uint64  in
    `other_place`    uint64  in
    ===============  ======  ==
    """
    bit = 64
    left = word ^ other_word
    if left == np.uint64(0):
        bit = 0
        left = place ^ other_place
    half = 32
    while half > 0:
        if left >> np.uint64(half) != np.uint64(0):
            left = left >> np.uint64(half)
            bit += half
        half >>= 1
    return bit


@jit
def put_in(versions, count, root, word, place, entry, value):
    """Make the version of a tree with one more entry, its root the last node; gives the number of nodes then.

    ==========  ========  ===========================================
    `versions`  Versions  in/out: `tree` and `key`
    `count`     int       in: how many nodes there are
    `root`      int       in: the version before, -1: the empty one
    `word`      uint64    in: with `place` the key of the entry; no other entry has it
    `place`     uint64    in
    `entry`     int       in
    `value`     int       in: the latest start of its runs
    ==========  ========  ===========================================

    A node refers only to nodes with smaller numbers.
    """
    tree = versions.tree
    key = versions.key
    tree[count, LEFT] = entry
    tree[count, RIGHT] = -1
    tree[count, LATEST] = value
    tree[count, BIT] = LEAF
    key[count, 0] = word
    key[count, 1] = place
    if root < 0:
        return count + 1
    # How many nodes are copied; the leaf, a new fork, and these from the last to the first follow each other.
    old = root
    at = count + 1
    while not (tree[old, BIT] == LEAF or _above(tree[old, BIT], word, place, key[old, 0], key[old, 1])):
        side = RIGHT if _right(tree[old, BIT], word, place) else LEFT
        old = tree[old, side]
        at += 1
    end = at + 1
    old = root
    while at > count:
        bit = tree[old, BIT]
        if at == count + 1:
            bit = first_difference(word, place, key[old, 0], key[old, 1])
        other = old
        if _right(bit, word, place):
            if at > count + 1:
                other = tree[old, LEFT]
            tree[at, LEFT] = other
            tree[at, RIGHT] = at - 1
        else:
            if at > count + 1:
                other = tree[old, RIGHT]
            tree[at, LEFT] = at - 1
            tree[at, RIGHT] = other
        tree[at, LATEST] = max(value, tree[old, LATEST])
        tree[at, BIT] = bit
        key[at, 0] = word
        key[at, 1] = place
        side = RIGHT if _right(bit, word, place) else LEFT
        old = tree[old, side]
        at -= 1
    return end


@jit
def latest_among(versions, root, low, high, stack):
    """The latest start of the runs of the entries with the words `low` .. `high` in a version, or -1.

    ==========  ============  ==================================
    `versions`  Versions      in
    `root`      int           in: a version, -1: the empty one
    `low`       uint64        in
    `high`      uint64        in: less than `low` for no entries
    `stack`     int64 [128]   scratch
    ==========  ============  ==================================
    """
    tree = versions.tree
    key = versions.key
    best = -1
    top = 0
    if root >= 0 and low <= high:
        stack[0] = root
        top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if tree[node, LATEST] <= best:
            continue
        bit = tree[node, BIT]
        least = key[node, 0]
        most = least
        if bit >= 64:
            below = (np.uint64(2) << np.uint64(bit - 64)) - np.uint64(1)
            least -= least & below
            most = least | below
        if low <= least and most <= high:
            best = tree[node, LATEST]
        elif low <= most and least <= high and bit >= 64:
            stack[top] = tree[node, LEFT]
            stack[top + 1] = tree[node, RIGHT]
            top += 2
    return best


@jit
def leaf_before(versions, root, word, place, low, lowest):
    """The leaf with the greatest key below a key whose entry has a run from `lowest` on; -1: none.

    ==========  ========  ==============================
    `versions`  Versions  in
    `root`      int       in: a version
    `word`      uint64    in: the key
    `place`     uint64    in
    `low`       uint64    in: the least word of a leaf
    `lowest`    int       in
    ==========  ========  ==============================
    """
    tree = versions.tree
    key = versions.key
    node = root
    # The last subtree found with such a run all of whose keys are before: later ones are greater.
    found = -1
    going = tree[node, LATEST] >= lowest
    while going:
        bit = tree[node, BIT]
        if bit == LEAF or _above(bit, word, place, key[node, 0], key[node, 1]):
            if _before(key[node, 0], key[node, 1], word, place):
                found = node
            going = False
        elif _right(bit, word, place):
            left = tree[node, LEFT]
            if tree[left, LATEST] >= lowest:
                found = left
            node = tree[node, RIGHT]
            going = tree[node, LATEST] >= lowest
        else:
            node = tree[node, LEFT]
            going = tree[node, LATEST] >= lowest
    while found >= 0 and tree[found, BIT] != LEAF:
        right = tree[found, RIGHT]
        found = right if tree[right, LATEST] >= lowest else tree[found, LEFT]
    if found >= 0 and key[found, 0] < low:
        found = -1
    return found
