"""Faults in the thresholds on sums, means and extremes of the events of an iteration."""

from faults.fault import Fault

DEFINITION = ("test_aggregate_kernels.py::test_hits_are_those_of_the_definition",)

TYPES = ("test_thresholds_of_aggregates.py::test_all_types_agree_with_partial_matches",)

FAULTS = (
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "                while contiguous and tail > head:\n",
        "                while tail > head + 1 << 40:\n",
        "Of the starts of a run only those with ascending prefix sums are of use.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "if not windowed or keys[i] - keys[start] <= window.size:\n                out",
        "if start >= 0:\n                out",
        "An event without a value ends nothing that began before the window.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "slack = 1.01 * (count - left + 8) * UNIT * spread + count * FINER * size",
        "slack = count * FINER * size",
        "The sum of floats is that of one addition after the other.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "                    slack = np.inf\n",
        "                    slack = 0.0\n",
        "With an infinite value in the window, the sums are taken one by one.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "latest = found if contiguous else max(latest, found)",
        "latest = found",
        "An event without a value ends what any event before it ends.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "if contiguous or gain > 0 or",
        "if contiguous or gain < 0 or",
        "The best choice of events has those with values above 0.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_sums.py",
        "                if spread > threshold.limit:\n",
        "                if spread > 4 * threshold.limit:\n",
        "Sums that may not fit 64 bits are told.",
        ("test_thresholds_of_aggregates.py::test_sums_that_do_not_fit_are_an_error",),
    ),
    Fault(
        "kernels/thresholds/cpu_extremes.py",
        "start = latest = event[left - 1] if left > first else -1",
        "start = latest = event[left - 1] if left > 0 else -1",
        "A run does not begin before the events that are next to each other.",
        DEFINITION,
    ),
    Fault(
        "kernels/thresholds/cpu_extremes.py",
        "                    latest = -1 if contiguous else latest\n",
        "                    latest = -1\n",
        "Of any choice of events, the last without a value, those with one are chosen.",
        DEFINITION,
    ),
    Fault(
        "cer_gpu/engine/machines/aggregate_thresholds.py",
        "whole = most * (high - low) < PLAIN and not np.any(values[there] % 1.0)",
        "whole = True",
        "Only floats without fractions are added up in any order.",
        TYPES,
    ),
    Fault(
        "cer_gpu/plan/aggregate_bounds.py",
        "least = floor(wanted) + 1 if condition.strict else ceil(wanted)",
        "least = ceil(wanted)",
        "A sum of whole numbers above a bound is not the bound.",
        TYPES,
    ),
)
