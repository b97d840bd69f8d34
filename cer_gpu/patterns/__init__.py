"""SQL's row pattern recognition, MATCH_RECOGNIZE: read, planned, matched and measured."""
