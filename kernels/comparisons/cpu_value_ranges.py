"""The entries that a view shows at an event, as a range of words: what is compared with each of a few."""

from ..jit import inline
from .contract import ABOVE, AT, AT_LEAST, AT_MOST, BELOW, DIFFERENT, EQUAL, GREATER, LESS, NO_VALUE

LEAST_WORD, GREATEST_WORD = -(1 << 63), (1 << 63) - 1


@inline
def asked(tables, events, view, event):
    """What entries have to be for a view to show them at an event.

    Gives the least and the greatest word, whether there is a word that they may not be, that word, and the
    slot plus one, 0 where slots are not compared; the least word is above the greatest where none is shown.
    """
    low = LEAST_WORD
    high = GREATEST_WORD
    hole = LEAST_WORD
    pierced = False
    none = False
    slot = 0
    row = tables.view_slot[view]
    if row >= 0:
        slot = events.slots[row, event] + 1
        none = slot == 0
    for test in range(tables.test_first[view], tables.test_first[view + 1]):
        value = tables.test_value[test]
        side = events.sides[value, event]
        word = events.words[value, event]
        op = tables.test_op[test]
        if side == NO_VALUE:
            none = True
        elif op in (LESS, AT_MOST):
            if side == ABOVE or (side == AT and op == AT_MOST):
                high = min(high, word)
            elif word == LEAST_WORD:
                none = True
            else:
                high = min(high, word - 1)
        elif op in (GREATER, AT_LEAST):
            if side == BELOW or (side == AT and op == AT_LEAST):
                low = max(low, word)
            elif word == GREATEST_WORD:
                none = True
            else:
                low = max(low, word + 1)
        elif op == EQUAL:
            none = none or side != AT
            low = max(low, word)
            high = min(high, word)
        elif op == DIFFERENT and side == AT:
            pierced = True
            hole = word
    if none:
        low = GREATEST_WORD
        high = LEAST_WORD
    return low, high, pierced, hole, slot
