"""Numbers for keys on the CPU, by `contract`.

Indices are unsigned: of a signed one it is checked each time whether it is negative, which takes five times
as long as the hash of a text.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import UNKNOWN, room_of

SHORT = 15
"""The most bytes of texts that `number_short_texts` numbers."""

_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_HALF = np.uint64(33)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)


@inline
def _mixed(word):
    """A hash of a word: all of its bits have a say in each bit."""
    word = (word ^ (word >> _HALF)) * _FIRST
    word = (word ^ (word >> _HALF)) * _SECOND
    return word ^ (word >> _HALF)


@inline
def _shift(places):
    """By how much a hash is shifted to leave the number of a place."""
    shift = np.uint64(64)
    size = places.shape[0]
    while size > 1:
        size >>= 1
        shift -= _ONE
    return shift


_room = inline(room_of)


@inline
def _home(fingerprint, shift):
    """Where to look for a key first: neighbouring numbers lie far from each other, and few together."""
    return (np.uint64(fingerprint) * _GOLDEN) >> shift


@jit
def _fingerprint(words, row):
    """What tells the key of a row from most others; a single word from all others."""
    if words.ndim == 1:
        fingerprint = words[row]
    else:
        mixed = np.uint64(0)
        for part in range(words.shape[0]):
            mixed = _mixed(mixed ^ np.uint64(words[part, row]))
        fingerprint = np.int64(mixed)
    return fingerprint


@jit
def _is_key(known, number, words, row):
    """Whether a number is that of the key of a row, whose fingerprint it has."""
    same = True
    if words.ndim == 2:
        for part in range(words.shape[0]):
            same &= known[number, part] == words[part, row]
    return same


@jit
def _keep_key(known, number, words, row):
    """Note the key of a new number."""
    if words.ndim == 1:
        known[number] = words[row]
    else:
        for part in range(words.shape[0]):
            known[number, part] = words[part, row]


@jit
def _boxed(table, words, row):
    """Where `near` has the key of a row; its length where the key is outside the box."""
    outside = np.uint64(table.near.shape[0])
    if words.ndim == 1:
        offset = min(np.uint64(words[row]) - np.uint64(table.least[0]), outside)
    else:
        offset, inside = np.uint64(0), True
        for part in range(words.shape[0]):
            own = np.uint64(words[part, row]) - np.uint64(table.least[part])
            size = np.uint64(table.span[part])
            inside &= own < size
            offset = offset * size + own
        if not inside:
            offset = outside
    return offset


@jit
def number_words(table, words, valid, counters, start, numbers, ordinals):
    """Number the keys of rows, and the rows of each key: the row before which the table was full, or n."""
    places, known = table.places, table.words
    mask, shift = np.uint64(places.shape[0] - 1), _shift(places)
    masked, counted = valid.shape[0] > 0, ordinals.shape[0] > 0
    count = table.held[0]
    near = table.near
    span = np.uint64(near.shape[0])
    placed, room = table.held[1], _room(places.shape[0])
    stop = words.shape[-1]
    for place in range(start, words.shape[-1]):
        row = np.uint64(place)
        if masked and not valid[row]:
            numbers[row] = -1
            if counted:
                ordinals[row] = -1
            continue
        offset = _boxed(table, words, row)
        number = np.int64(-1)
        if offset < span:
            number = np.int64(near[offset]) - 1
            if number < 0:
                if count >= known.shape[0]:
                    stop = place
                    break
                number = count
                count += 1
                near[offset] = count
                _keep_key(known, number, words, row)
        else:
            own = _fingerprint(words, row)
            at = _home(own, shift)
            while True:
                number = places[at, 1] - 1
                if number < 0 or (places[at, 0] == own and _is_key(known, number, words, row)):
                    break
                at = (at + _ONE) & mask
            if number < 0:
                if count >= known.shape[0] or placed >= room:
                    stop = place
                    break
                number = count
                count += 1
                placed += 1
                places[at, 0] = own
                places[at, 1] = count
                _keep_key(known, number, words, row)
        numbers[row] = number
        if counted:
            key = np.uint64(number)
            ordinals[row] = counters[key]
            counters[key] += 1
    table.held[0], table.held[1] = count, placed
    return stop


@jit
def place_words(table, words):
    """Give the keys that a table holds, whose numbers are in order, their places, all of which are free."""
    places = table.places
    mask, shift = np.uint64(places.shape[0] - 1), _shift(places)
    near = table.near
    span = np.uint64(near.shape[0])
    placed = 0
    for number in range(words.shape[-1]):
        offset = _boxed(table, words, number)
        if offset < span:
            near[offset] = number + 1
        else:
            own = _fingerprint(words, number)
            at = _home(own, shift)
            while places[at, 1] != 0:
                at = (at + _ONE) & mask
            places[at, 0] = own
            places[at, 1] = number + 1
            placed += 1
    table.held[1] = placed


@inline
def _word(data, at):
    """Eight bytes as one number: compilers read them at once."""
    return (
        np.uint64(data[at])
        | np.uint64(data[at + _ONE]) << _EIGHT
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )


@inline
def _hashed(data, at, size):
    """A hash of some bytes."""
    mixed, left = size, size
    while left >= _EIGHT:
        mixed = _mixed(mixed ^ _word(data, at))
        at += _EIGHT
        left -= _EIGHT
    word = np.uint64(0)
    while left > np.uint64(0):
        left -= _ONE
        word = (word << _EIGHT) | np.uint64(data[at + left])
    return np.int64(_mixed(mixed ^ word))


@inline
def _is_text(table, number, data, at, size):
    """Whether a number is that of a text."""
    own = np.uint64(table.ends[number])
    same = np.uint64(table.ends[number + 1]) - own == size
    left = size
    while same and left >= _EIGHT:
        same = _word(table.data, own) == _word(data, at)
        own += _EIGHT
        at += _EIGHT
        left -= _EIGHT
    while same and left > np.uint64(0):
        left -= _ONE
        same = table.data[own + left] == data[at + left]
    return same


@jit
def number_texts(table, data, begins, ends, valid, start, numbers):
    """Number the texts of rows; gives the row before which the table was full, or n."""
    places = table.places
    mask, shift = np.uint64(places.shape[0] - 1), _shift(places)
    masked = valid.shape[0] > 0
    count = table.held[0]
    for row in range(start, begins.shape[0]):
        if masked and not valid[row]:
            numbers[row] = -1
            continue
        begin = np.uint64(begins[row])
        size = np.uint64(ends[row]) - begin
        own = _hashed(data, begin, size)
        at = _home(own, shift)
        while True:
            number = places[at, 1] - 1
            if number < 0:
                low = np.uint64(table.ends[count])
                if count + 1 >= table.ends.shape[0] or low + size > np.uint64(table.data.shape[0]):
                    table.held[0] = count
                    return row
                number = count
                count += 1
                k = np.uint64(0)
                while k < size:
                    table.data[low + k] = data[begin + k]
                    k += _ONE
                table.ends[count] = np.int64(low + size)
                places[at, 0] = own
                places[at, 1] = count
                break
            if places[at, 0] == own and _is_text(table, number, data, begin, size):
                break
            at = (at + _ONE) & mask
        numbers[row] = number
    table.held[0] = count
    return begins.shape[0]


@jit
def rehash(old, places):
    """Move the keys of a table to more places.

    `old` int64 [power of two, 2]: in; `places` int64 [larger power of two, 2]: in, zeros; out, the same keys.
    """
    mask, shift = np.uint64(places.shape[0] - 1), _shift(places)
    for place in range(old.shape[0]):
        if old[place, 1] != 0:
            at = _home(old[place, 0], shift)
            while places[at, 1] != 0:
                at = (at + _ONE) & mask
            places[at, 0] = old[place, 0]
            places[at, 1] = old[place, 1]


@inline
def _short_words(data, at, size):
    """A text of at most `SHORT` bytes as two numbers; its size is the highest byte of the second."""
    one = other = np.uint64(0)
    if at + np.uint64(16) <= np.uint64(data.shape[0]):
        # Without branches: sizes would be mispredicted.
        low = min(size, _EIGHT)
        whole = np.uint64(0) - (low >> np.uint64(3))
        one = _word(data, at) & (((_ONE << ((low & np.uint64(7)) * _EIGHT)) - _ONE) | whole)
        other = _word(data, at + _EIGHT) & ((_ONE << ((size - low) * _EIGHT)) - _ONE)
    else:
        for k in range(size):
            byte = np.uint64(data[at + np.uint64(k)])
            if k < 8:
                one |= byte << np.uint64(8 * k)
            else:
                other |= byte << np.uint64(8 * k - 64)
    return one, other | size << np.uint64(56)


@jit
def number_short_texts(data, bounds, words, numbers, first, out, halt):
    """Number short texts of which few differ, by first sight.

    ===========  ==========================  ================================================================
    `data`       uint8 [bytes]               in
    `bounds`     int32 or int64 [rows + 1]   in: text k is data[bounds[k]] .. data[bounds[k + 1] - 1]
    `words`      uint64 [power of two, 2]    scratch: the texts that were seen
    `numbers`    int32 [power of two]        scratch: their numbers; -1 at first
    `first`      int64 [most]                out: the row in which each text is seen first
    `out`        int32 [rows]                out: the number of each row
    `halt`       uint8 [1]                   in: see `jit`
    ===========  ==========================  ================================================================

    Gives how many differ; -1 where that is more than `first` has room for, or a text is not short.
    """
    count = 0
    mask, shift = np.uint64(numbers.shape[0] - 1), _shift(numbers)
    for row in range(out.shape[0]):
        if row % SELDOM == 0 and halt[0]:
            return -1
        at = np.uint64(bounds[row])
        size = np.uint64(bounds[row + 1]) - at
        if size > np.uint64(SHORT):
            return -1
        one, other = _short_words(data, at, size)
        place = _home(one ^ (other * _FIRST), shift)
        while numbers[place] >= 0 and (words[place, 0] != one or words[place, 1] != other):
            place = (place + _ONE) & mask
        if numbers[place] < 0:
            if count == first.shape[0]:
                return -1
            words[place, 0] = one
            words[place, 1] = other
            numbers[place] = count
            first[count] = row
            count += 1
        out[row] = numbers[place]
    return count


@jit
def number_codes(known, codes, valid, rows, numbers):
    """Number the texts of rows by their codes; see `contract`."""
    holes = valid.shape[0] > 0
    unknown = 0
    for k in range(rows.shape[0]):
        row = rows[k]
        if holes and valid[row] == 0:
            numbers[k] = -1
        else:
            numbers[k] = known[np.uint64(codes[row])]
            unknown += numbers[k] == UNKNOWN
    return unknown
