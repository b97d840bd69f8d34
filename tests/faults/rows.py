"""Faults in row patterns: the order of choices, what can be completed, searches, rows in no match."""

from faults.fault import Fault

RANDOM = ("test_row_patterns_random.py::test_answers_are_those_of_the_reference",)
KERNELS = ("test_row_pattern_kernels.py::test_three_ways_find_the_same_matches",)

PARTS = ("test_match_recognize.py::test_matches_that_overlap_come_in_parts",)

FAULTS = (
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
        "cer_gpu/engine/rows/free_rows.py",
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
        "edges = np.repeat(lanes[:-1] if offset < 0 else lanes[1:] - 1, sizes)",
        "edges = np.repeat(lanes[:-1] if offset < 0 else lanes[1:], sizes)",
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
