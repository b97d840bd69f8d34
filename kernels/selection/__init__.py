"""Strategies: the one complex event that NEXT or LAST leaves at each hit, as lists of marks."""
