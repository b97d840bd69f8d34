"""Faults in configurations, views and what runs on devices."""

from faults.fault import Fault

TIMED = ("test_general_random.py::test_random_timed_queries",)

JOIN = ("test_kernel_views.py::test_rows_that_join",)

FAULTS = (
    Fault(
        "kernels/configurations/cpu.py",
        "if now - kept.since[row] > rules.size:",
        "if now - kept.since[row] >= rules.size:",
        "WITHIN admits a configuration that is as old as the window is long.",
        TIMED,
    ),
    Fault(
        "kernels/views/cpu_search.py",
        "return value if op == 2 else value + 1",
        "return value + 1",
        "Rows that join with `<` have lesser values.",
        JOIN,
    ),
    Fault(
        "cer_gpu/engine/views/snapshots.py",
        'for number, (name, columns) in enumerate(header["relations"].items()):',
        'for number, (name, columns) in enumerate(reversed(header["relations"].items())):',
        "A view is restored with the rows of each relation.",
        ("test_views_grouped.py",),
    ),
    Fault(
        "kernels/windows/cuda.py",
        "        if end - keys[middle] > size:\n",
        "        if end - keys[middle] >= size:\n",
        "On a device WITHIN admits a start that lies as far back as the window is long.",
        ("test_cuda_kernels.py::test_hits_and_counts_under_windows",),
    ),
    Fault(
        "kernels/hits/cuda.py",
        "keys[i] - keys[np.uint64(latest)] <= window.size",
        "keys[i] - keys[np.uint64(latest)] < window.size",
        "On a device a hit whose run is as long as the window is one.",
        ("test_cuda_kernels.py::test_hits_and_counts_under_windows",),
    ),
    Fault(
        "kernels/hits/cuda_blocks.py",
        "if low * each <= begin and stop <= high * each:",
        "if low * each <= begin:",
        "A thread reads symbols from shared memory only where all of its segment lies there.",
        ("test_cuda_kernels.py::test_hits_and_counts_under_windows",),
    ),
    Fault(
        "kernels/counts/cuda.py",
        " and hits.pairs[h1 - 1, 0] < high * each:",
        ":",
        "A thread that counts reads symbols from shared memory only where all of its segment lies there.",
        ("test_cuda_kernels.py::test_hits_and_counts_under_windows",),
    ),
    Fault(
        "kernels/hits/cuda_long_segments.py",
        "        for begun in range(GROUP, stop - first, GROUP):\n",
        "        for begun in range(2 * GROUP, stop - first, GROUP):\n",
        "Maps of a tile are composed across its groups.",
        ("test_cuda_lanes.py::test_hits_of_units",),
    ),
    Fault(
        "kernels/counts/cuda_ends.py",
        "        if tile % each > 0:\n",
        "        if tile > 0:\n",
        "The numbers before the first tile of a group are known before those of its other tiles.",
        ("test_cuda_lanes.py::test_matrices_of_tiles_are_multiplied_by_one_block",),
    ),
    Fault(
        "kernels/counts/cuda_ends.py",
        "if most >= MOST_RUNS:",
        "if most > LARGEST:",
        "On a device a number that stands for all larger ones is no result.",
        ("test_cuda_lanes.py::test_a_sum_of_units_too_large_is_the_status_of_its_segment",),
    ),
    Fault(
        "kernels/device/scan.py",
        "offsets[i] = sums[thread] - value",
        "offsets[i] = sums[thread]",
        "On a device a list begins where the one before it ends.",
        ("test_cuda_kernels.py::test_offsets",),
    ),
    Fault(
        "kernels/steps/cuda_hits.py",
        "        low = out_first[unit]\n",
        "        low = out_first[0]\n",
        "On a device each unit of steps writes to its own part.",
        ("test_cuda_steps.py::test_hits_and_counts_are_those_of_the_cpu",),
    ),
)
