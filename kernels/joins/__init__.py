"""Joins: hits, counts, the persistent structure and its enumeration for a parallelized automaton (PCEA)."""
