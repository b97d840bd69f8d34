"""Row patterns over Arrow data: rows in order, conditions, matches, measures, answers."""
