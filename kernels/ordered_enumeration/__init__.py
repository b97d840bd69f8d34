"""Ordered enumeration: the complex events of one end, one by one in canonical order."""
