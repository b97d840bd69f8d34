"""Counts past 2**62: `A {20,} ; B` in a window of 1,000 events.

The scheme is that of `cpu.counts_segment_body`: a window is a suffix of events before some middle, and a
prefix after it. Numbers are kept as remainders by some primes below 2**50, from which the Chinese remainder
theorem gives them exactly. A first pass in float64 says how many primes are needed; where the numbers are
small, that pass is all.
"""

from math import ceil, log2
from typing import NamedTuple

import numpy as np

from ..jit import OFTEN, go_on, inline, jit
from ..runs.contract import INTO, LEFT, RIGHT

EXACT = 1 << 52
"""Sums of float64 below this are exact."""

PRIME_BITS = 49.99
"""Bits of a number that the remainder by one prime determines."""

ROOM = 1 << 23
"""Numbers that the rows of the hits counted together may take."""


class RemainderRows(NamedTuple):
    """A prefix and a suffix: all float64 or int64; an entry is n numbers, one a prime.

    ===========  =================================  ========================================================
    `prefix`     [forward registers, n * n_live]    scratch: columns of the prefix
    `suffix`     [backward registers, n * n_live]   scratch: rows of the suffix
    `front`      [hits of a block, n * n_live]      scratch: the row of the suffix of each hit
    `accepting`  [n * n_live]                       scratch: the transitions that accept, by state
    `modulus`    [n * n_live]                       in: the n primes, repeated; NaN: none
    `out`        [hits, n]                          out: the counts, or their remainders
    ===========  =================================  ========================================================
    """

    prefix: np.ndarray
    suffix: np.ndarray
    front: np.ndarray
    accepting: np.ndarray
    modulus: np.ndarray
    out: np.ndarray


@inline
def _applied(rows, program, symbol, modulus):
    """What an event does to the rows, operation by operation."""
    for k in range(program.first[symbol], program.first[symbol + 1]):
        into, left, right = program.moves[k, INTO], program.moves[k, LEFT], program.moves[k, RIGHT]
        for x in range(rows.shape[1]):
            value = rows[left, x] + rows[right, x]
            rows[into, x] = value - modulus[x] if value >= modulus[x] else value


@inline
def _emptied(rows, n):
    """Make rows those of no event."""
    for r in range(rows.shape[0]):
        for x in range(rows.shape[1]):
            rows[r, x] = 1 if x // n == r else 0


@inline
def _accepting(rows, tables, symbol):
    """The columns of what an event ends, with a prefix before it."""
    total, modulus = rows.accepting, rows.modulus
    total[:] = 0
    for t in range(tables.first[symbol], tables.first[symbol + 1]):
        if tables.accepting[t]:
            for x in range(total.shape[0]):
                value = total[x] + rows.prefix[tables.source[t], x]
                total[x] = value - modulus[x] if value >= modulus[x] else value


@inline
def _multiplied(rows, front, h):
    """The sum over all states of the suffix of a hit times what is accepted after it, in `out`."""
    n = rows.out.shape[1]
    plain = rows.modulus[0] != rows.modulus[0]
    for x in range(rows.accepting.shape[0]):
        one, other, modulus = rows.front[front, x], rows.accepting[x], rows.modulus[x]
        if one == 0 or other == 0:
            continue
        value = one * other
        if not plain:
            # The product wraps, and so does what is taken off: their difference is small.
            value -= np.int64(float(one) * float(other) / float(modulus)) * modulus
            value += modulus if value < 0 else 0
        value += rows.out[h, x % n]
        rows.out[h, x % n] = value - modulus if value >= modulus else value


@jit
def _remainders(tables, forward, backward, symbols, hits, rows, halt):
    """The counts of the hits of all segments, or their remainders.

    ===========  ===========================  ===========================================================
    `tables`     TransitionTables             in
    `forward`    Program                      in: `forward_program(tables)`
    `backward`   Program                      in: `backward_program(tables)`
    `symbols`    uint8 or uint16 [events]     in
    `hits`       SegmentHits                  in
    `rows`       RemainderRows                scratch, and out
    `halt`       uint8 [1]                    in: see `jit`
    ===========  ===========================  ===========================================================
    """
    event = hits.event
    lowest = hits.lowest
    n = rows.out.shape[1]
    for g in range(hits.first.shape[0] - 1):
        h1 = hits.first[g + 1]
        middle = -1
        at = -1
        begun = 0
        known = hits.first[g]
        for h in range(hits.first[g], h1):
            j = event[h]
            low = lowest[h]
            if low > middle:
                _emptied(rows.prefix, n)
                _emptied(rows.suffix, n)
                while known < h1 and lowest[known] < j:
                    known += 1
                last = known - 1
                for i in range(j - 1, low - 1, -1):
                    if halt[0]:
                        return
                    _applied(rows.suffix, backward, symbols[i], rows.modulus)
                    while last >= h and lowest[last] == i:
                        for x in range(rows.front.shape[1]):
                            rows.front[last - h, x] = rows.suffix[0, x]
                        last -= 1
                middle = j
                at = j
                begun = h
            for i in range(at, j):
                if halt[0]:
                    return
                _applied(rows.prefix, forward, symbols[i], rows.modulus)
            at = j
            _accepting(rows, tables, symbols[j])
            if low == middle:
                for m in range(n):
                    rows.out[h, m] = rows.accepting[m]
            else:
                _multiplied(rows, h - begun, h)


def counts_by_remainders(tables, forward, backward, symbols, hits, exact, most_steps=None):
    """How many complex events end at each hit and start inside its window.

    Parameters
    ----------
    tables : TransitionTables
    forward, backward : Program
        `forward_program(tables)` and `backward_program(tables)`.
    symbols : ndarray, shape (events,), uint8 or uint16
    hits : SegmentHits
    exact : bool
        If false, a number of 2**52 or more is given as 2**62.
    most_steps : int, optional
        The most sums that it may take.

    Returns
    -------
    ndarray, shape (hits,), int64, or object (Python integers) where some value exceeds 2**52

    Raises
    ------
    OverflowError
        If it takes more.
    """
    given = tables, forward, backward, symbols, hits
    block = _block(hits)
    _check(given, 1, most_steps)
    about = _passed(given, np.full(1, np.nan), block)[:, 0]
    small = about < EXACT
    if small.all():
        return about.astype(np.int64)
    if not exact:
        return np.where(small, np.where(small, about, 0).astype(np.int64), np.int64(1) << 62)
    most = float(about.max())
    bits = log2(most) + 1 if np.isfinite(most) else _bits(tables, symbols, hits)
    count = ceil(bits / PRIME_BITS) + 1
    _check(given, count, most_steps)
    primes = primes_below(1 << 50, count)
    room = max(1, ROOM // max(1, block * tables.n_live))
    parts = [_passed(given, np.array(primes[k : k + room]), block) for k in range(0, count, room)]
    return combined(primes, np.concatenate(parts, axis=1))


def _passed(given, primes, block):
    """The counts in float64, or their remainders by some primes: shape (hits, primes)."""
    tables, forward, backward, _, hits = given
    n, width = len(primes), tables.n_live * len(primes)
    heights = forward.n_registers, backward.n_registers, block
    rows = [np.zeros((height, width), primes.dtype) for height in heights]
    out = np.zeros((len(hits.event), n), primes.dtype)
    rows = RemainderRows(*rows, np.zeros(width, primes.dtype), np.tile(primes, tables.n_live), out)
    _remainders(*given, rows)
    return out


def _block(hits):
    """How many hits ask for the suffixes of one middle at most."""
    found = 1
    for low, high in zip(hits.first[:-1], hits.first[1:]):
        known = np.searchsorted(hits.lowest[low:high], hits.event[low:high], side="left")
        found = max(found, int((known - np.arange(high - low)).max(initial=1)))
    return found


def _bits(tables, symbols, hits):
    """Bits that the number of a hit has at most: each event multiplies it by what runs may choose."""
    choices = np.ones(tables.n_symbols)
    for symbol in range(tables.n_symbols):
        source = tables.source[tables.first[symbol] : tables.first[symbol + 1]]
        keeps = 1 if len(source) and source[0] == 0 else 0  # state 0 keeps itself
        choices[symbol] = max(1, np.bincount(source).max(initial=1) + keeps)
    before = np.append(0, np.cumsum(np.log2(choices)[symbols]))
    return float((before[hits.event + 1] - before[hits.lowest]).max(initial=0)) + 64


def _check(given, count, most_steps):
    """Raise an OverflowError where the counts by so many primes take too many sums."""
    tables, forward, backward, symbols, hits = given
    cost = (np.diff(forward.first) + np.diff(backward.first)) * tables.n_live
    before = np.append(0, np.cumsum(cost[symbols]))
    some = hits.first[:-1] < hits.first[1:]
    first, last = hits.first[:-1][some], hits.first[1:][some] - 1
    sums = int((before[hits.event[last]] - before[hits.lowest[first]]).sum())
    needed = (sums + 8 * tables.n_live * len(hits.event)) * count
    if most_steps is not None and needed > most_steps:
        raise OverflowError(f"about {needed:,} sums")


def primes_below(bound, count):
    """The greatest primes below a bound, descending: a list."""
    found = []
    number = bound - 1
    while len(found) < count:
        if _is_prime(number):
            found.append(number)
        number -= 2
    return found


def _is_prime(number):
    """Whether an odd number below 3e24 is prime (Miller and Rabin; the bases of Sorenson and Webster)."""
    power = ((number - 1) & (1 - number)).bit_length() - 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41):
        if number % base == 0:
            return number == base
        value = pow(base, (number - 1) >> power, number)
        if value not in (1, number - 1):
            for _ in range(power - 1):
                value = value * value % number
                if value == number - 1:
                    break
            else:
                return False
    return True


def combined(primes, remainders):
    """The numbers below the product of some primes that have certain remainders.

    Parameters
    ----------
    primes : sequence of int
    remainders : ndarray, shape (numbers, primes), int64

    Returns
    -------
    ndarray, shape (numbers,), object (Python integers)
    """
    product = 1
    for prime in primes:
        product *= prime
    weights = [product // prime * pow(product // prime, -1, prime) for prime in primes]
    found = np.empty(len(remainders), object)
    for place, row in enumerate(remainders.tolist()):
        if place % OFTEN == 0:
            go_on()
        found[place] = sum(weight * one for weight, one in zip(weights, row)) % product
    return found
