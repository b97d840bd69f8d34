"""Automata of formulas of any kind, made deterministic on the concrete stream."""
