"""Hits and counts under a window that does not admit an interval of events."""
