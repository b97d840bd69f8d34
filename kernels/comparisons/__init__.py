"""Compared steps: automata whose steps compare an event with one of the events marked before it."""
