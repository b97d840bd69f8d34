"""Hits: the ends of complex events."""
