"""Enumeration: the complex events of many ends, walked through, put in canonical order, and written out."""
