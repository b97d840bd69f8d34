"""Steps: automata that bound the gap of time from one marked event to the next: `A ;[<= 5 s] B`."""
