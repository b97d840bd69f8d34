"""Faults in what is made of matches: the choice of the first ones of each key."""

from faults.fault import Fault

HEAPS = ("test_candidates.py::test_heaps_keep_the_rows_that_come_first",)
VALUES = ("test_candidates.py::test_values_and_keys_of_all_types",)

FAULTS = (
    Fault(
        "kernels/heaps/cpu.py",
        "    return row > other\n",
        "    return row < other\n",
        "Of equal values the one that was read first comes first.",
        HEAPS,
    ),
    Fault(
        "kernels/heaps/cpu.py",
        "if late.shape[0] and late[row] != late[other]:",
        "if False:",
        "What has no value comes behind all values.",
        HEAPS,
    ),
    Fault(
        "kernels/heaps/cpu.py",
        "                    below = other\n",
        "                    other = below\n",
        "On top of a heap is the last of its rows.",
        HEAPS,
    ),
    Fault(
        "cer_gpu/engine/answers/candidates.py",
        "return part.encode([part.parts[0].words(batch, None)]) + np.int32(1)",
        "return np.maximum(part.encode([part.parts[0].words(batch, None)]), 0)",
        "A null is a key of its own.",
        VALUES,
    ),
    Fault(
        "cer_gpu/engine/answers/candidates.py",
        "words = ~words if descending else words",
        "words = -words if descending else words",
        "The opposite order is that of all whole numbers, the least one included.",
        VALUES,
    ),
    Fault(
        "cer_gpu/engine/answers/candidates.py",
        "np.where(late, 0, words) if len(late) else words",
        "words",
        "Matches without a value are in the order in which they were read.",
        VALUES,
    ),
    Fault(
        "cer_gpu/engine/answers/candidates.py",
        "            matches, words = matches[kept], words[kept]\n",
        "            matches, words = matches[: len(kept)], words[kept]\n",
        "A match keeps its number when others are dropped.",
        VALUES,
    ),
)
