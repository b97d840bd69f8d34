"""Aggregates over the rows of matches, as of each row."""

from ..jit import SELDOM, jit

COUNT, SUM, LEAST, GREATEST = range(4)
"""What is aggregated."""


@jit
def running(kind, values, valid, before, totals, counts, halt):
    """Aggregate values along chains of rows up to each of them, that row included.

    NaN is greater than all numbers. The caller sees to it that sums of whole numbers fit 64 bits.

    ==========  ===========================  ========================================================
    `kind`      int64                        in: `COUNT` .. `GREATEST`
    `values`    int64 or float64 [rows]      in: at least one; for `COUNT` any array
    `valid`     uint8 [rows]                 in: 0 where a row does not count
    `before`    int64 [rows]                 in: the row before it in its chain, an earlier one; -1: none
    `totals`    as `values`                  out: without a value undefined
    `counts`    int64 [rows]                 out: how many values there are
    `halt`      uint8 [1]                    in: see `jit`
    ==========  ===========================  ========================================================
    """
    count, total, earlier = 0, values[0], -1
    for row in range(before.shape[0]):
        if row % SELDOM == 0 and halt[0]:
            return
        if before[row] != earlier:
            count = 0 if before[row] < 0 else counts[before[row]]
            if kind != COUNT and count > 0:
                total = totals[before[row]]
        if valid[row]:
            count += 1
            if kind != COUNT:
                value = values[row]
                if count == 1:
                    total = value
                elif kind == SUM:
                    total += value
                elif kind == LEAST:
                    # A NaN alone differs from itself.
                    if value < total or total != total:
                        total = value
                elif value > total or value != value:
                    total = value
        counts[row] = count
        if kind != COUNT:
            totals[row] = total
        earlier = row


@jit
def squares(values, valid, before, means, totals, counts, halt):
    """Sums of squared differences from the mean, along chains of rows up to each of them (Welford 1962).

    ==========  =================  ==================================================
    `values`    float64 [rows]     in
    `valid`     uint8 [rows]       in: as for `running`
    `before`    int64 [rows]       in: as for `running`
    `means`     float64 [rows]     out: without a value 0
    `totals`    float64 [rows]     out: without a value 0
    `counts`    int64 [rows]       out: how many values there are
    `halt`      uint8 [1]          in: see `jit`
    ==========  =================  ==================================================
    """
    for row in range(before.shape[0]):
        if row % SELDOM == 0 and halt[0]:
            return
        count, mean, total = 0, 0.0, 0.0
        if before[row] >= 0:
            count, mean, total = counts[before[row]], means[before[row]], totals[before[row]]
        if valid[row]:
            count += 1
            off = values[row] - mean
            mean += off / count
            total += off * (values[row] - mean)
        counts[row], means[row], totals[row] = count, mean, total


@jit
def first_of_each(codes, valid, bounds, seen, halt):
    """Let only the first of equal values of a match count.

    =========  =======================  ==============================================================
    `codes`    int32 [rows]             in: equal values have equal codes
    `valid`    uint8 [rows]             in/out: 0 where a row does not count
    `bounds`   int64 [matches + 1]      in: as for `running`
    `seen`     int64 [codes]            scratch: 0
    `halt`     uint8 [1]                in: see `jit`
    =========  =======================  ==============================================================
    """
    for match in range(bounds.shape[0] - 1):
        for row in range(bounds[match], bounds[match + 1]):
            if row % SELDOM == 0 and halt[0]:
                return
            if valid[row]:
                if seen[codes[row]] == match + 1:
                    valid[row] = 0
                seen[codes[row]] = match + 1
