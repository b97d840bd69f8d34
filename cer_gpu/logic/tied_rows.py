"""Whether the order of rows whose times tie makes a difference to a query.

`A ;[> 0 s] B` is indifferent to it: the events of a match all have different times. `A ; B` is not: of an A
and a B of one time, the order of the rows says whether they match.
"""

from __future__ import annotations

from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.walk import is_one_event, own_children, walk


def depends_on_ties(statement: tree.Statement, ends: bool) -> bool:
    """Whether the answers may differ if rows of equal times change places.

    Parameters
    ----------
    statement : Statement
    ends : bool
        Whether the answer says at which event a match ends, or which events are its own; otherwise it is
        only the number of matches.

    Returns
    -------
    bool
        True wherever the contrary is not known.
    """
    if any(isinstance(node, tree.Previous) for node in walk(statement)):
        return True
    window = statement.window
    if window is not None and window.kind not in ("time", "attribute"):
        return True
    if isinstance(statement, tree.Rule):
        return ends  # its events have no order, but one of them is the latest
    plain = tree.SelectQuery(
        statement.pattern,
        select=statement.select,
        streams=statement.streams,
        partition=statement.partition,
        window=window,
        measures=statement.measures,
    )
    # Every other clause chooses among matches by their positions.
    return statement != plain or not _indifferent(statement.pattern)


def _indifferent(pattern: tree.Pattern) -> bool:
    """Whether a pattern has the same matches in any order of ties, each with at most one event of a time."""
    match pattern:
        case tree.Sequence() | tree.Iteration():
            fits = not pattern.contiguous and _apart(pattern.gap)
        case tree.Beside(right=right, interval=interval):
            # The interval is measured to the far end of what comes beside, whose near end may tie.
            fits = _apart(interval) and is_one_event(right, tree.OtherEvent, tree.Project)
        case tree.All() | tree.Unless() | tree.Selector():
            return False
        case _:
            fits = True
    return fits and all(map(_indifferent, own_children(pattern)))


def _apart(interval: tree.Interval | None) -> bool:
    """Whether an interval leaves out events of one time."""
    low = None if interval is None else interval.low
    return low is not None and low.unit != EVENTS and (low.value > 0 or (low.value == 0 and low.open))
