"""Row patterns: which rows SQL's MATCH_RECOGNIZE prefers, and measures over them."""
