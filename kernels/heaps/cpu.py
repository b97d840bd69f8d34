"""The first rows of each group on the CPU: a heap for each group, the last of its rows on top."""

from ..jit import SELDOM, inline, jit


@inline
def _behind(words, late, one, other):
    """Whether a row comes behind another."""
    if late.shape[0] and late[one] != late[other]:
        return late[one] > late[other]
    if words[one] != words[other]:
        return words[one] > words[other]
    return one > other


@jit
def first_rows(groups, words, late, begins, sizes, heaps, halt):
    """`contract.first_rows_reference`; `halt` uint8 [1] in: see `jit`."""
    grouped = groups.shape[0] > 0
    group = 0
    for row in range(words.shape[0]):
        if row % SELDOM == 0 and halt[0]:
            break
        if grouped:
            group = groups[row]
        begin = begins[group]
        room = begins[group + 1] - begin
        size = sizes[group]
        if size < room:
            at = size
            sizes[group] = size + 1
            while at > 0:
                above = (at - 1) >> 1
                if not _behind(words, late, row, heaps[begin + above]):
                    break
                heaps[begin + at] = heaps[begin + above]
                at = above
            heaps[begin + at] = row
        elif room > 0 and _behind(words, late, heaps[begin], row):
            at = 0
            while True:
                below = 2 * at + 1
                if below >= room:
                    break
                if below + 1 < room and _behind(words, late, heaps[begin + below + 1], heaps[begin + below]):
                    below += 1
                if not _behind(words, late, heaps[begin + below], row):
                    break
                heaps[begin + at] = heaps[begin + below]
                at = below
            heaps[begin + at] = row
