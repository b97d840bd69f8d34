"""Automata of formulas with windows and gaps, made deterministic on the concrete stream."""
