"""CONSUME BY: which hits are reported when a report drops partial matches."""
