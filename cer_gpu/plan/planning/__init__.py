"""A whole query planned: by the first route that takes it, explained, and with its constants put in."""
