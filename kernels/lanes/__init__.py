"""Lanes: the order and the grouping of events in their partition."""
