"""Whether the order of rows whose times tie makes a difference to a query.

`A ;[> 0 s] B` is indifferent to it: the events of a match all have different times. `A ; B` is not: of an A
and a B of one time, the order of the rows says whether they match.
"""

from __future__ import annotations

from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.walk import walk


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
        case tree.EventType() | tree.OtherEvent():
            return True
        case tree.Sequence(left=left, right=right, contiguous=False, gap=gap):
            return _apart(gap) and _indifferent(left) and _indifferent(right)
        case tree.Iteration(pattern=repeated, contiguous=False, gap=gap):
            return _apart(gap) and _indifferent(repeated)
        case tree.Beside(left=left, right=right, interval=interval):
            # The interval is measured to the far end of what comes beside, whose near end may tie.
            return _apart(interval) and _indifferent(left) and _is_single(right)
        case tree.And(left=left, right=right) | tree.Or(left=left, right=right):
            return _indifferent(left) and _indifferent(right)
        case (
            tree.As(pattern=inner)
            | tree.Optional(pattern=inner)
            | tree.Filter(pattern=inner)
            | tree.Project(pattern=inner)
            | tree.Timed(pattern=inner)
        ):
            return _indifferent(inner)
        case _:
            return False


def _is_single(pattern: tree.Pattern) -> bool:
    """Whether all matches of a pattern have one event."""
    match pattern:
        case tree.EventType() | tree.OtherEvent():
            return True
        case tree.As(pattern=inner) | tree.Filter(pattern=inner) | tree.Project(pattern=inner):
            return _is_single(inner)
        case tree.Or(left=left, right=right):
            return _is_single(left) and _is_single(right)
        case _:
            return False


def _apart(interval: tree.Interval | None) -> bool:
    """Whether an interval leaves out events of one time."""
    low = None if interval is None else interval.low
    return low is not None and low.unit != EVENTS and (low.value > 0 or (low.value == 0 and low.open))
