"""A query on its events: what is asked, chunk by chunk, at once or as a stream."""
