"""Decide synchronous resets of 500 random timed automata, against brute force.

`python tests/timed_decisions.py` runs it. It is not part of the suite, which does the same for fewer of them.
"""

from __future__ import annotations

from test_timed_automata import decided

if __name__ == "__main__":
    synchronous, not_so = decided(range(1_000, 1_500))
    print(
        f"500 automata: {synchronous} have synchronous resets, {not_so} have not; brute force agrees on all"
    )
