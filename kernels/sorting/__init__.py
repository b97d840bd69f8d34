"""Rows in the order of several keys."""
