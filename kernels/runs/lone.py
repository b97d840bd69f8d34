"""States that hold one run at most: which of them hold one is a set, and a lane is in one of a few sets.

In `A : A : (A+)` each event begins one run, so the first two states hold one run or none; only the last one
gathers many. What an event does to the first two depends on the set of those that hold a run: it is looked
up. Only states that may hold several runs have registers, which are added to.

Counts by a thousand keys are 1.4 to 1.8 times as fast as with a register for each state for `A : B : C`, `A
: B ; C` and a contiguous chain of five; for `A ; B`, which has no such state but the first, as fast (CPU
time of the whole query, 1.5 million events).
"""

from typing import NamedTuple

import numpy as np

from .programs import level_moves, moves_of, program_of

MOST_SETS = 1 << 12
"""The most sets of states, times the symbols: their tables stay in a core's cache."""


class CountedSets(NamedTuple):
    """An automaton that counts without a window, for events of many lanes in the order of the stream.

    ==========  ===================================  ====================================================
    `follow`    int64 [symbols, sets]                the set after an event
    `ends`      int64 [symbols, sets]                how many runs of the set end there
    `more`      int64 [symbols, sets, registers]     how many runs of the set enter each register's state
    `moves`     uint64 [symbols, width, 3]           `into`, `left`, `right` of each operation; registers
                                                     are numbered from 1, and there is one that holds 0
    `accepts`   uint64 [symbols, accepting states]   further registers whose runs end there
    `lone`      int64 [lone states]                  the states of the sets, ascending
    `members`   int64 [sets]                         bit k: the set holds state lone[k]; the first is empty
    `several`   int64 [registers]                    the states of the registers, ascending
    `keeps`     int64 [symbols] or [0]               of the only register: -1: an event leaves it as it is,
                                                     0: it becomes 0, before `more` is added; else empty
    `tells`     int64 [symbols] or [0]               of the only register: -1: its runs end there; 0: not
    ==========  ===================================  ====================================================
    """

    follow: np.ndarray
    ends: np.ndarray
    more: np.ndarray
    moves: np.ndarray
    accepts: np.ndarray
    lone: np.ndarray
    members: np.ndarray
    several: np.ndarray
    keeps: np.ndarray
    tells: np.ndarray

    @property
    def n_registers(self):
        """Registers of a lane: the number of its set, one for each state, and those that are read later."""
        return int(self.moves.max(initial=len(self.several) + 1)) + 1


def counted_sets(tables):
    """The sets and registers of an automaton: `CountedSets`.

    Parameters
    ----------
    tables : TransitionTables
    """
    lone = _lone(tables)
    found = _sets(tables, lone) if len(lone) < 62 else None
    if found is None:
        lone, found = [], _sets(tables, [])
    members, follow, ends, entered = found
    several = [state for state in range(1, tables.n_live) if state not in set(lone)]
    number = {state: 1 + at for at, state in enumerate(several)}
    more = np.zeros((*follow.shape, len(several)), np.int64)
    for symbol, one, state in entered:
        more[symbol, one, number[state] - 1] += 1
    blocks, accepting = [], []
    for block in _transitions(tables):
        edges = [(number[to], number[by]) for by, to, _ in block if by in number and to in number]
        blocks.append(moves_of(sorted(edges), 1 + len(several), descending=True))
        accepting.append([number[by] for by, _, ends_there in block if by in number and ends_there])
    return CountedSets(
        follow,
        ends,
        more,
        level_moves(program_of(blocks, 1 + len(several))),
        _filled(accepting, 1 + len(several)),
        np.array(lone, np.int64),
        np.array(members, np.int64),
        np.array(several, np.int64),
        *_of_the_only(tables, several),
    )


def _of_the_only(tables, several):
    """`keeps` and `tells` of `CountedSets`; empty where there are several registers, or runs would double."""
    none = np.empty(0, np.int64)
    if len(several) != 1:
        return none, none
    (state,) = several
    own = [[(to, ends) for by, to, ends in block if by == state] for block in _transitions(tables)]
    keeps = np.array([sum(to == state for to, _ in block) for block in own], np.int64)
    tells = np.array([sum(ends for _, ends in block) for block in own], np.int64)
    return (none, none) if max(keeps.max(), tells.max()) > 1 else (-keeps, -tells)


def _transitions(tables):
    """The transitions of each symbol: (source, target, whether a complex event ends there)."""
    columns = tables.source.tolist(), tables.target.tolist(), tables.accepting.tolist()
    every = list(zip(*columns))
    return [every[low:high] for low, high in zip(tables.first[:-1], tables.first[1:])]


def _lone(tables):
    """The states that hold one run at most, ascending.

    Such a state is entered with each symbol by one transition at most, and from such a state or from state 0.
    """
    blocks = _transitions(tables)
    lone = set(range(1, tables.n_live))
    while True:
        wrong = set()
        for block in blocks:
            entered = [to for by, to, _ in block if to in lone]
            wrong |= {to for to in entered if entered.count(to) > 1}
            wrong |= {to for by, to, _ in block if to in lone and by != 0 and by not in lone}
        if not wrong:
            return sorted(lone)
        lone -= wrong


def _sets(tables, lone):
    """The sets that occur, and the tables of what follows them; None where they are too many."""
    place = {state: at for at, state in enumerate(lone)}
    blocks = _transitions(tables)
    members, number = [0], {0: 0}
    follow, ends, entered = [[] for _ in blocks], [[] for _ in blocks], []
    for members_here in members:  # grows
        one = number[members_here]
        if (one + 1) * len(blocks) > MOST_SETS and lone:
            return None
        for symbol, block in enumerate(blocks):
            after, ending = 0, 0
            for by, to, ends_there in block:
                if by != 0 and (by not in place or not members_here >> place[by] & 1):
                    continue
                ending += ends_there
                if to in place:
                    after |= 1 << place[to]
                elif to > 0:
                    entered.append((symbol, one, to))
            if after not in number:
                number[after] = len(members)
                members.append(after)
            follow[symbol].append(number[after])
            ends[symbol].append(ending)
    return members, np.array(follow, np.int64), np.array(ends, np.int64), entered


def _filled(lists, filler):
    """Lists of numbers, filled up to one length: uint64, shape (lists, length)."""
    level = np.full((len(lists), max(map(len, lists), default=0)), filler, np.uint64)
    for row, own in zip(level, lists):
        row[: len(own)] = own
    return level
