"""Faults in the statistics of outcomes: the base of keys, blocks of time, and intervals."""

from faults.fault import Fault

INTERVALS = ("test_outcome_intervals.py::test_intervals_are_those_of_clusters_of_time",)
ALIKE = ("test_outcome_intervals.py::test_hits_that_are_all_alike_tell_nothing_of_rare_failures",)
AGED = ("test_outcomes.py::test_a_value_that_is_too_old_is_left_out",)

FAULTS = (
    Fault(
        "cer_gpu/backtesting/outcomes/time_blocks.py",
        "weight = hits / whole[:, 0]",
        "weight = hits.sum() / whole[:, 0].sum() + 0 * hits",
        "An event of the base counts as much as the hits of its key do.",
        INTERVALS,
    ),
    Fault(
        "cer_gpu/backtesting/outcomes/time_blocks.py",
        "at_hits[:, first + OWN] = mean[lane]",
        "at_hits[:, first + OWN] = whole[:, place].sum() / whole[:, 0].sum()",
        "A hit is compared with the mean of its own key.",
        (*INTERVALS, "test_outcome_intervals.py::test_keys_that_differ_do_not_make_an_effect"),
    ),
    Fault(
        "cer_gpu/backtesting/outcomes/block_interval.py",
        "- gain * many - own[:, REST]",
        "- gain * many",
        "The base is an estimate too.",
        INTERVALS,
    ),
    Fault(
        "cer_gpu/backtesting/outcomes/block_interval.py",
        "least = LENGTHS * sums.ahead * (1 - 1e-9)",
        "least = 0.0",
        "A block is longer than an outcome looks ahead.",
        ("test_outcome_intervals.py::test_too_little_history_allows_no_claim",),
    ),
    Fault(
        "cer_gpu/backtesting/outcomes/block_interval.py",
        "int(count * count / float((many * many).sum()) + 1e-9)",
        "int((many > 0).sum())",
        "Where a few blocks have most of the hits, there are fewer independent ones.",
        INTERVALS,
    ),
    Fault(
        "cer_gpu/backtesting/outcomes/block_interval.py",
        "least = max(own[:, SPREAD].sum(), 0) if same else 0.0",
        "least = 0.0",
        "Values that are all the same have the spread of the base.",
        ALIKE,
    ),
    Fault(
        "cer_gpu/backtesting/best_variants.py",
        "return self.blocks >= LEAST_BLOCKS",
        "return True",
        "Too few independent blocks allow no claim.",
        ("test_outcome_intervals.py::test_too_little_history_allows_no_claim",),
    ),
    Fault(
        "cer_gpu/engine/answers/future_values.py",
        "age = size - (times[np.maximum(held, 0)] - times)",
        "age = times - times[np.maximum(held, 0)]",
        "A value is as old as it is at the time that it is taken for.",
        AGED,
    ),
)
