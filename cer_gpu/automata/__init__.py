"""Complex event automata: built from formulas, trimmed, determinised and minimised."""
