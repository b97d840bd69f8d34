"""Faults in row patterns: the order of choices, what can be completed, searches, rows in no match."""

from faults.fault import Fault

RANDOM = ("test_row_patterns_random.py::test_answers_are_those_of_the_reference",)
KERNELS = ("test_row_pattern_kernels.py::test_three_ways_find_the_same_matches",)

PARTS = ("test_match_recognize.py::test_matches_that_overlap_come_in_parts",)

SHARED = ("test_row_patterns_random.py::test_matches_that_share_rows_are_those_of_the_reference",)
STRETCHES = ("test_row_pattern_starts.py::test_stretches_give_the_rows_of_the_whole",)
AGGREGATES = ("test_row_pattern_aggregates.py",)

FAULTS = (
    Fault(
        "kernels/row_patterns/overlap.py",
        "if choice >= 0:\n                        if open_[ours, choice] < 0:",
        "if choice >= 0:\n                        if True:",
        "A match begins with the node that an earlier match has at its row.",
        SHARED,
    ),
    Fault(
        "kernels/row_patterns/overlap.py",
        "            nearest[node] = after\n",
        "            nearest[node] = -1\n",
        "A node that is left out leads to the next one that is kept.",
        SHARED,
    ),
    Fault(
        "kernels/row_patterns/overlap.py",
        "if counts[k] == skip + 1:",
        "if counts[k] == 1:",
        "The element so many before the last one exists where the chain is long enough.",
        SHARED,
    ),
    Fault(
        "kernels/row_patterns/folds.py",
        "count = 0 if before[row] < 0 else counts[before[row]]",
        "count = 0",
        "A chain goes on where its row before is no neighbour.",
        SHARED,
    ),
    Fault(
        "kernels/row_patterns/folds.py",
        "total += off * (values[row] - mean)",
        "total += off * off",
        "The squared difference is from the mean before and the mean with the value.",
        AGGREGATES,
    ),
    Fault(
        "cer_gpu/engine/rows/start_chains.py",
        "left[1, along] = told[1] + np.cumsum(started[::-1])[::-1]",
        "left[1, along] = told[1] + started",
        "All matches of a chain are counted.",
        STRETCHES,
    ),
    Fault(
        "cer_gpu/engine/rows/start_chains.py",
        "if mode == k.PAST_LAST_ROW:\n        return len(slots)",
        "if mode == k.PAST_LAST_ROW:\n        return 1",
        "Past the last row the next match starts behind all rows of the one before.",
        STRETCHES,
    ),
    Fault(
        "cer_gpu/engine/rows/start_chains.py",
        "starts[self.first : self.stop] = 1",
        "starts[self.first : self.stop + 1] = 1",
        "A match that starts behind the stretch belongs to the next one.",
        STRETCHES,
    ),
    Fault(
        "cer_gpu/engine/rows/row_matches.py",
        "return np.arange(max(self._first, self._covered), self._stop)",
        "return np.arange(self._first, self._stop)",
        "A row in the last match is not free.",
        STRETCHES,
    ),
    Fault(
        "kernels/row_patterns/cpu.py",
        "    if choices.entered[0] == first:\n        return",
        "    if choices.entered[0] >= 0:\n        return",
        "The ends of one partition are not those of another.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/engine/rows/fold_values.py",
        "places = np.where((counted.valid > 0) & (changed | (counts == 1)), np.arange(len(words)), -1)",
        "places = np.where((counted.valid > 0) & changed, np.arange(len(words)), -1)",
        "The first value of a match is its best, whatever the match before had.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/patterns/scalar_reader.py",
        'if function == "avg" and self.language in WHOLE_AVERAGES:',
        'if function == "avg" and not self.language:',
        "AVG of integers is an integer in Flink alone.",
        AGGREGATES,
    ),
    Fault(
        "cer_gpu/row_pattern_query.py",
        "found = found.filter(found.column(FIRST).is_valid())",
        "found = found.slice(0)",
        "An empty match ends nowhere.",
        ("test_backtest_row_patterns.py::test_random_statements_are_counted_as_the_reference_lists_them",),
    ),
    Fault(
        "cer_gpu/patterns/choices.py",
        'if key in passed or (node.kind == "leave" and node.loop in entered):',
        "if key in passed:",
        "A repetition beyond the least number takes a row.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/patterns/choices.py",
        "follows=[over, again] if reluctant else [again, over]",
        "follows=[again, over]",
        "A reluctant quantifier prefers fewer repetitions.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/patterns/live_states.py",
        "if MATCHED in automaton.last_choices[slot]:",
        "if MATCHED in automaton.next_choices[slot]:",
        "At the last row of a partition other anchors hold.",
        KERNELS,
    ),
    Fault(
        "kernels/row_patterns/cpu.py",
        "0 if start == first else 1, choices.states[start]",
        "1, choices.states[start]",
        "A match may begin with `^` at the first row of a partition.",
        KERNELS,
    ),
    Fault(
        "kernels/row_patterns/cpu.py",
        "if end >= 0 and (least < 0 or end < least):",
        "if end >= 0 and least < 0:",
        "Of several completions the one that ends first says whether WITHIN can be kept.",
        RANDOM,
    ),
    Fault(
        "kernels/row_patterns/folds.py",
        "if seen[codes[row]] == match + 1:",
        "if seen[codes[row]]:",
        "A value is distinct in its match, and not in all of them.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/engine/rows/row_matches.py",
        "free[: max(self._covered - self._first, 0)] = False",
        "free[:0] = False",
        "A row in a match of the part before is not free.",
        PARTS,
    ),
    Fault(
        "cer_gpu/engine/rows/answers.py",
        "numbers[lanes == self._lane] += self._count",
        "numbers[lanes < 0] += self._count",
        "Matches are numbered on in the next part of a partition.",
        PARTS,
    ),
    Fault(
        "cer_gpu/engine/rows/fixed_values.py",
        "edges = lanes[:-1] + step if offset < 0 else lanes[1:] - 1 - step",
        "edges = lanes[:-1] + step if offset < 0 else lanes[1:] - 2 - step",
        "NEXT ends at the last row of the partition.",
        RANDOM,
    ),
    Fault(
        "cer_gpu/patterns/conditions.py",
        '"is null", "is true", "distinct from"',
        '"is true", "distinct from"',
        "What may have a value though there is no row is not moved into a navigation.",
        RANDOM,
    ),
)
