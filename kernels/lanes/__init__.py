"""Lanes: the numbers of keys, the order and the grouping of events in their partition."""
