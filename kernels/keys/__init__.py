"""Keys: every key gets a small number, in order of first sight."""
