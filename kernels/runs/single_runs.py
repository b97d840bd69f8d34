"""States that hold one run at most: which of them hold one is a set, and a lane is in one of a few sets.

In `A : A : (A+)` each event begins one run, so the first two states hold one run or none; only the last one
gathers many. What an event does to the first two depends on the set of those that hold a run: it is looked
up. Only states that may hold several runs have registers, which are added to.

Counts by a thousand keys are 1.4 to 1.8 times as fast as with a register for each state for `A : B : C`, `A
: B ; C` and a contiguous chain of five (CPU time of the whole query, 1.5 million events). Where several
states may hold many runs, as in `A ; B ; C`, registers for all of them are faster.
"""

from typing import NamedTuple

import numpy as np

MOST_SETS = 1 << 12
"""The most sets of states, times the symbols: their tables stay in a core's cache."""


class CountedSets(NamedTuple):
    """An automaton with one state that may hold several runs, for events of many lanes, without a window.

    ==========  ========================  ===============================================================
    `follow`    int64 [symbols, sets]     the set after an event
    `ends`      int64 [symbols, sets]     how many runs of the set end there
    `more`      int64 [symbols, sets]     how many runs of the set enter the state that holds several
    `lone`      int64 [lone states]       the states of the sets, ascending
    `members`   int64 [sets]              bit k: the set holds state lone[k]; the first is empty
    `several`   int                       the state that may hold several runs
    `keeps`     int64 [symbols]           -1: an event leaves these runs as they are, 0: they are over
    `tells`     int64 [symbols]           -1: they end there; 0: not
    ==========  ========================  ===============================================================
    """

    follow: np.ndarray
    ends: np.ndarray
    more: np.ndarray
    lone: np.ndarray
    members: np.ndarray
    several: int
    keeps: np.ndarray
    tells: np.ndarray


def counted_sets(tables):
    """The sets of an automaton: `CountedSets`; None where not one state alone may hold several runs.

    Parameters
    ----------
    tables : TransitionTables
    """
    lone = _lone(tables)
    found = _sets(tables, lone) if len(lone) < 62 else None
    if found is None or tables.n_live - len(lone) != 2:
        return None
    members, follow, ends, entered = found
    (state,) = set(range(1, tables.n_live)) - set(lone)
    own = [[(to, ends) for by, to, ends in block if by == state] for block in _transitions(tables)]
    keeps = np.array([sum(to == state for to, _ in block) for block in own], np.int64)
    tells = np.array([sum(ends for _, ends in block) for block in own], np.int64)
    if max(keeps.max(), tells.max()) > 1:  # these runs would double
        return None
    more = np.zeros(follow.shape, np.int64)
    for symbol, one, _ in entered:
        more[symbol, one] += 1
    lone, members = np.array(lone, np.int64), np.array(members, np.int64)
    return CountedSets(follow, ends, more, lone, members, state, -keeps, -tells)


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
        if (one + 1) * len(blocks) > MOST_SETS:
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
