"""From the ends of a chunk to record batches and to what the caller gets."""
