"""Faults in register programs, their counts, and the queries that run abreast."""

from faults.fault import Fault

RUNS = ("test_kernel_runs.py::test_hits_and_counts_are_those_of_the_runs",)

GRID = ("test_abreast.py::test_a_grid_adds_up_what_its_members_find",)

FAULTS = (
    Fault(
        "kernels/loop/products.py",
        "if keys[event] - keys[start] <= window.size else -1",
        "if keys[event] - keys[start] < window.size else -1",
        "A hit whose run is as long as the window is one.",
        RUNS,
    ),
    Fault(
        "kernels/loop/registers.py",
        "if event >= report:",
        "if event > report:",
        "A segment reports from its first reported event on.",
        RUNS,
    ),
    Fault(
        "kernels/loop/products.py",
        "return own if own > other else other",
        "return own",
        "A register keeps the later one of two starts.",
        RUNS,
    ),
    Fault(
        "kernels/runs/programs.py",
        "late = [p for p in read if p != into and (p > into) == descending and p in written]",
        "late = []",
        "An event reads all registers as they were before it.",
        RUNS,
    ),
    Fault(
        "kernels/runs/programs.py",
        "length[target] = max(length[target], length[state] + 1)",
        "length[target] = max(length[target], length[state])",
        "No run has more events than the automaton has states in a row.",
        ("test_kernel_runs.py::test_no_run_is_longer_than_longest_run_says",),
    ),
    Fault(
        "kernels/counts/cpu.py",
        "        out[h] = total\n    return 1 if over >> 62 else 0",
        "        out[h] = total\n    return 1 if over >> 63 else 0",
        "A segment whose counts reach 2**62 is counted again.",
        ("test_kernel_runs.py::test_counts_past_two_to_the_63_are_exact",),
    ),
    Fault(
        "kernels/counts/cpu.py",
        "while known < h1 and lowest[known] < j:",
        "while known < h1 and lowest[known] <= j:",
        "New suffixes are made for the hits whose windows begin before the middle.",
        RUNS,
    ),
    Fault(
        "kernels/loop/registers.py",
        "starts[i] if numbered else event",
        "event",
        "What is recorded of a run that starts at an event is its position in the stream.",
        ("test_kernel_runs.py::test_carried_registers_and_vectors_do_not_show_where_batches_are_cut",),
    ),
    Fault(
        "kernels/teams/cpu_levels.py",
        "for k in range(last - 1, -1, -1):\n                if levels[cell, k] >= 0:",
        "for k in range(last):\n                if levels[cell, k] >= 0:",
        "An event of two steps of a grid does not follow itself.",
        GRID,
    ),
    Fault(
        "kernels/teams/cpu_levels.py",
        "while keys[j] - keys[low] > size[0]:",
        "while keys[j] - keys[low] >= size[0]:",
        "A match of a grid may last as long as the window.",
        GRID,
    ),
    Fault(
        "kernels/teams/cpu_levels.py",
        "top[r] = max(top[r], top[r + stride])",
        "top[r] = top[r]",
        "A member of a grid has the hits of those that ask for more at an earlier step.",
        GRID,
    ),
)
