"""Answers of joins listed from groups, in one pass over events in their order: no structure is built.

Every transition that stores its run adds a **cell** to a group, the list of runs that an entry of the look-up
table holds under a slot, the latest first. A cell is never changed: what an event gathers are the groups as
they are then. An end expands its groups at once: one cell of each group that it gathers, one of each that
these have gathered, and so on; what began before the window ends a list, since events descend in it.

A cell knows the latest start of its runs, so that one that is taken leads to an answer. One that is passed
over does not: its event is inside the window, and all its runs began before. Their number is what this form
may cost more than the structure of `cpu_nodes`; `STEPS` has it, and the pass ends where it is too large.

1.2 to 3.1 times as fast as the structure: rules with one shared key, `Q_0`, and chains of three and four
steps (CPU time of the whole query, a million events).
"""

from ..arena.contract import DONE, MARKS_FULL, ROWS_FULL, STACK_FULL
from ..arena.rows import sort_rows
from ..jit import OFTEN, inline, jit
from .contract import BEST, EVENT_OF, HEAD, LATEST_OF, LINK_OF, NEXT_OF, PASSED
from .cpu_slots import slot_of

__all__ = ["DONE", "MARKS_FULL", "ROWS_FULL", "STACK_FULL", "expand", "renamed"]

CELLS_FULL = 4
LINKS_FULL = 5
TOO_SLOW = 6

AT, LOW, CELLS, LINKS, ENDS, ROWS, MARKS, STEPS, WORDS = range(9)
"""Words of `progress`, from which `expand` continues after an array was full; `WORDS` is their number."""

CELL, REST, ABOVE, PLACE, MARK, LEAST, CHOICE = range(7)
"""Columns of `choice`: the cell to look at next, the agenda after this choice, and how many cells the agenda
had when it was made; the event and the label of what is chosen now; the least event of this choice and those
before it. `CHOICE` is the number of columns."""

FEW_ROWS = 16
"""Up to so many answers of an end are put in order one by one."""

FREE = 1 << 14
"""So many cells may be passed over in any case; `PASSED` for each event and each answer."""


@inline
def _where(events, entry, slot):
    """Where the table has the group of an entry under a slot."""
    return events.offset[entry] + slot * events.stride[entry]


@inline
def _gathered(link, first, agenda, cells, todo):
    """Put the groups that a run has gathered on the agenda: its first cell, and how many cells it has."""
    for k in range(first + 1 + link[first + 1], first + 1, -1):
        agenda[cells, 0] = link[k]
        agenda[cells, 1] = todo
        todo = cells
        cells += 1
    return todo, cells


@inline
def _filled(labels, label, event, atom, at):
    """Write an event as that of the atoms that its label fills, from atom[at] on."""
    only = labels.only[label]
    if only >= 0:
        atom[at + only] = event
    else:
        for a in range(labels.atoms.shape[1]):
            if labels.atoms[label, a]:
                atom[at + a] = event


@inline
def answers_of(groups, root, event, low, labels, rows, stacks, n, m):
    """Append the answers of an end: status, how many rows and marks there are by then, and cells passed over.

    ===============  ============================  =======================================================
    `groups`         JoinGroups                    in
    `root`           int64                         in: where `groups.link` says what the end gathers
    `event`          int64                         in
    `low`            int64                         in: the least admissible start
    `labels`         FilledAtoms                   in
    `rows`           AnswerRows                    out
    `stacks`         GroupStacks                   scratch
    `n`, `m`         int64                         in: rows and marks written so far
    ===============  ============================  =======================================================
    """
    cell, link = groups.cell, groups.link
    choice, agenda, atom = stacks.choice, stacks.agenda, stacks.atom
    atoms = labels.atoms.shape[1]
    passed, depth = 0, 0
    at, label, first = event, link[root], root
    todo, cells = -1, 0
    status = DONE
    while True:
        choice[depth, PLACE] = at
        choice[depth, MARK] = label
        least = at if depth == 0 else min(at, choice[depth - 1, LEAST])
        choice[depth, LEAST] = least
        if atoms > 0:
            # This choice fills no atom of the choices before it, so these stay as they are.
            _filled(labels, label, at, atom, 0)
        if first >= 0:
            if cells + link[first + 1] > agenda.shape[0]:
                status = STACK_FULL
                break
            todo, cells = _gathered(link, first, agenda, cells, todo)
        alone = todo < 0
        here = -1 if alone else agenda[todo, 0]
        # Of the last group that is left to choose from all runs of a single event are answers at once.
        if alone or agenda[todo, 1] < 0:
            while alone or here >= 0:
                leaf = -1
                if not alone:
                    leaf = cell[here, EVENT_OF]
                    if cell[here, LATEST_OF] < low:
                        if leaf < low:
                            here = -1
                            break
                        passed += 1
                        here = cell[here, NEXT_OF]
                        continue
                    if cell[here, LINK_OF] >= 0:
                        break
                if n + 2 > rows.first.shape[0]:
                    status = ROWS_FULL
                    break
                if m + max(atoms, depth + 2) > rows.event.shape[0]:
                    status = MARKS_FULL
                    break
                if atoms > 0:
                    for a in range(atoms):
                        rows.event[m + a] = atom[a]
                    if not alone:
                        _filled(labels, -1 - cell[here, LINK_OF], leaf, rows.event, m)
                    m += atoms
                else:
                    if not alone and cell[here, LINK_OF] < -1:
                        rows.event[m] = leaf
                        rows.label[m] = -1 - cell[here, LINK_OF]
                        m += 1
                    for d in range(depth, -1, -1):
                        if choice[d, MARK] != 0:
                            rows.event[m] = choice[d, PLACE]
                            rows.label[m] = choice[d, MARK]
                            m += 1
                rows.start[n] = least if alone else min(leaf, least)
                n += 1
                rows.first[n] = m
                if alone:
                    break
                here = cell[here, NEXT_OF]
            if status != DONE:
                break
        if here >= 0:
            if depth + 2 > choice.shape[0]:
                status = STACK_FULL
                break
            depth += 1
            choice[depth, CELL] = here
            choice[depth, REST] = agenda[todo, 1]
            choice[depth, ABOVE] = cells
        while depth > 0:
            here = choice[depth, CELL]
            while here >= 0 and cell[here, LATEST_OF] < low:
                if cell[here, EVENT_OF] < low:
                    here = -1
                else:
                    here = cell[here, NEXT_OF]
                    passed += 1
            if here >= 0:
                break
            depth -= 1
        if depth == 0:
            break
        choice[depth, CELL] = cell[here, NEXT_OF]
        at = cell[here, EVENT_OF]
        first = cell[here, LINK_OF]
        label = -1 - first if first < 0 else link[first]
        todo, cells = choice[depth, REST], choice[depth, ABOVE]
    return status, n, m, passed


@inline
def _earlier(rows, one, other):
    """Whether a row that fills atoms comes before another: by start, then by the events of the atoms."""
    found = rows.start[one] - rows.start[other]
    a, b = rows.first[one], rows.first[other]
    left = rows.first[one + 1] - a
    while found == 0 and left > 0:
        found = rows.event[a] - rows.event[b]
        a += 1
        b += 1
        left -= 1
    return found < 0


@inline
def _put_in_order(rows, atoms, low, high, order, spare):
    """Put the rows low .. high - 1 of an end in canonical order: `order[low:high]`."""
    if high - low > FEW_ROWS or (atoms == 0 and high - low > 1):
        sort_rows(rows, low, high, order, spare)
    else:
        for i in range(low, high):
            row = high - 1 - i + low  # the latest runs are found first
            j = i
            while j > low and _earlier(rows, row, order[j - 1]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = row


@jit
def expand(tables, events, window, bounds, groups, fired, labels, found, stacks, progress, halt):
    """List the answers of a segment, end after end; `DONE`, or why not.

    ============  ===========================  ==========================================================
    `tables`      JoinTables                   in: without `entry_next`
    `events`      SlottedEvents                in
    `window`      MeasuredWindow               in
    `bounds`      int64 [3]                    in: the segment runs from event bounds[0] on, reports the ends
                                               from bounds[1] on, and stops before bounds[2]
    `groups`      JoinGroups                   in/out: `table` is -1 at first; the rest is kept
    `fired`       int64 [transitions, 3]       scratch: those that one event may take
    `labels`      FilledAtoms                  in
    `found`       ExpandedEnds                 out: progress[ENDS] ends, progress[ROWS] rows
    `stacks`      GroupStacks                  scratch
    `progress`    int64 [WORDS]                in/out: zeros at first, but `AT` and `LOW`: bounds[0]
    `halt`        uint8 [1]                    in: see `jit`
    ============  ===========================  ==========================================================

    When an array is full, the host enlarges it and calls again with everything else as it is.
    """
    table, cell, link = groups.table, groups.cell, groups.link
    rows, keys = found.rows, window.keys
    windowed = keys.shape[0] > 0
    low = progress[LOW]
    for i in range(progress[AT], bounds[2]):
        if i % OFTEN == 0 and halt[0]:
            return DONE
        if windowed:
            while keys[i] - keys[low] > window.size:
                low += 1
        progress[AT] = i
        progress[LOW] = low
        if progress[CELLS] + groups.room[0] > cell.shape[0]:
            return CELLS_FULL
        if progress[LINKS] + groups.room[1] > link.shape[0]:
            return LINKS_FULL
        symbol = events.symbols[i]
        links = progress[LINKS]
        n, m = progress[ROWS], progress[MARKS]
        start, n_fired, passed = -1, 0, 0
        for k in range(tables.first[symbol], tables.first[symbol + 1]):
            t = tables.transition[k]
            latest, last = i, links + 2
            for r in range(tables.read_first[t], tables.read_first[t + 1]):
                slot = slot_of(events.slots, tables.read_column[r], i)
                best = -1
                if slot >= 0:
                    where = _where(events, tables.read_entry[r], slot)
                    best = table[where, BEST]
                    link[last] = table[where, HEAD]
                    last += 1
                latest = min(latest, best)
                if latest < low:
                    break
            if latest < low:
                continue
            link[links] = tables.label[t]
            link[links + 1] = last - links - 2
            if tables.accepting[t] and i >= bounds[1]:
                status, n, m, more = answers_of(groups, links, i, low, labels, rows, stacks, n, m)
                if status != DONE:
                    return status
                start = max(start, latest)
                passed += more
            if tables.store_first[t] < tables.store_first[t + 1]:
                fired[n_fired, 0] = t
                fired[n_fired, 1] = latest
                fired[n_fired, 2] = -1 - tables.label[t]
                if last > links + 2:
                    fired[n_fired, 2] = links
                    links = last
                n_fired += 1
        for k in range(n_fired):
            t, latest = fired[k, 0], fired[k, 1]
            for s in range(tables.store_first[t], tables.store_first[t + 1]):
                slot = slot_of(events.slots, tables.store_column[s], i)
                if slot < 0:
                    continue
                where = _where(events, tables.store_entry[s], slot)
                new = progress[CELLS]
                cell[new, EVENT_OF] = i
                cell[new, LATEST_OF] = latest
                cell[new, NEXT_OF] = table[where, HEAD]
                cell[new, LINK_OF] = fired[k, 2]
                table[where, HEAD] = new
                table[where, BEST] = max(table[where, BEST], latest)
                progress[CELLS] = new + 1
        progress[LINKS] = links
        if start >= 0:
            end = progress[ENDS]
            _put_in_order(rows, labels.atoms.shape[1], progress[ROWS], n, found.order, found.spare)
            found.event[end] = i
            found.start[end] = start
            found.lowest[end] = low
            found.begin[end + 1] = n
            progress[ENDS] = end + 1
            progress[ROWS] = n
            progress[MARKS] = m
        progress[STEPS] += passed
        if progress[STEPS] > PASSED * (i - bounds[0] + n) + FREE:
            return TOO_SLOW
    progress[AT] = bounds[2]
    return DONE


@jit
def renamed(found, index, before, progress):
    """Call the events of what `expand` has written since `before` as the chunk does.

    `found` ExpandedEnds in/out; `index` int64 [events] in: of each event of the segment its number in the
    chunk, ascending; `before` and `progress` int64 [WORDS] in: the words of progress then and now.
    """
    rows = found.rows
    for end in range(before[ENDS], progress[ENDS]):
        found.event[end] = index[found.event[end]]
        found.start[end] = index[found.start[end]]
        found.lowest[end] = index[found.lowest[end]]
    for row in range(before[ROWS], progress[ROWS]):
        rows.start[row] = index[rows.start[row]]
    for mark in range(before[MARKS], progress[MARKS]):
        rows.event[mark] = index[rows.event[mark]]
