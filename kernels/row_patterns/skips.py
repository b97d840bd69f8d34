"""Where the search for matches goes on behind a match, and the room that matches are noted in."""

from ..jit import inline
from .contract import (
    ABSENT,
    DONE,
    FIRST_ROW,
    MATCHES,
    NUMBER,
    PAST_LAST_ROW,
    ROW,
    SLOTS,
    TO_FIRST,
    TO_NEXT_ROW,
)


@inline
def may_start(skip, row):
    """Whether a match may start at a row."""
    return skip.starts.shape[0] == 0 or skip.starts[row] != 0


@inline
def noted(variable_of, skip, room, start, length, at):
    """Note a match whose slots are in the room behind `at[SLOTS]`, and say where the search goes on.

    Gives `DONE`, or why it cannot go on: `FIRST_ROW` or `ABSENT`.
    """
    match = at[MATCHES]
    room.starts[match] = start
    room.lengths[match] = length
    begin = at[SLOTS]
    at[MATCHES] = match + 1
    at[SLOTS] = begin + length
    at[NUMBER] += 1
    status = DONE
    if length == 0 or skip.mode == TO_NEXT_ROW:
        at[ROW] = start + 1
    elif skip.mode == PAST_LAST_ROW:
        at[ROW] = start + length
    else:
        found = -1
        for k in range(length):
            if skip.takes[variable_of[room.slots[begin + k]]]:
                found = k
                if skip.mode == TO_FIRST:
                    break
        if found < 0:
            status = ABSENT
        elif found == 0:
            status = FIRST_ROW
        else:
            at[ROW] = start + found
    return status
