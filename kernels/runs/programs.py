"""The register programs by which hits and counts are computed.

Hits and counts follow all runs at once, one register for each state. What an event does to the registers
depends on its symbol alone, so it is compiled once for a query to a short list of operations
`register[into] = register[left] + register[right]`, where `+` is max for hits and the sum for counts. A
state that only keeps its runs (one self-loop) costs nothing.
"""

import numpy as np

from .contract import INTO, ChainedProgram, Program

CHAINED = 12
"""The least number of registers of a chain: shorter ones are moved one by one."""


LEVEL = 8
"""Where no symbol has more operations, all are filled up to one length, so that the loop over them is
predicted."""


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


def chained_program(program):
    """A program for hits as a `ChainedProgram`; None where no chain of `CHAINED` registers moves on together.

    Parameters
    ----------
    program : Program
        From `hits_program`.
    """
    if program.zero < CHAINED:
        return None
    into, left, right = program.moves.T.astype(np.int64)
    link = (left == into) & (right == into - 1) & (into < program.zero)
    bounds = list(zip(program.first[:-1], program.first[1:]))
    runs = [_longest_fall(into[low:high], link[low:high]) for low, high in bounds]
    ends = [(into[low + stop - 1] - 1, into[low + start]) for (low, _), (start, stop) in zip(bounds, runs)]
    moving = [stop - start >= CHAINED for start, stop in runs]
    if not any(moving):
        return None
    low = int(max(end[0] for end, moves in zip(ends, moving) if moves))
    high = int(min(end[1] for end, moves in zip(ends, moving) if moves))
    inside = link & (into > low) & (into <= high)
    counts = np.array([inside[a:b].sum() for a, b in bounds])
    moves = counts == high - low
    writes = (into > low) & (into <= high) & ~inside
    falls = (into == low) & (left != low)
    if high - low < CHAINED or (counts[~moves] > 0).any() or writes.any() or falls.any():
        return None
    kept = ~inside
    number = np.concatenate([[0], np.cumsum(kept)])
    place = [a + int(np.argmax(inside[a:b])) if move else a for (a, b), move in zip(bounds, moves)]
    first, middle = number[program.first].astype(np.int32), number[place].astype(np.int32)
    operands = [_behind(column[kept], low, high, program.n_registers) for column in (into, left, right)]
    told = _told(program, first, np.where(moves, middle, first[1:]), operands) if low == 0 else None
    return ChainedProgram(
        first,
        middle,
        moves.astype(np.uint8),
        *operands,
        program.zero,
        program.n_registers,
        low,
        high,
        np.empty(0, np.int64) if told is None else told,
    )


def _told(program, first, moving, operands):
    """`told` of a `ChainedProgram`; None where events do more than to accept starts before `moving`.

    The starts of a chain fall from place to place, so that of several the first is the latest.
    """
    told = np.full(len(moving), -1)
    accepted, nothing = program.zero + 1, program.zero
    for symbol in range(len(moving)):
        places = []
        for k in range(first[symbol], first[symbol + 1]):
            into, *read = (int(column[k]) for column in operands)
            begun = bool(read.count(accepted)) == (k > first[symbol])
            if into != accepted or k >= moving[symbol] or not begun:
                return None
            places += [one - program.n_registers for one in read if one not in (accepted, nothing)]
        if min(places, default=0) < 0:
            return None
        told[symbol] = min(places, default=-1)
    return told


def _behind(column, low, high, n_registers):
    """Operands with the registers of the chain numbered behind the others."""
    inside = (column >= low) & (column <= high)
    return np.where(inside, column - low + n_registers, column).astype(np.uint32)


def _longest_fall(into, link):
    """Where the longest run of links stands whose registers fall one by one, half-open; else (0, 0)."""
    best, start = (0, 0), 0
    for place in range(len(into)):
        if not link[place]:
            start = place + 1
            continue
        if place > start and into[place] != into[place - 1] - 1:
            start = place
        if place + 1 - start > best[1] - best[0]:
            best = start, place + 1
    return best


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
