"""Outlooks: whether a complex event of another pattern lies within reach, after an event or before it."""
