"""Chains of which two steps are compared, whatever lies between them: ends and counts by sums over ranks."""
