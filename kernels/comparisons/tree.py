"""Trees over the ranks of an order: of maxima, of sums, and of versions that share their nodes.

A tree of maxima or sums has two numbers for each rank, and is walked upwards from its leaves. A version of a
tree copies the path to the leaf that has changed, so that earlier versions stay as they are. Each of its
nodes knows the latest start of the runs below it.
"""

from ..jit import jit


@jit
def raised(best, order, base, size, rank, value):
    """Raise the value of a rank to `value`, in the tree of maxima that begins at `base`."""
    at = size + rank
    while at >= 1 and best[order, base + at] < value:
        best[order, base + at] = value
        at >>= 1
    return at


@jit
def greatest(best, order, base, size, low, high):
    """The greatest value of the ranks low .. high - 1, or -1."""
    found = -1
    low += size
    high += size
    while low < high:
        if low & 1:
            found = max(found, best[order, base + low])
            low += 1
        if high & 1:
            high -= 1
            found = max(found, best[order, base + high])
        low >>= 1
        high >>= 1
    return found


@jit
def added(sums, order, base, size, rank, number):
    """Add to a rank's number, in the tree of sums that begins at `base`."""
    at = size + rank
    while at >= 1:
        sums[order, base + at] += number
        at >>= 1
    return at


@jit
def cleared(sums, order, base, size, rank):
    """Take all that was added to a rank out again."""
    at = size + rank
    while at >= 1:
        sums[order, base + at] = 0
        at >>= 1
    return at


@jit
def total(sums, order, base, size, low, high):
    """The sum of the ranks low .. high - 1, by additions alone."""
    found = sums[order, base] * 0
    low += size
    high += size
    while low < high:
        if low & 1:
            found += sums[order, base + low]
            low += 1
        if high & 1:
            high -= 1
            found += sums[order, base + high]
        low >>= 1
        high >>= 1
    return found


@jit
def put(trees, order, base, size, rank, number):
    """Add to a rank's number, in the Fenwick tree that begins at `base`."""
    at = rank + 1
    while at <= size:
        trees[order, base + at - 1] += number
        at += at & -at
    return at


@jit
def before_rank(trees, order, base, rank):
    """The sum of the ranks before `rank`."""
    found = 0
    while rank > 0:
        found += trees[order, base + rank - 1]
        rank &= rank - 1
    return found


@jit
def inserted(nodes, count, root, size, rank, entry, value):
    """Make the version of a tree with one more entry, its root at `count`; gives the number of nodes then.

    ========  ==============  ============================================
    `nodes`   ComparedNodes   out: `left`, `right` and `latest`
    `count`   int             in: how many nodes there are
    `root`    int             in: the version before, -1: the empty one
    `size`    int             in: how many ranks the tree has
    `rank`    int             in
    `entry`   int             in
    `value`   int             in: the latest start of its runs
    ========  ==============  ============================================
    """
    low = 0
    high = size
    old = root
    while True:
        nodes.latest[count] = max(value, nodes.latest[old]) if old >= 0 else value
        if high - low == 1:
            nodes.left[count] = entry
            nodes.right[count] = -1
            break
        middle = (low + high) >> 1
        left = nodes.left[old] if old >= 0 else -1
        right = nodes.right[old] if old >= 0 else -1
        if rank < middle:
            nodes.left[count] = count + 1
            nodes.right[count] = right
            old = left
            high = middle
        else:
            nodes.left[count] = left
            nodes.right[count] = count + 1
            old = right
            low = middle
        count += 1
    return count + 1


@jit
def latest_in(nodes, root, size, first, stop):
    """The latest start of the runs of ranks first .. stop - 1 in a version of a tree, or -1."""
    node = root
    low = 0
    high = size
    best = -1
    # Down to where the two ends part, or to a node that the range covers.
    going = True
    while going and node >= 0 and not (first <= low and high <= stop):
        middle = (low + high) >> 1
        if stop <= middle:
            node = nodes.left[node]
            high = middle
        elif first >= middle:
            node = nodes.right[node]
            low = middle
        else:
            going = False
    if node >= 0 and first <= low and high <= stop:
        best = nodes.latest[node]
    elif node >= 0:
        middle = (low + high) >> 1
        one = nodes.left[node]
        a = low
        b = middle
        while one >= 0 and first > a:
            half = (a + b) >> 1
            if first < half:
                right = nodes.right[one]
                if right >= 0:
                    best = max(best, nodes.latest[right])
                one = nodes.left[one]
                b = half
            else:
                one = nodes.right[one]
                a = half
        if one >= 0:
            best = max(best, nodes.latest[one])
        other = nodes.right[node]
        a = middle
        b = high
        while other >= 0 and stop < b:
            half = (a + b) >> 1
            if stop > half:
                left = nodes.left[other]
                if left >= 0:
                    best = max(best, nodes.latest[left])
                other = nodes.right[other]
                a = half
            elif stop == half:
                other = nodes.left[other]
                b = half
            else:
                other = nodes.left[other]
                b = half
        if other >= 0:
            best = max(best, nodes.latest[other])
    return best


@jit
def found_last(nodes, root, size, least, rank, lowest):
    """The greatest of the ranks `least` .. `rank` with a run from `lowest` on, and its entry; -1: none.

    =========  ==============  ===============================
    `nodes`    ComparedNodes   in
    `root`     int             in: a version of a tree
    `size`     int             in: how many ranks it has
    `least`    int             in
    `rank`     int             in
    `lowest`   int             in
    =========  ==============  ===============================
    """
    node = root
    low = 0
    high = size
    # The deepest subtree before `rank` that has such a run: all its ranks are less.
    other = -1
    other_low = 0
    other_high = 0
    while node >= 0 and nodes.latest[node] >= lowest and high - low > 1:
        middle = (low + high) >> 1
        if rank < middle:
            node = nodes.left[node]
            high = middle
        else:
            left = nodes.left[node]
            if left >= 0 and nodes.latest[left] >= lowest:
                other = left
                other_low = low
                other_high = middle
            node = nodes.right[node]
            low = middle
    if node < 0 or nodes.latest[node] < lowest:
        node = other
        low = other_low
        high = other_high
        while node >= 0 and high - low > 1:
            middle = (low + high) >> 1
            right = nodes.right[node]
            if right >= 0 and nodes.latest[right] >= lowest:
                node = right
                low = middle
            else:
                node = nodes.left[node]
                high = middle
    if node < 0 or low < least:
        return -1, -1
    return low, nodes.left[node]
