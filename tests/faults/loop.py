"""Faults in the loop: `kernels/loop`."""

from faults.fault import Fault

STEPS = ("test_kernel_steps.py::test_hits_counts_and_lists_are_those_of_the_runs[False]",)

JOINED = ("test_join_kernels.py::test_hits_counts_and_answers_are_those_of_the_run_trees",)

FAULTS = (
    Fault(
        "kernels/loop/follow.py",
        "if tables.group_starts[group]:",
        "if True:",
        "A run starts only in a group in which runs may start.",
        STEPS,
    ),
    Fault(
        "kernels/loop/follow.py",
        "own = admitted(own, low)",
        "own = admitted(own, 0)",
        "Runs that began before the window are dropped.",
        STEPS,
    ),
    Fault(
        "kernels/loop/follow.py",
        "if i >= report and best != none():",
        "if best != none():",
        "A segment reports no end that comes before the events that it reports.",
        STEPS,
    ),
    Fault(
        "kernels/loop/follow.py",
        "best = plus(best, own)",
        "best = own",
        "An end has the runs of all accepting groups of its event.",
        STEPS,
    ),
    Fault(
        "kernels/loop/follow.py",
        "event = progress[NEXT] - 1",
        "event = progress[NEXT]",
        "Once there is room, the loop continues with the event that found no room.",
        ("test_stream_state.py::test_random_correlations_in_random_batches",),
    ),
    Fault(
        "kernels/loop/gaps.py",
        "own >= room.hits.lowest[room.words[HIT]]",
        "own > room.hits.lowest[room.words[HIT]]",
        "A run that starts at the first event of the window is listed.",
        STEPS,
    ),
    Fault(
        "kernels/loop/products.py",
        "while keys[event] - keys[low] > window.size:",
        "while low < event and keys[event] - keys[low] >= window.size:",
        "A window admits a start that lies as far back as the window is long.",
        STEPS,
    ),
    Fault(
        "kernels/loop/products.py",
        "out.start[found] = stop - own\n",
        "out.start[found] = stop - own + 1\n",
        "Earliest starts are counted back from the end of the segment.",
        STEPS,
    ),
    Fault(
        "kernels/loop/products.py",
        "or own <= MOST_RUNS // other:",
        "or own < MOST_RUNS // other:",
        "A product of two numbers of runs is exact up to 2**62.",
        ("test_join_kernels.py::test_numbers_of_runs_are_multiplied_up_to_the_largest",),
    ),
    Fault(
        "kernels/loop/nodes.py",
        "words[HIT] = room.hits.first[g]\n",
        "words[HIT] = 0\n",
        "A segment begins with its own first hit.",
        STEPS,
    ),
    Fault(
        "kernels/loop/nodes.py",
        "        lane = events.lanes[event]\n",
        "        lane = 0\n",
        "The window of an event of a stream is that of its own lane.",
        ("test_stream_state.py::test_random_correlations_in_random_batches",),
    ),
    Fault(
        "kernels/loop/views.py",
        "shown = gap >= tables.view_low[view] or (",
        "shown = gap > tables.view_low[view] or (",
        "A gap includes its lower bound.",
        STEPS,
    ),
    Fault(
        "kernels/loop/views.py",
        "events.times[entered] > tables.view_high[view]",
        "events.times[entered] >= tables.view_high[view]",
        "A gap includes its upper bound.",
        STEPS,
    ),
    Fault(
        "kernels/loop/views.py",
        "events.places[entered] + 1 != events.places[event]",
        "events.places[entered] != events.places[event]",
        "A step that excludes the next event does not read it.",
        STEPS,
    ),
)
