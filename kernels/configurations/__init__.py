"""Configurations: runs of timed automata that have marked the same events, followed event by event as one."""
