"""Monitors: automata that rename the symbol of each event."""
