"""The contract of the first rows of each group.

A row comes before another if `late` is less, or else its word, or else its number. Of each group as many rows
are kept as its heap has room for: those that come first.

=========  ===================  =======================================================================
`groups`   int32 [n] or [0]     in: the group of each row; empty: all are of one
`words`    int64 [n]            in
`late`     uint8 [n] or [0]     in: which rows come behind others whatever their words; empty: none
`begins`   int64 [groups + 1]   in: the heap of group g is heaps[begins[g]] .. heaps[begins[g + 1] - 1]
`sizes`    int64 [groups]       in: zeros; out: how many rows of each heap are taken
`heaps`    int64 [rows]         out: rows; of each heap the last one in order comes first
`tops`     int64 [rows]         out: their words
=========  ===================  =======================================================================
"""


def first_rows_reference(groups, words, late, begins, sizes, heaps, tops):
    """Write the rows that come first into the heaps, each in descending order, which is a heap as well."""
    for group in range(len(sizes)):
        own = [row for row in range(len(words)) if not len(groups) or groups[row] == group]
        own.sort(key=lambda row: (late[row] if len(late) else 0, words[row], row))
        kept = own[: begins[group + 1] - begins[group]]
        sizes[group] = len(kept)
        heaps[begins[group] : begins[group] + len(kept)] = kept[::-1]
        tops[begins[group] : begins[group] + len(kept)] = words[kept[::-1]]
