"""Answers: from the ends of a chunk to record batches and Python values."""
