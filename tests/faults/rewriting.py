"""Faults in rewritings: which events are neighbours, what marks them, and whose predicate is made of them."""

from faults.fault import Fault

FORMS = ("test_previous_events.py::test_both_forms_have_the_same_complex_events",)
READ = ("test_previous_events.py::test_comparisons_of_neighbours_read_prev",)
STAY = ("test_previous_events.py::test_other_comparisons_stay",)
SINCE = ("test_previous_events.py::test_intervals_between_neighbours_read_prev",)
LEFT = ("test_previous_events.py::test_other_intervals_stay",)
UNITS = ("test_previous_events.py::test_units_of_the_order",)

DISTANCES = "cer_gpu/logic/rewriting/previous_events.py"
PREVIOUS = "cer_gpu/logic/rewriting/previous_events.py"

SINGLE = "cer_gpu/logic/rewriting/repetitions.py"
BESIDE = ("test_growth.py::test_conditions_beside_a_repetition_read_all_of_it",)

PLANS = "cer_gpu/plan/planning/previous_events.py"
KEPT = ("test_previous_events.py::test_what_runs_as_fast_as_it_is_written_stays",)
BOUNDED = ("test_previous_events.py::test_the_intervals_still_bound_a_match",)

FAULTS = (
    Fault(
        PLANS,
        "return made if less else None",
        "return made",
        "What costs no less is run as it is written.",
        KEPT,
    ),
    Fault(
        "cer_gpu/plan/planning/planner.py",
        "    if outline.span is not None and (",
        "    if False and (",
        "The intervals bound a match, also where PREV says them.",
        BOUNDED,
    ),
    Fault(
        DISTANCES,
        "    if not pattern.contiguous:\n",
        "    if False:\n",
        "Only `:` says how far apart events are.",
        STAY,
    ),
    Fault(
        DISTANCES,
        "shared = variables(left) & variables(right)",
        "shared: frozenset[str] = frozenset()",
        "A variable of two steps may mark two events.",
        STAY,
    ),
    Fault(
        DISTANCES,
        "case t.Filter() | t.Timed()",
        "case t.Optional() | t.Filter() | t.Timed()",
        "What is optional may be left out, so that other events are neighbours.",
        STAY,
    ),
    Fault(
        DISTANCES,
        "{name: place for name, place in one.items() if other.get(name) == place}",
        "{**one, **other}",
        "A variable marks an event only if both sides of OR mark it there.",
        STAY,
    ),
    Fault(
        DISTANCES,
        "{name: one.length + place for name, place in other.front.items()}",
        "dict(other.front)",
        "The right side of a sequence begins after the left one.",
        READ,
    ),
    Fault(
        DISTANCES,
        "            if known.length != 1:\n                return known\n",
        "",
        "AS of several events marks each of them.",
        STAY,
    ),
    Fault(
        DISTANCES,
        "is_marked = bool(known.front) or is_one_event(inner)",
        "is_marked = True",
        "NOT (T) has no mark, and AS gives it none.",
        STAY,
    ),
    Fault(
        PREVIOUS,
        "latest = max(names",
        "latest = min(names",
        "The last of the events that are compared has the others before it.",
        READ,
    ),
    Fault(
        PREVIOUS,
        "distance + place - offsets[variable], span",
        "distance, span",
        "PREV of an event before is of one that is further back.",
        READ,
    ),
    Fault(
        PREVIOUS,
        "    if after is None or has_optional(made):\n",
        "    if after is None:\n",
        "An optional step takes its operator with it.",
        LEFT,
    ),
    Fault(
        PREVIOUS,
        'op if bound.open else f"{op}="',
        'f"{op}="',
        "An open bound leaves itself out.",
        SINCE,
    ),
    Fault(
        PREVIOUS,
        "    if reads(body) & variables(body) or any(",
        "    if any(",
        "A filter in an iteration speaks of its own repetition.",
        LEFT,
    ),
    Fault(
        PREVIOUS,
        'any(getattr(node, "prior", "") for node in walk(body))',
        "False",
        "PRIOR of the second repetition is the first.",
        LEFT,
    ),
    Fault(
        PREVIOUS,
        "return longer if iteration.least > 1 else t.Or(first, longer)",
        "return longer",
        "One repetition may be all.",
        SINCE,
    ),
    Fault(
        PREVIOUS,
        "return t.Number(scaled.numerator) if scaled.denominator == 1 else None",
        "return t.Number(scaled.numerator // scaled.denominator)",
        "A bound between two whole numbers is no whole number.",
        UNITS,
    ),
    Fault(
        SINGLE,
        "return not elsewhere and self._needed.isdisjoint(names | set(own))",
        "return not elsewhere",
        "A condition beside an iteration may need more than one of its events.",
        BESIDE,
    ),
    Fault(
        SINGLE,
        "return not elsewhere and self._needed.isdisjoint(names | set(own))",
        "return self._needed.isdisjoint(names | set(own))",
        "Inside of an iteration a variable means the events of a repetition alone.",
        BESIDE,
    ),
)
