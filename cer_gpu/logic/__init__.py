"""Formulas of patterns and how they are rewritten to normal forms."""
