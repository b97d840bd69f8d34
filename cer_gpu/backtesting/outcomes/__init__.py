"""Outcomes: what happened after each hit of a query, and what happens after any event."""
