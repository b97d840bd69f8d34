"""Formulas: what they mean (the reference semantics) and how they are rewritten to normal forms."""
