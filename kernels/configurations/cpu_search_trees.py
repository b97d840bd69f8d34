"""The configurations of a shape in a lane, ordered by a value that they keep: a search tree for each group.

It is a treap: in the order of the values from left to right, and of mixed numbers of rows from the root on.
So it is about as deep as a tree of values in a random order, whatever order they come in.
"""

import numpy as np

from ..jit import inline, jit
from .contract import RANKED, ROOT

SIGN_LESS = (1 << 63) - 1
"""All bits of a word but the sign."""

EXPONENT = 0x7FF << 52
"""The bits of a float that are all set in infinities and NaNs."""


@inline
def rank_of(kept, row, slot, kind):
    """The value of a slot as a whole number: floats ascend with it, a NaN is beyond all others."""
    bits = kept.bits[row, slot]
    return bits ^ SIGN_LESS if kind > RANKED and bits < 0 else bits


@inline
def is_finite(kept, row, slot, kind):
    """Whether a value is neither infinite nor NaN."""
    return kind == RANKED or kept.bits[row, slot] & EXPONENT != EXPONENT


@inline
def depth_of(row):
    """What is greater the closer a row is to the root; unsigned, as signed products may not overflow."""
    mixed = np.uint64(row + 1) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(29))


@jit
def lift(kept, groups, group, row):
    """Exchange a row and the one above it; the order of values stays."""
    above = kept.above[row]
    top = kept.above[above]
    if kept.peer[above] == row:
        between = kept.peered[row]
        kept.peer[above] = between
        kept.peered[row] = above
    else:
        between = kept.peer[row]
        kept.peered[above] = between
        kept.peer[row] = above
    if between >= 0:
        kept.above[between] = above
    kept.above[above] = row
    kept.above[row] = top
    if top < 0:
        groups.group[group, ROOT] = row
    elif kept.peer[top] == above:
        kept.peer[top] = row
    else:
        kept.peered[top] = row


@jit
def rank_in(kept, groups, group, row, slot, kind):
    """Put a configuration into the tree of its group."""
    value = rank_of(kept, row, slot, kind)
    above = -1
    at = groups.group[group, ROOT]
    left = False
    while at >= 0:
        above = at
        left = value < rank_of(kept, at, slot, kind)
        at = kept.peer[at] if left else kept.peered[at]
    kept.peer[row] = -1
    kept.peered[row] = -1
    kept.above[row] = above
    if above < 0:
        groups.group[group, ROOT] = row
    elif left:
        kept.peer[above] = row
    else:
        kept.peered[above] = row
    own = depth_of(row)
    while kept.above[row] >= 0 and depth_of(kept.above[row]) < own:
        lift(kept, groups, group, row)


@jit
def rank_out(kept, groups, group, row):
    """Take a configuration out of the tree of its group."""
    while kept.peer[row] >= 0 or kept.peered[row] >= 0:
        left = kept.peer[row]
        right = kept.peered[row]
        lifted = left
        if left < 0 or (right >= 0 and depth_of(right) > depth_of(left)):
            lifted = right
        lift(kept, groups, group, lifted)
    above = kept.above[row]
    if above < 0:
        groups.group[group, ROOT] = -1
    elif kept.peer[above] == row:
        kept.peer[above] = -1
    else:
        kept.peered[above] = -1


@jit
def outermost(kept, row, down):
    """The row below one with the least value; with `down` with the greatest."""
    found = row
    while row >= 0:
        found = row
        row = kept.peered[row] if down else kept.peer[row]
    return found


@jit
def next_ranked(kept, row, down):
    """The row with the next greater value; with `down` with the next lesser; -1: there is none."""
    inner = kept.peer[row] if down else kept.peered[row]
    if inner >= 0:
        return outermost(kept, inner, down)
    above = kept.above[row]
    while above >= 0 and (kept.peer[above] if down else kept.peered[above]) == row:
        row = above
        above = kept.above[row]
    return above
