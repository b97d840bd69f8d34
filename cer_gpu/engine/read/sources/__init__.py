"""Sources: what the user hands over as events, read as batches of the columns that a query needs."""
