"""Counts abreast: how often many automata fire over the same events, all of them at each event."""
