"""SUPPRESS: which ends are reported when none is for some time after one that was."""
