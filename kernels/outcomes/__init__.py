"""Outcomes: what follows each event within a time or a number of events."""
