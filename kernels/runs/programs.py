"""What is known of an automaton before it runs: register programs for hits and counts, and its steps.

Hits and counts follow all runs at once, one register for each state. What an event does to the registers
depends on its symbol alone, so it is compiled once for a query to a short list of operations
`register[into] = register[left] + register[right]`, where `+` is max for hits and the sum for counts. A
state that only keeps its runs (one self-loop) costs nothing.
"""

import numpy as np

from .contract import BEGINS, ENDS, GOES_ON, INTO, EdgeRuns, Program, SequenceSteps

LEVEL = 8
"""Where no symbol has more operations, all are filled up to one length, so that the loop over them is
predicted."""

MOST_TRANSITIONS = 512
"""Larger automata are not looked through."""

MOST_SETS = 256
"""Nor are those whose runs are in more different sets of states."""

MOST_STEPS = 3
"""An event that may be more steps than this would be too many entries: the structure takes less memory."""


def hits_program(tables):
    """The program for the latest starts of ends, and for others whose `+` adds nothing to what is there.

    Register `zero + 1` gets what is accepted.
    """
    return _accepting(tables, set)


def counts_program(tables):
    """The program for products of any kind: runs that meet are read once for each way in which they do."""
    return _accepting(tables, list)


def _accepting(tables, kept):
    """A program for ends; `kept` says which of equal transitions are kept."""
    zero = tables.n_live
    blocks = []
    for symbol in range(tables.first.size - 1):
        block = slice(tables.first[symbol], tables.first[symbol + 1])
        sources, targets = tables.source[block].tolist(), tables.target[block].tolist()
        accepted = sorted(kept(s for s, accepts in zip(sources, tables.accepting[block].tolist()) if accepts))
        edges = sorted(kept(zip(targets, sources)))
        blocks.append(_sum(zero + 1, accepted, zero) + moves_of(edges, zero, descending=True))
    width = max((len(block) for block in blocks), default=0)
    if width <= LEVEL:
        blocks = [block + [(zero, zero, zero)] * (width - len(block)) for block in blocks]
    return program_of(blocks, zero)


def longest_run(tables):
    """The most events that a run has, from its first to its last; None: there is no bound.

    Events of the neutral symbol do not count: a chunk has none.
    """
    edges = {(s, t) for s, t in zip(tables.source.tolist(), tables.target.tolist()) if t >= 0}
    if any(source == target for source, target in edges):
        return None
    into, out = [0] * tables.n_live, [[] for _ in range(tables.n_live)]
    for source, target in edges:
        into[target] += 1
        out[source].append(target)
    # States in an order in which every transition leads forward; there is none where some lie on a circle.
    length, order = [1] * tables.n_live, [state for state in range(tables.n_live) if into[state] == 0]
    for state in order:
        for target in out[state]:
            length[target] = max(length[target], length[state] + 1)
            into[target] -= 1
            if into[target] == 0:
                order.append(target)
    return max(length) if len(order) == tables.n_live else None


def forward_program(tables):
    """The program that multiplies by an event's transition matrix on the right; `+` is the sum."""
    return _counting(tables, tables.target, tables.source, descending=True)


def backward_program(tables):
    """The program that multiplies by an event's transition matrix on the left; `+` is the sum."""
    return _counting(tables, tables.source, tables.target, descending=False)


def _counting(tables, into, out_of, descending):
    zero = tables.n_live
    blocks = []
    for symbol in range(tables.first.size - 1):
        block = range(tables.first[symbol], tables.first[symbol + 1])
        edges = sorted((int(into[t]), int(out_of[t])) for t in block if tables.target[t] >= 0)
        blocks.append(moves_of(edges, zero, descending))
    return program_of(blocks, zero)


def moves_of(edges, zero, descending):
    """Operations for the edges (into, out of) of one symbol; state 0 also keeps its value.

    States are written in one direction, and an old value that is read later than that is saved first.
    """
    sources = [[] for _ in range(zero)]
    sources[0].append(0)
    for into, out_of in edges:
        if into >= 0:
            sources[into].append(out_of)
    order = [state for state in range(zero) if sources[state] != [state]]
    written = set(order)
    if descending:
        order.reverse()
    saved = {}
    for into in order:
        read = sources[into]
        late = [p for p in read if p != into and (p > into) == descending and p in written]
        if len(read) > 2 and read.count(into) > 2:
            late.append(into)
        for state in sorted(late):
            if state not in saved:
                saved[state] = zero + 2 + len(saved)
    operations = [(register, state, zero) for state, register in saved.items()]
    for into in order:
        itself = [into for p in sources[into] if p == into]
        late = [
            saved[p] if p in saved and (p > into) == descending else p for p in sources[into] if p != into
        ]
        operations += _sum(into, itself[:2] + [saved[into] for _ in itself[2:]] + late, zero)
    return operations


def _sum(into, read, zero):
    """Operations that put the sum of registers into one; if it is itself read, it comes first in `read`."""
    if len(read) < 2:
        return [(into, read[0] if read else zero, zero)]
    return [(into, read[0], read[1])] + [(into, into, register) for register in read[2:]]


def program_of(blocks, zero):
    operations = [operation for block in blocks for operation in block]
    moves = np.array(operations, dtype=np.uint64).reshape(-1, 3)
    first = np.zeros(len(blocks) + 1, dtype=np.int32)
    np.cumsum([len(block) for block in blocks], out=first[1:])
    greatest = int(moves[:, INTO].max()) if operations else 0
    return Program(first, moves, zero, max(greatest, zero + 1) + 1)


def sequence_steps(tables):
    """The steps of an automaton, or None where complex events are more than rows of single events.

    Each state is entered by events of one label from one state, and any other event leaves it as it is. The
    last step accepts. Only the first and the last event may be without a mark: the start and the end of a
    complex event tell them.

    Parameters
    ----------
    tables : TransitionTables

    Returns
    -------
    SequenceSteps or None
    """
    if len(tables.source) > MOST_TRANSITIONS:
        return None
    symbols = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    may, labels, state = [], [], 0
    left = len(symbols)
    while state >= 0:
        own = tables.source == state
        stays = own & (tables.target == state) & (tables.label == 0)
        # Without a mark, what ends here and what goes on are one transition.
        steps = own & (~stays | (tables.accepting != 0))
        # What is neutral leaves each state as it is.
        left_alone = np.isin(np.arange(1, tables.n_symbols), symbols[stays])
        if not (left_alone.all() if state else not stays.any()) or not steps.any():
            return None
        ways = set(zip(*(each[steps].tolist() for each in (tables.label, tables.target, tables.accepting))))
        if len(ways) > 1 or len(labels) == tables.n_live:
            return None
        ((label, target, accepts),) = ways
        if bool(accepts) != (target == state if label == 0 and state else target < 0):
            return None
        may.append(np.isin(np.arange(tables.n_symbols), symbols[steps]).astype(np.uint8))
        labels.append(label)
        left -= np.count_nonzero(own)
        state = -1 if accepts else target
    if left or len(labels) < 2 or np.sum(may[:-1], axis=0).max() > MOST_STEPS:
        return None
    return SequenceSteps(np.array(may), np.array(labels, np.int32))


def edge_runs(tables):
    """What the symbols of an automaton do, or None where complex events have other marks or runs more states.

    Parameters
    ----------
    tables : TransitionTables

    Returns
    -------
    EdgeRuns or None
    """
    label, ends, goes_on = tables.label, tables.accepting != 0, tables.target > 0
    if tables.n_live > 2 or not ends.any():
        return None
    begins = tables.source == 0
    single = bool((begins & ends).any())
    edges = [label[begins & ends]] if single else [label[begins & goes_on], label[~begins & ends]]
    inner = ~begins & goes_on & (label != 0)
    if inner.any() or (single and (goes_on.any() or (~begins & ends).any())):
        return None
    if any(len(np.unique(own)) != 1 for own in edges):
        return None
    symbols = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    moves = np.zeros(tables.n_symbols, np.uint8)
    moves[0] = GOES_ON
    for which, move in ((begins & goes_on, BEGINS), (~begins & goes_on, GOES_ON), (ends, ENDS)):
        moves[symbols[which]] |= move
    return EdgeRuns(np.array([own[0] for own in edges], np.int32), moves)


def edge_steps(tables):
    """The steps of such an automaton, and which symbols let no run go on; None where it has no two steps.

    Parameters
    ----------
    tables : TransitionTables

    Returns
    -------
    (SequenceSteps, ndarray of uint8, shape (symbols,)) or None
    """
    runs = edge_runs(tables)
    if runs is None or len(runs.labels) == 1:
        return None
    may = np.array([runs.moves & BEGINS != 0, runs.moves & ENDS != 0]).astype(np.uint8)
    return SequenceSteps(may, runs.labels), (runs.moves & GOES_ON == 0).astype(np.uint8)


def runs_alone(tables, monitor=None):
    """Whether no two runs are ever in one state, and one at most ends at each event.

    Followed through all sets of states that may hold a run at a time; parameters as for `is_forced`.
    """
    symbols = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    if len(symbols) > MOST_TRANSITIONS:
        return False
    columns = symbols.tolist(), tables.source.tolist(), tables.target.tolist(), tables.accepting.tolist()
    ways = {}
    for symbol, source, to, ends in zip(*columns):
        ways.setdefault((symbol, source), []).append((to, ends))
    reads = [[(symbol, 0) for symbol in range(1, tables.n_symbols)]]
    if monitor is not None:
        reads = [list(zip(*row))[1:] for row in zip(monitor.symbol.tolist(), monitor.follow.tolist())]
    met = {(0, frozenset())}
    waiting = list(met)
    while waiting:
        at, held = waiting.pop()
        for symbol, follow in reads[at]:
            taken = [way for state in (0, *held) for way in ways.get((symbol, state), ())]
            entered = [to for to, _ in taken if to >= 0]
            after = frozenset(entered)
            if len(after) < len(entered) or sum(ends for _, ends in taken) > 1:
                return False
            # What is neutral leaves every run where it is.
            after = (follow, after if symbol else held)
            if after not in met:
                met.add(after)
                waiting.append(after)
        if len(met) > MOST_SETS:
            return False
    return True
