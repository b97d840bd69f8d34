"""Reading: from events to relevant events, by sources, columns, classification, keys and order."""
