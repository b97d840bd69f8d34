"""Joins of any form: partial answers are extended by one event after another, through sorted indexes."""
