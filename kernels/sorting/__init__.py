"""Sorting: rows in the order of several keys."""
