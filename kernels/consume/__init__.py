"""CONSUME BY: which hits are reported."""
