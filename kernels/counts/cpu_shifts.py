"""Counts of large automata, and of large numbers: `A {200,} ; B` in a window of 1,000 events.

The scheme is that of `cpu.counts_segment_body`: a window is a suffix of events before some middle, and a
prefix after it. Two things are different. Where a range of states repeats itself (`shifted`), only those rows
and columns of both matrices are kept from which the others follow: with n states an event costs a few times n
sums in place of n * n. And numbers are kept as remainders by some primes below 2**50, from which the Chinese
remainder theorem gives them exactly. A first pass in float64 says how many primes are needed; where the
numbers are small, that pass is all.
"""

from math import ceil, log2
from typing import NamedTuple

import numpy as np

from ..jit import OFTEN, go_on, inline, jit
from ..runs.contract import INTO, LEFT, RIGHT
from .shifts import VIRTUAL, shifted, shifted_programs

EXACT = 1 << 52
"""Sums of float64 below this are exact."""

PRIME_BITS = 49.99
"""Bits of a number that the remainder by one prime determines."""

ROOM = 1 << 23
"""Numbers that the rows of the hits counted together may take."""


class ShiftedRows(NamedTuple):
    """What is kept of a prefix and a suffix: all float64 or int64; an entry is n numbers, one a prime.

    =============  ====================================  =====================================================
    `ahead`        [registers, n * columns]              scratch: `ShiftedPrograms.ahead`
    `ahead_in`     [registers, n * states of the range]  scratch
    `behind`       [registers, n * single states]        scratch
    `behind_in`    [registers, n * states of the range]  scratch
    `before`       [period, n * states of the range]     scratch: the first period, before an event
    `front`        [hits of a block, n * n_live]         scratch: the row of the suffix of each hit
    `accepting`    [n * n_live]                          scratch: the transitions that accept, by state
    `modulus`      [n * n_live]                          in: the n primes, repeated; NaN: none
    `out`          [hits, n]                             out: the counts, or their remainders
    =============  ====================================  =====================================================
    """

    ahead: np.ndarray
    ahead_in: np.ndarray
    behind: np.ndarray
    behind_in: np.ndarray
    before: np.ndarray
    front: np.ndarray
    accepting: np.ndarray
    modulus: np.ndarray
    out: np.ndarray


@inline
def _sums(rows, moves, k, modulus):
    """Put the sum of two rows into one, by one of the operations."""
    into, left, right = moves[k, INTO], moves[k, LEFT], moves[k, RIGHT]
    for x in range(rows.shape[1]):
        value = rows[left, x] + rows[right, x]
        rows[into, x] = value - modulus[x] if value >= modulus[x] else value


@jit
def _prefixed(rows, programs, found, symbol):
    """Multiply the prefix by an event on the right."""
    ahead, inside, modulus = rows.ahead, rows.ahead_in, rows.modulus
    n = rows.out.shape[1]
    singles = found.single.shape[0]
    states = found.stop - found.low
    # It reads what the rows of the range held before the event, so it comes first.
    program = programs.ahead_in
    for k in range(program.first[symbol], program.first[symbol + 1]):
        into = np.int64(program.moves[k, INTO])
        left = np.int64(program.moves[k, LEFT])
        right = np.int64(program.moves[k, RIGHT])
        if left < VIRTUAL and right < VIRTUAL:
            _sums(inside, program.moves, k, modulus)
            continue
        for c in range(states):
            shift = c // found.period * found.period
            place = (singles + c - shift) * n
            for m in range(n):
                x = c * n + m
                one = inside[program.zero, x]
                other = inside[program.zero, x]
                if left < VIRTUAL:
                    one = inside[left, x]
                elif c <= left - VIRTUAL:
                    one = ahead[found.low + left - VIRTUAL - shift, place + m]
                if right < VIRTUAL:
                    other = inside[right, x]
                elif c <= right - VIRTUAL:
                    other = ahead[found.low + right - VIRTUAL - shift, place + m]
                value = one + other
                inside[into, x] = value - modulus[x] if value >= modulus[x] else value
    program = programs.ahead
    for k in range(program.first[symbol], program.first[symbol + 1]):
        _sums(ahead, program.moves, k, modulus)


@jit
def _suffixed(rows, programs, found, symbol):
    """Multiply the suffix by an event on the left."""
    inside, before, modulus = rows.behind_in, rows.before, rows.modulus
    n = rows.out.shape[1]
    singles = found.single.shape[0]
    program = programs.behind
    for k in range(program.first[symbol], program.first[symbol + 1]):
        _sums(rows.behind, program.moves, k, modulus)
    program = programs.behind_in
    for r in range(before.shape[0]):
        for x in range(before.shape[1]):
            before[r, x] = inside[singles + r, x]
    for k in range(program.first[symbol], program.first[symbol + 1]):
        into = np.int64(program.moves[k, INTO])
        left = np.int64(program.moves[k, LEFT])
        right = np.int64(program.moves[k, RIGHT])
        if left < VIRTUAL and right < VIRTUAL:
            _sums(inside, program.moves, k, modulus)
            continue
        # The first period of the range says what the rows that are not kept hold: the same, further on.
        behind_left = (left - VIRTUAL) // found.period * found.period * n if left >= VIRTUAL else 0
        behind_right = (right - VIRTUAL) // found.period * found.period * n if right >= VIRTUAL else 0
        for x in range(inside.shape[1]):
            one = inside[program.zero, x]
            other = inside[program.zero, x]
            if left < VIRTUAL:
                one = inside[left, x]
            elif x >= behind_left:
                one = before[(left - VIRTUAL) % found.period, x - behind_left]
            if right < VIRTUAL:
                other = inside[right, x]
            elif x >= behind_right:
                other = before[(right - VIRTUAL) % found.period, x - behind_right]
            value = one + other
            inside[into, x] = value - modulus[x] if value >= modulus[x] else value


@jit
def _emptied(rows, found):
    """Make the prefix and the suffix those of no event."""
    n = rows.out.shape[1]
    singles = found.single.shape[0]
    states = found.stop - found.low
    rows.ahead[:] = 0
    rows.ahead_in[:] = 0
    rows.behind[:] = 0
    rows.behind_in[:] = 0
    for c in range(singles):
        for m in range(n):
            rows.ahead[found.single[c], c * n + m] = 1
            rows.behind[found.single[c], c * n + m] = 1
    for c in range(min(found.period, states)):
        for m in range(n):
            rows.ahead[found.low + c, (singles + c) * n + m] = 1
            rows.behind_in[singles + c, c * n + m] = 1


@jit
def _accepting(rows, tables, programs, found, symbol):
    """The columns of what an event ends, with a prefix before it."""
    total, modulus = rows.accepting, rows.modulus
    n = rows.out.shape[1]
    singles = found.single.shape[0]
    states = found.stop - found.low
    total[:] = 0
    for t in range(tables.first[symbol], tables.first[symbol + 1]):
        if not tables.accepting[t]:
            continue
        q = tables.source[t]
        for x in range(singles * n):
            value = total[x] + rows.ahead[q, x]
            total[x] = value - modulus[x] if value >= modulus[x] else value
        if q < found.low or q >= found.stop:
            row = programs.column[q]
            for x in range(states * n):
                value = total[singles * n + x] + rows.ahead_in[row, x]
                total[singles * n + x] = value - modulus[x] if value >= modulus[x] else value
            continue
        for c in range(q - found.low + 1):
            shift = c // found.period * found.period
            for m in range(n):
                x = (singles + c) * n + m
                value = total[x] + rows.ahead[q - shift, (singles + c - shift) * n + m]
                total[x] = value - modulus[m] if value >= modulus[m] else value


@jit
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
def _counts_shifted(tables, programs, found, symbols, hits, rows, halt):
    """The counts of the hits of all segments.

    ===========  ===========================  =================
    `tables`     TransitionTables             in
    `programs`   ShiftedPrograms              in
    `found`      ShiftedStates                in
    `symbols`    uint8 or uint16 [events]     in
    `hits`       SegmentHits                  in
    `rows`       ShiftedRows                  scratch, and out
    `halt`       uint8 [1]                    in: see `jit`
    ===========  ===========================  =================
    """
    event = hits.event
    lowest = hits.lowest
    n = rows.out.shape[1]
    singles = found.single.shape[0] * n
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
                _emptied(rows, found)
                while known < h1 and lowest[known] < j:
                    known += 1
                last = known - 1
                for i in range(j - 1, low - 1, -1):
                    if halt[0]:
                        return
                    _suffixed(rows, programs, found, symbols[i])
                    while last >= h and lowest[last] == i:
                        for x in range(singles):
                            rows.front[last - h, x] = rows.behind[0, x]
                        for x in range(rows.behind_in.shape[1]):
                            rows.front[last - h, singles + x] = rows.behind_in[0, x]
                        last -= 1
                middle = j
                at = j
                begun = h
            for i in range(at, j):
                if halt[0]:
                    return
                _prefixed(rows, programs, found, symbols[i])
            at = j
            _accepting(rows, tables, programs, found, symbols[j])
            if low == middle:
                for m in range(n):
                    rows.out[h, m] = rows.accepting[m]
            else:
                _multiplied(rows, h - begun, h)


class ShiftedCounter:
    """Counts the complex events at some hits by remainders.

    Parameters
    ----------
    tables : TransitionTables
    forward, backward : Program
        `forward_program(tables)` and `backward_program(tables)`.

    Attributes
    ----------
    found : ShiftedStates
        The range of states that repeats itself.
    """

    def __init__(self, tables, forward, backward):
        self.tables = tables
        self.found = shifted(tables)
        self._programs = shifted_programs(tables, forward, backward, self.found)

    @property
    def repeats(self):
        """Whether some of the automaton's states repeat themselves."""
        return self.found.low < self.found.stop

    def counts(self, symbols, hits, exact, most_steps=None):
        """How many complex events end at each hit and start inside its window.

        Parameters
        ----------
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
        block = self._block(hits)
        self._check(symbols, hits, 1, most_steps)
        about = self._run(symbols, hits, np.full(1, np.nan), block)[:, 0]
        small = about < EXACT
        if small.all():
            return about.astype(np.int64)
        if not exact:
            return np.where(small, np.where(small, about, 0).astype(np.int64), np.int64(1) << 62)
        most = float(about.max())
        bits = log2(most) + 1 if np.isfinite(most) else self._bits(symbols, hits)
        count = ceil(bits / PRIME_BITS) + 1
        self._check(symbols, hits, count, most_steps)
        primes = primes_below(1 << 50, count)
        room = max(1, ROOM // max(1, block * self.tables.n_live))
        parts = [
            self._run(symbols, hits, np.array(primes[k : k + room]), block) for k in range(0, count, room)
        ]
        return combined(primes, np.concatenate(parts, axis=1))

    def _run(self, symbols, hits, primes, block):
        n, tables, programs, found = len(primes), self.tables, self._programs, self.found
        states, singles = found.stop - found.low, len(found.single)
        period = min(found.period, states)
        shapes = (
            (programs.ahead.n_registers, singles + period),
            (programs.ahead_in.n_registers, states),
            (programs.behind.n_registers, singles),
            (programs.behind_in.n_registers, states),
            (period, states),
            (block, tables.n_live),
        )
        rows = [np.zeros((height, width * n), primes.dtype) for height, width in shapes]
        out = np.zeros((len(hits.event), n), primes.dtype)
        widest = max(tables.n_live, singles + period)
        rows = ShiftedRows(*rows, np.zeros(tables.n_live * n, primes.dtype), np.tile(primes, widest), out)
        _counts_shifted(tables, programs, found, symbols, hits, rows)
        return out

    def _block(self, hits):
        """How many hits ask for the suffixes of one middle at most."""
        found = 1
        for low, high in zip(hits.first[:-1], hits.first[1:]):
            known = np.searchsorted(hits.lowest[low:high], hits.event[low:high], side="left")
            found = max(found, int((known - np.arange(high - low)).max(initial=1)))
        return found

    def _bits(self, symbols, hits):
        """Bits that the number of a hit has at most: each event multiplies it by what runs may choose."""
        tables = self.tables
        choices = np.ones(tables.n_symbols)
        for symbol in range(tables.n_symbols):
            source = tables.source[tables.first[symbol] : tables.first[symbol + 1]]
            keeps = 1 if len(source) and source[0] == 0 else 0  # state 0 keeps itself
            choices[symbol] = max(1, np.bincount(source).max(initial=1) + keeps)
        before = np.append(0, np.cumsum(np.log2(choices)[symbols]))
        return float((before[hits.event + 1] - before[hits.lowest]).max(initial=0)) + 64

    def steps(self, symbols, hits):
        """About how many sums the counts of some hits take, for one prime."""
        programs, tables = self._programs, self.tables
        widths = (
            (programs.ahead, len(self.found.single) + self.found.period),
            (programs.ahead_in, self.found.stop - self.found.low),
            (programs.behind, len(self.found.single)),
            (programs.behind_in, self.found.stop - self.found.low),
        )
        cost = sum(np.diff(program.first) * width for program, width in widths)
        before = np.append(0, np.cumsum(cost[symbols]))
        some = hits.first[:-1] < hits.first[1:]
        first, last = hits.first[:-1][some], hits.first[1:][some] - 1
        return int((before[hits.event[last]] - before[hits.lowest[first]]).sum()) + 8 * tables.n_live * len(
            hits.event
        )

    def _check(self, symbols, hits, count, most_steps):
        needed = self.steps(symbols, hits) * count
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
