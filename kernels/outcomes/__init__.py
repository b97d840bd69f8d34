"""Outcomes: what happens after each event, within a time or a number of events."""
