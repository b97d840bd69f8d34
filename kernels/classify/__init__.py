"""Classification: from columns to symbols, and the events that are kept."""
