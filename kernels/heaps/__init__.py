"""Heaps: the first rows of each group, in the order of their values."""
