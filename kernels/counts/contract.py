"""The contract of counts: how many complex events end at each hit, by definition."""

from ..runs.contract import accepting_runs


def counts_reference(tables, symbols, begin, stop, event, lowest):
    """The counts of the hits of one segment by definition: lists every run."""
    runs = accepting_runs(tables, symbols, begin, stop)
    return [sum(1 for start, end, _ in runs if end == j and start >= low) for j, low in zip(event, lowest)]
