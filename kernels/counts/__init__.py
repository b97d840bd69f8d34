"""Counts: how many complex events end at each hit."""
