"""Match automata of formulas with operators and selectors: composed, and split to be run."""
