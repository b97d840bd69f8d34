"""For each event, where its partial matches may end at the earliest: one pass over the events backwards."""

from ..jit import jit


@jit
def earliest_ends(first, edge, symbols, lanes, measured, begin, never, seen, lane_ends, out, halt):
    """For each event and state the least `measured` at which a run may end that is in the state after it.

    ===========  ==============================  =============================================================
    `first`      int32 [symbols + 1]             in: symbol s has the transitions first[s] .. first[s + 1] - 1
    `edge`       int32 [transitions, 2]          in: the source, and the target; -1: runs end
    `symbols`    uint8 or uint16 [events]        in
    `lanes`      int32 [events] or [0]           in: empty: all are in one lane
    `measured`   uint64 or float64 [events]      in: ascending in each lane
    `begin`      int64                           in: the first event whose row is wanted
    `never`      as `measured`                   in: greater than all that is measured
    `seen`       uint8 [lanes]                   scratch: 0
    `lane_ends`  as `measured` [lanes, states]   scratch
    `out`        as `measured` [events, states]  out, from `begin` on; `never`: no run ends
    `halt`       uint8 [1]                       in: see `jit`
    ===========  ==============================  =============================================================

    Events to come are not known: a run may end at the time of the last event of its lane.
    """
    n_states = out.shape[1]
    laned = lanes.shape[0] > 0
    for back in range(symbols.shape[0] - begin):
        event = symbols.shape[0] - 1 - back
        if halt[0]:
            return
        lane = lanes[event] if laned else 0
        now = measured[event]
        for q in range(n_states):
            out[event, q] = lane_ends[lane, q] if seen[lane] else now
            lane_ends[lane, q] = never
        seen[lane] = 1
        symbol = symbols[event]
        for t in range(first[symbol], first[symbol + 1]):
            source = edge[t, 0]
            target = edge[t, 1]
            ends = now if target < 0 else out[event, target]
            if ends < lane_ends[lane, source]:
                lane_ends[lane, source] = ends
