"""The random tests of timed automata on more cases than the suite has time for: `make test-timed`.

500 automata whose synchronous resets are decided and tried out, and some thousand formulas: each against
its automaton, the automaton of few clocks, the deterministic one, that of two clocks, and the formula that is
written back.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from random_timed import KINDS, classes, of_automaton, of_deterministic, of_formula, small_formula, stream
from test_timed_automata import decided
from test_timed_formulas import check_round_trip

from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.subsets import determinise_timed
from cer_gpu.automata.timed.synchrony import asked_later, asynchronous
from cer_gpu.errors import LimitError

FORMULAS = 4_000


def formulas(seed: int, count: int) -> Counter[str]:
    """How many formulas were compared with each of their automata."""
    rng, done = Random(seed), Counter[str]()
    for _ in range(count):
        made, timed = small_formula(rng, 200)
        events = stream(rng, rng.randrange(3, 9))
        expected = of_formula(made, events)
        merged = merged_clocks(timed)
        assert of_automaton(timed, events) == expected, made
        assert of_automaton(merged.timed, events) == expected, made
        done["complex events"] += len(expected)
        known = classes(merged.timed)
        try:
            if asynchronous(merged.timed, known, asked_later(merged.timed)) is None:
                found = determinise_timed(merged.timed, known, checked=True)
                assert of_deterministic(found, known, events) == expected, made
                done["determinised"] += 1
            else:
                done["without synchronous resets"] += 1
        except LimitError:
            done["too large to decide or determinise"] += 1
        if merged.timed.size <= 25 and check_round_trip(merged.timed, rng) is not None:
            done["written back"] += 1
    return done


if __name__ == "__main__":
    synchronous, not_so = decided(range(1_000, 1_500))
    print(
        f"500 automata: {synchronous} have synchronous resets, {not_so} have not; brute force agrees on all"
    )
    print(f"{FORMULAS:,} formulas over {' and '.join(KINDS)}:")
    for what, number in formulas(0, FORMULAS).items():
        print(f"  {number:>6,} {what}")
