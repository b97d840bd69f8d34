"""The order of answers: those of each hit moved to where they belong."""

from ..jit import jit


@jit
def reserve(hits, taken, row, wanted, out_hit):
    """Give each hit the rows of its answers, hit after hit.

    `hits` and `taken` int64 [n]: in, different numbers of hits, and how many answers each gives; `row` and
    `wanted` int64 [all hits]: out, for these hits the first row and the same number; `out_hit` int64
    [sum of taken]: out, the hit of each row.
    """
    n = 0
    for k in range(hits.shape[0]):
        hit = hits[k]
        row[hit] = n
        wanted[hit] = taken[k]
        for _ in range(taken[k]):
            out_hit[n] = hit
            n += 1


@jit
def lengths(found, out_first):
    """Write the number of marks of each answer where it belongs: `out_first[k + 1]` for answer k.

    `found` ChosenRows in; `out_first` int64 [all rows + 1] out.
    """
    first = found.rows.first
    for h in range(found.row.shape[0]):
        for k in range(found.taken[h]):
            row = found.order[found.begin[h] + k]
            out_first[found.row[h] + k + 1] = first[row + 1] - first[row]


@jit
def arrange(found, atoms, out_first, out_start, out_event, out_label):
    """Move the answers of hits to where they belong.

    =============  =======================  ==============================================================
    `found`        ChosenRows               in
    `atoms`        int64                    in: events of every answer; 0: their numbers differ
    `out_first`    int64 [all rows + 1]     in: where the marks of each belong; not read if `atoms` > 0
                   or [0]
    `out_start`    int64 [all rows]         out
    `out_event`    int64 [all marks]        out
    `out_label`    int32 [all marks]        out: of marks
                   or [0]
    =============  =======================  ==============================================================
    """
    rows = found.rows
    low = found.low
    for h in range(found.row.shape[0]):
        for k in range(found.taken[h]):
            row = found.order[found.begin[h] + k]
            to = found.row[h] + k
            out_start[to] = rows.start[row] + low
            base = rows.first[row]
            at = to * atoms if atoms > 0 else out_first[to]
            for m in range(rows.first[row + 1] - base):
                out_event[at + m] = rows.event[base + m] + low
                if atoms == 0:
                    out_label[at + m] = rows.label[base + m]
