"""Windows over an attribute that goes up and down: ranks, hits, counts, and the structure of their starts."""
