"""Timed complex event automata: complex event automata with clocks, after the timed CEL paper."""
