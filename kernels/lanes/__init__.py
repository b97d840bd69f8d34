"""Lanes: numbering, ordering and grouping the events of each partition."""
