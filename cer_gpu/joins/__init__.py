"""Conjunctive queries: the hierarchical test, q-trees, and the automata that evaluate them (PCEA paper)."""
