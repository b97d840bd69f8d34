"""Choosing in a persistent structure on the CPU: `contract`."""

from ..forest.contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION
from ..jit import OFTEN, inline, jit
from .contract import (
    AT,
    DONE,
    EMPTY,
    ITEMS,
    ITEMS_FULL,
    LAST,
    MARKS,
    MAX,
    NEEDED,
    NEXT,
    PATHS,
    PATHS_FULL,
)


@jit
def wanted(arena, roots, below):
    """Set `below` uint8 [nodes], zero before, to 1 for the nodes under some roots, themselves among them."""
    top = -1
    for k in range(roots.shape[0]):
        below[roots[k]] = 1
        top = max(top, roots[k])
    for node in range(top, -1, -1):
        if below[node]:
            if arena[node, LEFT] >= 0:
                below[arena[node, LEFT]] = 1
            if arena[node, LABEL] == UNION:
                below[arena[node, RIGHT]] = 1


@inline
def _compared(path, one, other, side, how):
    """1 where one path is preferred to another, -1 where it is the other way round, else 0.

    `side` says which of the two alone has a mark after all these: 1 the one, -1 the other, 0 neither.
    """
    latest, earliest = side, side
    mine, yours = side > 0, side < 0
    while one != other:
        here = path[one, RIGHT] if path[one, LABEL] != BOTTOM else -1
        there = path[other, RIGHT] if path[other, LABEL] != BOTTOM else -1
        if here == there:
            if here < 0:
                break
            one, other = path[one, LEFT], path[other, LEFT]
            continue
        if here > there:
            earliest = 1
            mine = True
            one = path[one, LEFT]
        else:
            earliest = -1
            yours = True
            other = path[other, LEFT]
        if latest == 0:
            latest = earliest
        if how == LAST or (how == MAX and mine and yours):
            break
    if how == NEXT:
        return earliest
    if how == LAST:
        return latest
    return int(mine) - int(yours)


@inline
def _spread(lists, first, size):
    """The least and the greatest number of marks of some paths."""
    least, most = 1 << 62, -1
    for k in range(first, first + size):
        marks = lists.path[lists.item[k], MARKS]
        least, most = min(least, marks), max(most, marks)
    return least, most


@inline
def _beaten(lists, one, first, size, how):
    """Whether one of some paths is preferred to a path."""
    marks = lists.path[one, MARKS]
    for k in range(first, first + size):
        other = lists.item[k]
        if lists.path[other, MARKS] > marks and _compared(lists.path, other, one, 0, how) > 0:
            return True
    return False


@inline
def _greatest(lists, left, right, how, used):
    """The paths of two nodes together: where they begin, how many, and how many items are used then."""
    item = lists.item
    one, many = lists.first[left], lists.size[left]
    other, more = lists.first[right], lists.size[right]
    if how != MAX:
        side = _compared(lists.path, item[one], item[other], 0, how)
        if side > 0:
            return one, many, used
        if side < 0:
            return other, more, used
    least, most = _spread(lists, one, many)
    low, high = _spread(lists, other, more)
    begin = used
    for k in range(one, one + many):
        if how != MAX or high <= least or not _beaten(lists, item[k], other, more, how):
            item[used] = item[k]
            used += 1
    for k in range(other, other + more):
        if how != MAX or most <= low or not _beaten(lists, item[k], one, many, how):
            item[used] = item[k]
            used += 1
    return begin, used - begin, used


@jit
def of_nodes(arena, below, how, lists, progress, halt):
    """The paths of the nodes for which `below` uint8 [nodes] is not 0, which have all nodes under them.

    `how` int64 in: `NEXT`, `LAST` or `MAX`; `lists` Lists in/out; `progress` int64 [WORDS] in/out; `halt`
    uint8 [1] in: see `jit`. Returns `DONE`, `PATHS_FULL` or `ITEMS_FULL`.
    """
    for node in range(progress[AT], below.shape[0]):
        if not below[node]:
            continue
        if node % OFTEN == 0 and halt[0]:
            return DONE
        progress[AT] = node
        label, left, right = arena[node, LABEL], arena[node, LEFT], arena[node, RIGHT]
        paths, used = progress[PATHS], progress[ITEMS]
        if label == UNION:
            room, more = lists.size[left] + lists.size[right], 0
        elif label == BOTTOM:
            room, more = 1, 1
        else:
            room, more = lists.size[left], lists.size[left]
        if used + room > lists.item.shape[0]:
            progress[NEEDED] = room
            return ITEMS_FULL
        if paths + more > lists.path.shape[0]:
            progress[NEEDED] = more
            return PATHS_FULL
        if label == UNION:
            lists.first[node], lists.size[node], progress[ITEMS] = _greatest(lists, left, right, how, used)
            continue
        lists.first[node] = used
        lists.size[node] = more
        for k in range(more):
            before = -1 if label == BOTTOM else lists.item[lists.first[left] + k]
            lists.path[paths + k, LABEL] = label
            lists.path[paths + k, LEFT] = before
            lists.path[paths + k, RIGHT] = right
            lists.path[paths + k, MARKS] = 0 if before < 0 else lists.path[before, MARKS] + 1
            lists.item[used + k] = paths + k
        progress[PATHS] = paths + more
        progress[ITEMS] = used + more
    return DONE


@inline
def _beside(path, left, begin, used, one, label, how):
    """Put a path with a last mark beside those that are left at a hit; how many items are used then."""
    marks = path[one, MARKS] + (label != 0)
    kept = begin
    for k in range(begin, used):
        other, last = left.path[k], left.label[k]
        side = 0
        if how != MAX or path[other, MARKS] + (last != 0) != marks:
            side = _compared(path, one, other, int(label != 0) - int(last != 0), how)
        if side < 0:
            return used
        if side == 0 and how != MAX:
            kept = used  # all that are left have the same marked events
            break
        if side == 0:
            left.path[kept] = other
            left.label[kept] = last
            kept += 1
    left.path[kept] = one
    left.label[kept] = label
    return kept + 1


@jit
def of_hits(roots, how, lists, left, progress, halt):
    """What is left at each hit: `contract.left_reference`.

    `roots` Roots in; `how`, `lists`, `progress`, `halt` as in `of_nodes`; `left` Left out. Returns `DONE` or
    `ITEMS_FULL`.
    """
    for hit in range(progress[AT], roots.first.shape[0] - 1):
        if halt[0]:
            return DONE
        progress[AT] = hit
        begin = progress[ITEMS]
        room = 0
        for root in range(roots.first[hit], roots.first[hit + 1]):
            room += lists.size[roots.node[root]]
        if begin + room > left.path.shape[0]:
            progress[NEEDED] = room
            return ITEMS_FULL
        used = begin
        alike = True  # whether all that are left have the same number of marks, so that MAX keeps them
        for root in range(roots.first[hit], roots.first[hit + 1]):
            node, label = roots.node[root], roots.label[root]
            for k in range(lists.first[node], lists.first[node] + lists.size[node]):
                one = lists.item[k]
                marks = lists.path[one, MARKS] + (label != 0)
                if used > begin:
                    last = used - 1
                    alike = alike and marks == lists.path[left.path[last], MARKS] + (left.label[last] != 0)
                if how == MAX and alike:
                    left.path[used] = one
                    left.label[used] = label
                    used += 1
                else:
                    used = _beside(lists.path, left, begin, used, one, label, how)
        progress[ITEMS] = used
        left.first[hit + 1] = used
    return DONE


@inline
def _place(table, made, label, left, right):
    """The bucket of a node with such columns, or the empty one where it belongs."""
    mask = table.shape[0] - 1
    number = (label * 0x9E3779B97F4A7C1 + left) * 0x2545F4914F6CDD1D + right
    at = (number ^ (number >> 29)) & mask
    while table[at] != EMPTY:
        node = table[at]
        if made[node, LABEL] == label and made[node, LEFT] == left and made[node, RIGHT] == right:
            break
        at = (at + 1) & mask
    return at


@jit
def shown_nodes(path, below, shown, table, made, number, halt):
    """`contract.shown_reference`; `table` int64 [a power of two, over paths], all `EMPTY`: scratch."""
    count = 0
    for one in range(path.shape[0]):
        if one % OFTEN == 0 and halt[0]:
            return count
        if not below[one]:
            continue
        label, left, right = path[one, LABEL], path[one, LEFT], path[one, RIGHT]
        latest = right
        if label != BOTTOM:
            label, left = shown[label], number[left]
            latest = made[left, LATEST]
            if label == 0:
                number[one] = left
                continue
        at = _place(table, made, label, left, right)
        if table[at] == EMPTY:
            table[at] = count
            made[count, LABEL] = label
            made[count, LEFT] = left
            made[count, RIGHT] = right
            made[count, LATEST] = latest
            count += 1
        number[one] = table[at]
    return count
