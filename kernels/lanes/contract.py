"""Lanes: the ordinals and the order of events in their partition, and the sort that groups them by partition.

Each function here is both the body of a kernel and its definition.

A lane is the number of a partition; -1 stands for an event that belongs to none.
"""


def ordinals_body(lanes, counters, out):
    """Number the events of every lane.

    `lanes` int32 [n]: in; `counters` int64 [lanes]: in/out, how many events each lane has had; `out` int64
    [n]: out, the ordinal of each event in its lane, -1 where it has none.
    """
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane < 0:
            out[i] = -1
        else:
            out[i] = counters[lane]
            counters[lane] += 1


def lane_decrease_body(lanes, values, last, seen):
    """The first event whose value is less than the one before it in its lane, or -1.

    `lanes` int32 [n] and `values` any number [n]: in; `last` int64 or float64 [lanes] and `seen` uint8
    [lanes]: in/out, the last value of each lane, and whether there is one, of the rows before the one given.
    """
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane >= 0:
            if seen[lane] and values[i] < last[lane]:
                return i
            last[lane] = values[i]
            seen[lane] = 1
    return -1


def group_body(lanes, starts, place):
    """Write where each event goes when events are grouped by lane, in their order inside each lane.

    `lanes` int32 [n] in, all >= 0; `starts` int64 [lanes + 1] in: zeros, out: where each lane begins, and
    n; `place` int32 [n] out: the new index of each event.
    """
    count = starts.shape[0] - 1
    for i in range(lanes.shape[0]):
        starts[lanes[i] + 1] += 1
    for lane in range(count):
        starts[lane + 1] += starts[lane]
    for i in range(lanes.shape[0]):
        place[i] = starts[lanes[i]]
        starts[lanes[i]] += 1
    for lane in range(count, 0, -1):
        starts[lane] = starts[lane - 1]
    starts[0] = 0


def events_before_body(lanes, distances, depth, recent, place, out):
    """Find, for each event, the event a given number of events before it in its lane.

    `lanes` int32 [n] in, -1 for an event that belongs to none; `distances` int64 [k] in, each from 1 to
    `depth`; `recent` int64 [lanes * depth] in/out: the last `depth` events of each lane in a ring, the index
    of an event of this batch, -1 for none, less for one of an earlier batch; `place` int32 [lanes] in/out:
    where in its ring the next event of each lane goes; `out` int64 [k, n]: the index of the event, -1 for
    none, and -2 - slot for the one of an earlier batch in a slot of `recent`.
    """
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane < 0:
            for k in range(distances.shape[0]):
                out[k, i] = -1
        else:
            at = place[lane]
            first = lane * depth
            for k in range(distances.shape[0]):
                slot = at - distances[k]
                if slot < 0:
                    slot += depth
                event = recent[first + slot]
                out[k, i] = event if event >= -1 else -2 - first - slot
            recent[first + at] = i
            place[lane] = at + 1 if at + 1 < depth else 0


def values_before_body(values, valid, events, carried, there, out, out_valid):
    """Write the values of the events that `events_before_body` has found.

    `values` unsigned [n] and `valid` uint8 [n] or [0]: in, of this batch; `events` int64 [n]: in; `carried`
    unsigned [slots] and `there` uint8 [slots]: in, of earlier batches, by slot; `out` unsigned [n] and
    `out_valid` uint8 [n]: out, the value, and whether there is one.
    """
    masked = valid.shape[0] > 0
    for i in range(events.shape[0]):
        event = events[i]
        if event >= 0:
            out[i] = values[event]
            out_valid[i] = valid[event] if masked else 1
        elif event == -1:
            out[i] = 0
            out_valid[i] = 0
        else:
            out[i] = carried[-2 - event]
            out_valid[i] = there[-2 - event]


def last_values_body(lanes, values, valid, last, there, out, out_valid):
    """Write the value of the event before each event in its lane; gives how many events have none.

    `lanes` int32 [n] in, -1 for an event that belongs to none; `values` unsigned [n] and `valid` uint8 [n] or
    [0]: in; `last` unsigned [lanes] and `there` uint8 [lanes]: in/out, the value of the last event of each
    lane, and whether there is one; `out` unsigned [n] and `out_valid` uint8 [n]: out, the value, and whether
    there is one.
    """
    masked = valid.shape[0] > 0
    none = 0
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane < 0:
            out[i] = 0
            out_valid[i] = 0
            none += 1
        else:
            out[i] = last[lane]
            out_valid[i] = there[lane]
            none += there[lane] == 0
            last[lane] = values[i]
            there[lane] = valid[i] if masked else 1
    return none


def mark_body(lanes, there):
    """Note which lanes occur: `lanes` int32 [n] in, all >= 0; `there` uint8 [lanes] out: 1 where one does."""
    for i in range(lanes.shape[0]):
        there[lanes[i]] = 1


def gather_body(values, rows, out):
    """`out[i] = values[rows[i]]`: `values` any dtype [n], `rows` int64 [m], `out` any wider dtype [m]."""
    for i in range(rows.shape[0]):
        out[i] = values[rows[i]]
