"""The loop that automata of entries run, composed from what an event reads and what is asked of its runs."""
