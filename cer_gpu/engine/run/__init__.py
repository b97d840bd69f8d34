"""Running a query over events: chunk by chunk, over a whole source or as a stream."""
