"""MATCH_RECOGNIZE on a device: the matches are those of the CPU."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.row_patterns import contract, cpu
from cuda_device import TINY, USABLE, forms_launched
from cuda_registry import KERNELS
from test_row_pattern_kernels import all_matches, lanes_of, pattern

import cer_gpu as cer
from cer_gpu.engine import choice_arrays
from cer_gpu.engine.cuda import row_patterns
from cer_gpu.patterns.choices import automaton_of
from cer_gpu.patterns.live_states import LiveStates
from cer_gpu.patterns.tree import Concatenation

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)


@pytest.mark.parametrize("seed", range(25))
def test_matches_are_those_of_the_cpu(seed: int) -> None:
    random = Random(seed)
    automaton = automaton_of(Concatenation((pattern(random, 3), pattern(random, 1))))
    choices = choice_arrays.choice_lists(automaton)
    count, names = random.randint(1, 14), len(automaton.variables)
    masks = np.array([random.getrandbits(names) | random.getrandbits(names) for _ in range(count)], np.uint64)
    lanes = lanes_of(random, count)
    skip = contract.SkipRule(contract.PAST_LAST_ROW, np.zeros(names, np.uint8), np.zeros(0, np.uint8))
    ends = np.empty((count, len(choices.variable_of)), np.int64)
    none, entered = np.zeros(0, np.int64), np.full(1, -1)
    bound = contract.BoundedChoices(choices.variable_of, choices, masks, none, 0, ends, entered)
    expected = all_matches(
        choices, lanes, skip, lambda room, at: cpu.bounded_matches(bound, lanes, skip, room, at)
    )
    symbols, known = choice_arrays.symbols_of(masks, names)
    with forms_launched() as launched:
        found = row_patterns.matches_on_device(
            0, choices, LiveStates(automaton, known), symbols, lanes, random.choice(TINY)
        )
    assert found is not None
    assert tuple(part.tolist() for part in found) == expected
    ahead = {kernel.name: set(kernel.signatures) for kernel in KERNELS}
    assert launched.keys() == {"row_states", "row_matches"}
    assert all(forms <= ahead[name] for name, forms in launched.items())


def test_a_statement_runs_on_a_device() -> None:
    rng = np.random.default_rng(5)
    table = pa.table({"k": rng.integers(0, 4, 60), "i": np.arange(60), "x": rng.integers(0, 9, 60)})
    sql = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY i
        MEASURES FIRST(i) AS first, COUNT(*) AS n PATTERN (down+ up*) {}
        DEFINE down AS x < PREV(x), up AS x > PREV(x))"""
    there = cer.match_recognize(sql.format(""), t=table, device="cuda")
    here = cer.match_recognize(sql.format(""), t=table, device="cpu").to_arrow()
    assert here.num_rows > 5
    assert there.to_arrow() == here
    assert "cuda:0 finds the matches" in there.explain()
