"""Compared: the automaton of steps that compare an event with the marked one before it."""
