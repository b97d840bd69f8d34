"""From events to relevant events: sources, columns, classification, keys and order."""
