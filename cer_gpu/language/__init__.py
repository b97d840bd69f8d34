"""Text -> syntax tree -> checked query."""
