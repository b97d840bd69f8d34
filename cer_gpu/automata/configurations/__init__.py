"""Automata of formulas of any kind, which are made deterministic while they read a stream."""
