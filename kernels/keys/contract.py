"""The contract of numbering keys, by open-addressing hash tables.

A key is one or several 64-bit words (whole numbers, the bits of floats, numbers of texts) or the bytes of a
text. A place of a table is two numbers side by side, so that a look-up touches one line of the cache: a
fingerprint of the key, and one more than its number. The fingerprint of a single word is the word itself.

Each kernel stops where its table is full. The host makes room and calls it again, from the row where it
stopped.

`number_words` numbers the keys of rows, and the rows of each key. It gives the row before which the table was
full, or n:

===========  ============================  ====================================================
`table`      `WordTable`                   in/out
`words`      int64 [n] or [parts, n]       in: the key of each row
`valid`      uint8 [n] or [0]              in: 0 where a row has no whole key; empty where all have
`counters`   int64 [room] or [0]           in/out: how many rows each key has had
`start`      int64                         in: the row to continue from
`numbers`    int32 [n]                     out: the number of each row's key, -1 where it has none
`ordinals`   int64 [n] or [0]              out: how many rows of its key come before it, -1 without
                                           a key; empty: nothing is counted
===========  ============================  ====================================================

`place_words` gives the keys of a table their places, after it has grown or has another box:

===========  ============================  ====================================================
`table`      `WordTable`                   in/out: `near` and `places` are 0
`words`      int64 [n] or [parts, n]       in: the key of each number
===========  ============================  ====================================================

`number_texts` numbers the texts of rows. It gives the row before which the table was full, or n:

=================  =====================  =======================================================
`table`            `TextTable`            in/out
`data`             uint8 [bytes]          in: UTF-8
`begins`, `ends`   int32 or int64 [n]     in: the bytes of row i are begins[i] .. ends[i] - 1
`valid`            uint8 [n] or [0]       in: 0 at a null; empty where there is none
`start`            int64                  in: the row to continue from
`numbers`          int32 [n]              out: the number of each row's text, -1 for a null
=================  =====================  =======================================================

`number_codes` numbers the texts of rows by their codes in a dictionary. It gives how many are unknown:

============  ==========================  ====================================================
`known`       int32 [texts]               in: the number of each text, `UNKNOWN` before it has one
`codes`       int32 [batch]               in
`valid`       uint8 [batch] or [0]        in: 0 at a null, whose code may be anything
`rows`        int64 [n]                   in: which rows of the batch
`numbers`     int32 [n]                   out: -1 for a null
============  ==========================  ====================================================
"""

from typing import NamedTuple

import numpy as np

UNKNOWN = -2
"""The number of a text of a dictionary that has none yet."""

SMALL = 1 << 16
"""Up to this many places a table is filled to a quarter: it stays in the cache, where a longer search costs
more than memory. Larger tables are filled to a half."""


def room_of(places):
    """How many keys a table with so many places takes."""
    return places // (4 if places <= SMALL else 2)


class WordTable(NamedTuple):
    """Keys of words and their numbers.

    Attributes
    ----------
    places : ndarray, shape (power of two, 2), int64
        Fingerprint, and number + 1: 0 where the place is free. At most a quarter of them is taken, above
        `SMALL` places a half.
    words : ndarray, shape (room,), or (room, parts) for keys of several words, int64
        The key of each number.
    held : ndarray, shape (2,), int64
        How many numbers there are, and how many of their keys are in `places`.
    near : ndarray, shape (keys of a box,) or (0,), int32
        For each key in a box its number + 1, or 0 where it is not known; the last word of a key counts
        first. It is used for words that lie close together: a look-up then touches a quarter of the memory,
        and no hash is made. `places` has only the keys outside the box.
    least, span : ndarray, shape (parts,), int64
        The box has the keys whose word k is least[k] .. least[k] + span[k] - 1. Without a box `span` is 0.
    """

    places: np.ndarray
    words: np.ndarray
    held: np.ndarray
    near: np.ndarray
    least: np.ndarray
    span: np.ndarray


class TextTable(NamedTuple):
    """Texts and their numbers.

    Attributes
    ----------
    places : ndarray, shape (power of two, 2), int64
        As in `WordTable`; the fingerprint of a text is a hash.
    ends : ndarray, shape (room + 1,), int64
        The bytes of text k are ends[k] .. ends[k + 1] - 1.
    data : ndarray, shape (bytes,), uint8
        UTF-8.
    held : ndarray, shape (1,), int64
    """

    places: np.ndarray
    ends: np.ndarray
    data: np.ndarray
    held: np.ndarray


def numbers_reference(keys, known):
    """The number of every key and how many rows of its key come before it; both -1 for the key None.

    `keys`: a sequence of keys or None; `known`: the list of keys by number, to which new keys are added.
    """
    numbers, ordinals = [], []
    for row, key in enumerate(keys):
        if key is not None and key not in known:
            known.append(key)
        numbers.append(-1 if key is None else known.index(key))
        ordinals.append(-1 if key is None else list(keys[:row]).count(key))
    return numbers, ordinals
