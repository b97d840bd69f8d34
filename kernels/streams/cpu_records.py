"""The first event whose key an end admits, where keys go up and down, on the CPU.

An end admits the starts whose numbers (`KeyNumbers`) are at least some number. The first of them in a lane
has a greater key than all events of the lane before it: it is a **record**. Records ascend, so the first
admitted one is found by search. Each record knows the one before it and one further back, chosen so that the
search takes O(log n) steps for n records (Myers, "An applicative random-access stack", 1983).
"""

from ..jit import jit

AT, BEFORE, JUMP, DEPTH, NUMBER, FIELDS = range(6)
"""Columns of `records`: for each event the last record of its lane up to it, -1 for none; for a record the
one before it and the one further back (for the first record itself), how many records come before it, and the
number of its key. `FIELDS` is how many columns there are."""


@jit
def first_admitted(lanes, keyed, numbers, first, stop, last, records, admitted):
    """Read new events, and write for each what `first_admitted_reference` gives.

    ============  ========================  =================================================================
    `lanes`       int32 [events] or [0]     in; empty: all are in one lane
    `keyed`       uint8 [events]            in: 0 where the key is null or NaN
    `numbers`     KeyNumbers                in: of the new events
    `first`       int64                     in: the first of these
    `stop`        int64                     in: one past the last
    `last`        int64 [lanes]             in/out: the last record of each lane, -1 for none
    `records`     int64 [events, FIELDS]    in/out: of the events before `first`
    `admitted`    int64 [stop - first]      out: one past the event where it has no key
    ============  ========================  =================================================================
    """
    laned = lanes.shape[0] > 0
    for event in range(first, stop):
        lane = 0
        if laned:
            lane = lanes[event]
        before = last[lane]
        own = numbers.own[event - first]
        if keyed[event] and (before < 0 or own > records[before, NUMBER]):
            records[event, NUMBER] = own
            if before < 0:
                records[event, BEFORE] = event
                records[event, JUMP] = event
                records[event, DEPTH] = 0
            else:
                jump = records[before, JUMP]
                further = records[jump, JUMP]
                reach = records[before, DEPTH] - records[jump, DEPTH]
                if reach == records[jump, DEPTH] - records[further, DEPTH]:
                    records[event, JUMP] = further
                else:
                    records[event, JUMP] = before
                records[event, BEFORE] = before
                records[event, DEPTH] = records[before, DEPTH] + 1
            last[lane] = event
        records[event, AT] = last[lane]
        found = event + 1
        if keyed[event]:
            least = numbers.least[event - first]
            at = last[lane]
            while records[at, NUMBER] >= least:
                found = at
                if records[at, DEPTH] == 0:
                    break
                jump = records[at, JUMP]
                at = jump if records[jump, NUMBER] >= least else records[at, BEFORE]
        admitted[event - first] = found
