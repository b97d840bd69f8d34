"""The contract of hits: what a hit is, by definition.

A **hit** is an event at which at least one complex event ends. With it comes its **latest start**: the latest
event at which such a complex event starts.
"""

from ..runs.contract import accepting_runs


def hits_reference(tables, symbols, starts, keys, size, begin, report, stop):
    """The hits of one fresh segment by definition: a list of (event, latest start)."""
    latest = {}
    for start, end, _ in accepting_runs(tables, symbols, begin, stop):
        if end >= report and (len(keys) == 0 or keys[end] - keys[start] <= size):
            recorded = int(starts[start]) if len(starts) else start
            latest[end] = max(latest.get(end, -1), recorded)
    return sorted(latest.items())
