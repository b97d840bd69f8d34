"""The first rows of each group on the CPU: a heap for each group, the last of its rows on top.

The words of the rows in a heap lie beside it: most rows are compared with the top of their heap alone, which
is somewhere else in memory for each row.
"""

from ..jit import SELDOM, inline, jit


@inline
def _behind(late, word, row, other_word, other):
    """Whether a row comes behind another."""
    if late.shape[0] and late[row] != late[other]:
        return late[row] > late[other]
    if word != other_word:
        return word > other_word
    return row > other


@jit
def first_rows(groups, words, late, begins, sizes, heaps, tops, halt):
    """`contract.first_rows_reference`; `halt` uint8 [1] in: see `jit`."""
    grouped = groups.shape[0] > 0
    group = 0
    for row in range(words.shape[0]):
        if row % SELDOM == 0 and halt[0]:
            break
        if grouped:
            group = groups[row]
        begin, word = begins[group], words[row]
        room = begins[group + 1] - begin
        size = sizes[group]
        if size < room:
            at = begin + size
            sizes[group] = size + 1
            while at > begin:
                above = begin + ((at - begin - 1) >> 1)
                if not _behind(late, word, row, tops[above], heaps[above]):
                    break
                tops[at] = tops[above]
                heaps[at] = heaps[above]
                at = above
        elif room > 0 and _behind(late, tops[begin], heaps[begin], word, row):
            at, end = begin, begin + room
            while True:
                below = 2 * at - begin + 1
                if below >= end:
                    break
                other = below + 1
                if other < end and _behind(late, tops[other], heaps[other], tops[below], heaps[below]):
                    below = other
                if not _behind(late, tops[below], heaps[below], word, row):
                    break
                tops[at] = tops[below]
                heaps[at] = heaps[below]
                at = below
        else:
            continue
        tops[at] = word
        heaps[at] = row
