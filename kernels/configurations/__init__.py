"""Configurations: runs of timed automata that have given the same labels, followed event by event."""
