"""Steps: the automaton whose states are entered at events, and read again within a gap of time."""
