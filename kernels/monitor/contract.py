"""The contract of monitors: finite automata that read each relevant event of a lane and rename its symbol."""


def rename_reference(follow, symbol, symbols, lanes, state):
    """The renamed symbols, as a list; `state` is a list and holds the state of each lane afterwards.

    ==========  =================================  ==============================================
    `follow`    int32 [states, symbols]            in: the state after an event
    `symbol`    uint16 [states, symbols]           in: what an event's symbol becomes
    `symbols`   unsigned [n]                       in
    `lanes`     int32 [n] or [0]                   in: the lane of each event; empty: there is one
    `state`     int32 [lanes]                      in/out: the state of each lane
    ==========  =================================  ==============================================
    """
    renamed = []
    for event, read in enumerate(symbols):
        lane = lanes[event] if len(lanes) else 0
        renamed.append(int(symbol[state[lane], read]))
        state[lane] = int(follow[state[lane], read])
    return renamed
