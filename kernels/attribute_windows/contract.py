"""The contract of windows over an attribute that goes up and down, and the method of their kernels.

`WITHIN n [x]` keeps a complex event from i to j iff `x[j] - x[i] <= n`. Where x ascends, the starts that an
end j admits are the last ones before it. Where x falls, they may lie anywhere; but in the order of x they
still are the greatest. So the events of a lane are sorted by x, ties by time: the **rank** of an event is its
place in this order, and the end j admits the starts whose rank is at least `least[j]`. The kernels read
nothing else of x.

Ranks are numbered through the chunk: the events `begin .. stop - 1` of a lane have the ranks
`begin .. stop - 1`. In lanes that are not sorted the rank of an event is its own number, and `least` is 0.

========  ================  =================================================================================
`order`   int64 [events]    the event of each rank
`rank`    int64 [events]    the rank of each event
`least`   int64 [events]    the least rank of a start that the end at each event admits; `stop` if it admits
                            none
========  ================  =================================================================================

Hits and counts are found by **divide and conquer** over time. A run that begins in the left half of a range
of events and ends in its right half passes the middle in one state. So one pass backwards finds, for each
start on the left, the states in which its runs pass the middle; one pass forwards finds, for each end on the
right, the states from which it is reached. Starts and ends are then brought together in the order of their
ranks: taken by falling `least`, each end admits the starts that the end before it admits, and some more. Each
state has one register for the admitted starts: the latest one, or the number of runs. Then both halves are
done in the same way. An event costs as many steps as its symbol has transitions, on each of log(n) levels
(for counts, times the number of states). Starts and ends that cannot meet are left out, so a lane whose
attribute ascends costs little more than its windows do.
"""

from typing import NamedTuple

import numpy as np

from ..runs.contract import Program, TransitionTables, accepting_runs


class AutomatonPrograms(NamedTuple):
    """An automaton with its `forward_program` and its `backward_program`."""

    tables: TransitionTables
    forward: Program
    backward: Program


class Ranks(NamedTuple):
    """The events of some lanes in the order of an attribute: the arrays of the table above."""

    order: np.ndarray
    rank: np.ndarray
    least: np.ndarray


class RangeLists(NamedTuple):
    """For each range of events that has been done, its starts and its ends in the order of their ranks.

    The range `low .. high - 1` has `starts[low] .. starts[low + n_starts[low] - 1]`, by falling rank, and
    `ends[low] .. ends[low + n_ends[low] - 1]`, by falling `least`. Starts whose runs are all over are left
    out, and so are ends that need nothing more. All int64 [events]; `spare` is scratch.
    """

    starts: np.ndarray
    n_starts: np.ndarray
    ends: np.ndarray
    n_ends: np.ndarray
    spare: np.ndarray


def ranks_reference(keys, size, begin, stop):
    """`order`, `rank` and `least` of lanes by definition, as lists."""
    order, least = list(range(len(keys))), [0] * len(keys)
    for low, high in zip(begin, stop):
        order[low:high] = sorted(range(low, high), key=lambda event: (keys[event], event))
        for end in range(low, high):
            admitted = [keys[end] - keys[event] <= size for event in order[low:high]]
            least[end] = low + admitted.index(True) if True in admitted else high
    rank = [0] * len(keys)
    for place, event in enumerate(order):
        rank[event] = place
    return order, rank, least


def hits_reference(tables, symbols, rank, least, begin, report, stop):
    """The hits of one segment by definition: a list of (event, latest admissible start, count)."""
    found = {}
    for i, j, _ in accepting_runs(tables, symbols, begin, stop):
        if j >= report and rank[i] >= least[j]:
            found.setdefault(j, []).append(i)
    return [(j, max(starts), len(starts)) for j, starts in sorted(found.items())]
