"""Deterministic automata with one clock: their persistent structure with reset and check nodes."""
