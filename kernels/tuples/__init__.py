"""Joins of any form: partial answers that are extended by one event after another, through sorted indexes."""
