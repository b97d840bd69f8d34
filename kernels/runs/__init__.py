"""Runs of an automaton: its tables, and the register programs made from them."""
