"""Routes: which engine takes a query, what the others say, and that all that take it answer alike."""

import ast
import inspect
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import typer
from test_project import MODULES, nodes_of

import cer_gpu as cer
from cer_gpu import cli, spark
from cer_gpu.errors import QueryError
from cer_gpu.plan.lower import ENGINES, LOWERINGS

KEYED = "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v"
PLAIN = "SELECT * WHERE A ; B WITHIN 5 EVENTS"
CHAIN = "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v = b.v AND b.id = c.id"
COMPARED = "SELECT * WHERE (A AS a ; B AS b) FILTER a.v < b.v AND a.id != b.id"
RULE = "Q(x) <- A(v = x), B(v = x) WITHIN 9 EVENTS"


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        (PLAIN, ["regular", "general"]),
        (KEYED, ["regular", "chain", "general"]),
        (CHAIN, ["chain", "general"]),
        (COMPARED, ["general"]),
        (RULE, ["rule", "join", "general"]),
    ],
)
def test_explain_lists_what_every_route_said(text: str, takes: list[str]) -> None:
    lines = cer.compile(text).explain(verbose=True).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("routes"))
    said = dict(line[12:].split(": ", 1) for line in lines[begin : begin + len(LOWERINGS)])
    assert said.keys() == set(ENGINES) - {"auto"}
    assert [name for name in said if not said[name].startswith("no: ")] == takes
    assert said[takes[0]].startswith("takes it, and runs ")
    begin = next(number for number, line in enumerate(lines) if line.startswith("costs"))
    assert [line.split(":")[0].strip() for line in lines[begin + 1 :][: len(takes)]] == takes


QUERIES = [
    KEYED,
    "SELECT a WHERE A AS a ; B AS b FILTER a.id = b.id WITHIN 6 EVENTS",
    "SELECT * WHERE (A AS a ; (B AS b)+) FILTER a.v = b.v WITHIN 8 EVENTS",
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v = b.v AND b.v = c.v WITHIN 3 [ts]",
    "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v WITHIN 6 EVENTS CONSUME BY ANY",
    "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v LIMIT 2",
]


def dense(rng: Random, rows: int) -> pa.Table:
    """Events of three types, whose values are often equal; the time ties now and then."""
    drawn = [(rng.choice("ABC"), rng.randrange(3), rng.randrange(2), rng.randrange(2)) for _ in range(rows)]
    ts = [0] * rows
    for row in range(1, rows):
        ts[row] = ts[row - 1] + drawn[row][3]
    columns = {
        "type": [row[0] for row in drawn],
        "v": [row[1] for row in drawn],
        "id": [row[2] for row in drawn],
    }
    return pa.table({**columns, "ts": ts})


@pytest.mark.parametrize("text", QUERIES)
def test_engines_that_take_a_query_answer_alike(text: str) -> None:
    query, rng = cer.compile(text), Random(text)
    listed = 0
    for _ in range(12):
        table = dense(rng, rng.randrange(4, 30))
        options = {"order_by": "ts"}
        for engine in ("auto", "regular"):
            found = query.run(table, engine=engine, **options).to_arrow()
            assert found == query.run(table, engine="chain", **options).to_arrow()
        for ask in (query.count, query.counts, query.hits):
            assert ask(table, **options) == ask(table, engine="chain", **options)
        listed += len(found)
    assert listed > 10


def test_an_engine_that_does_not_take_the_query_says_why() -> None:
    events = dense(Random(1), 5)
    with pytest.raises(QueryError) as refused:
        cer.compile(PLAIN).run(events, engine="chain")
    assert str(refused.value) == (
        "error[CER091]: engine='chain' does not take this query: no filter compares two events\n"
        " --> query:1:1\n"
        "  |\n"
        "1 | SELECT * WHERE A ; B WITHIN 5 EVENTS\n"
        "  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  = help: leave engine out, or pass engine='regular' or 'general'"
    )
    with pytest.raises(QueryError, match="a rule has no pattern"):
        cer.compile(RULE).explain(engine="regular", verbose=True)
    with pytest.raises(ValueError, match="engine='fast': the engines are auto, regular, chain, ordered"):
        cer.compile(PLAIN).count(events, engine="fast")


# ------------------------------------------------------------------------------- one home for each kind

HOMES = {
    "StepPairMachine": ("plan.step_pairs", "plan.lower.apart", "machines.step_pairs"),
    "ThresholdMachine": ("plan.threshold_machine", "plan.lower.threshold", "machines.thresholds"),
    "AggregateThresholdMachine": (
        "plan.threshold_machine", "plan.lower.threshold", "machines.aggregate_thresholds",
    ),
    "AutomatonMachine": ("plan.automaton", "plan.lower.regular", "machines.automaton", "cuda.machines"),
    "ClockMachine": ("plan.clock", "plan.lower.clock", "machines.one_clock"),
    "ComparedMachine": (
        "plan.comparisons", "plan.lower.ordered", "machines.comparisons", "machines.compared_stream",
    ),
    # A chain that is compared apart is listed by its configurations; so is what FOLLOWED BY looks for.
    "GeneralMachine": (
        "plan.general", "plan.configuration_machine", "plan.outlook_patterns", "plan.lower.general",
        "plan.lower.apart", "plan.lower.threshold",
        "machines.general", "machines.configuration", "machines.dealt_configurations", "machines.register",
        "machines.pattern_outlook",
    ),
    "JoinMachine": ("plan.join_tables", "plan.lower", "machines.joins"),
    "ListedJoinMachine": ("plan.join_tables", "machines.listed_joins"),
    "StepMachine": ("plan.step_machine", "plan.lower.timed", "machines.steps", "machines.closed_sessions"),
    "MarkForm": ("plan.compiled_query", "plan.answer_form", "plan.marks", "plan.lower", "answers.form"),
    "TupleMachine": ("plan.tuples", "plan.lower", "engine.machines"),
    "TupleRunner": ("machines.tuples",),
    "ThresholdRunner": ("machines.thresholds",),
    "AggregateThresholdRunner": ("machines.aggregate_thresholds",),
    "TupleForm": ("plan.compiled_query", "plan.marks", "plan.lower", "answers.form", "answers.results"),
    "GroupedResults": ("answers.results",),
    "MarkResults": ("answers",),
    "TupleResults": ("answers",),
    "StepPairRunner": ("machines.step_pairs",),
    "AutomatonRunner": (
        "machines.automaton", "machines.single_runs", "machines.ungrouped_automaton", "cuda.machines",
        "machines.lane_registers",
    ),
    "LaneRegisterMachine": ("plan.automaton", "machines.lane_registers"),
    "LaneRegisterRunner": ("machines.lane_registers",),
    "SingleRunMachine": ("plan.automaton", "machines.single_runs"),
    "SingleRunRunner": ("machines.single_runs",),
    "ClockRunner": ("machines.one_clock",),
    "ComparedRunner": ("machines.comparisons", "cuda.machines.comparisons"),
    "GeneralRunner": ("machines.general",),
    "JoinRunner": ("machines.joins", "machines.listed_joins", "cuda.machines"),
    "ListedJoinRunner": ("machines.listed_joins",),
    "NeighbourRunner": ("machines.ungrouped_steps",),
    "UngroupedRunner": ("machines.ungrouped_automaton",),
    "SingleRunner": ("machines.single_event_steps", "machines.ungrouped_steps", "cuda.machines.steps"),
    "StepRunner": (
        "machines.steps", "machines.single_event_steps", "machines.ungrouped_steps", "cuda.machines.steps",
    ),
}  # fmt: skip
"""Where a kind of machine, of its runner or of its answers may be named: its own route, machine and form."""


def test_no_other_module_names_a_kind_of_machine() -> None:
    for name, path in MODULES:
        if not any(kind in path.read_text(encoding="utf-8") for kind in HOMES):
            continue
        imported = {
            alias.name for node in nodes_of(path) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        for kind in imported & HOMES.keys():
            assert any(home in name for home in HOMES[kind]), f"{name} imports {kind}"


EVERY_KIND = {
    "BuiltMachine", "CarryingRunner", "ConsumeRunner", "EndsRunner", "HostMachine", "LookingMachine",
    "Machine", "MachineRunner", "PairsRunner", "SummingRunner", "SuppressRunner", "UnitsRunner",
}  # fmt: skip
"""What all machines and runners are, or several share."""


def test_every_kind_of_machine_has_its_home() -> None:
    kinds = {
        node.name
        for name, path in MODULES
        if name.startswith(("cer_gpu.plan", "cer_gpu.engine"))
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(("Machine", "Runner"))
        and not node.name.startswith("_")
    }
    assert kinds - EVERY_KIND == {name for name in HOMES if name.endswith(("Machine", "Runner"))}


def test_no_engine_is_asked_for_by_its_name() -> None:
    """What an engine is called says a route alone: elsewhere no name of one is compared."""
    names = {lowering.name for lowering in LOWERINGS}
    engines = {"automaton", "joins", "tuples", "steps", "compared", "one_clock"} | names
    for name, path in MODULES:
        if "plan.lower" in name or name.startswith("cer_gpu.language"):
            continue
        nodes = list(nodes_of(path))
        imported = {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cer_gpu.plan.lower.")
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.Compare):
                sides = (node.left, *node.comparators)
                owners = [
                    one.value for one in sides if isinstance(one, ast.Attribute) and one.attr == "engine"
                ]
                if owners:
                    said = {one.value for one in sides if isinstance(one, ast.Constant)}
                    assert not said & engines, f"{name} line {node.lineno}"
                if any(not (isinstance(one, ast.Name) and one.id == "asked") for one in owners):
                    named = {one.id for side in sides for one in ast.walk(side) if isinstance(one, ast.Name)}
                    assert not named & imported, f"{name} line {node.lineno}"


# ------------------------------------------------------------------------------------ engine= on every call

QUERY_CALLS = ("run", "count", "counts", "hits", "stream", "explain", "funnel", "check", "portable")
COMMANDS = ("run", "count", "hits", "explain", "check", "backtest")
OPERATORS = (
    *("run", "count", "counts", "hits", "explain"),
    *("run_files", "count_files", "counts_files", "hits_files"),
)


@pytest.mark.parametrize("call", [*(getattr(cer.Query, name) for name in QUERY_CALLS), cer.backtest])
def test_every_call_takes_an_engine(call: Any) -> None:
    assert inspect.signature(call).parameters["engine"].default == "auto"


def test_a_stream_and_a_backtest_run_on_the_engine_that_is_asked_for() -> None:
    events = dense(Random(3), 12)
    for engine in ("chain", "fast"):
        with pytest.raises((QueryError, ValueError), match=f"engine='{engine}'"):
            cer.backtest(PLAIN, events, engine=engine)
        with pytest.raises((QueryError, ValueError), match=f"engine='{engine}'"):
            cer.compile(PLAIN).stream(engine=engine).push(events)
    query = cer.compile(QUERIES[0])
    wanted = [(one.start, one.end) for one in query.run(events, order_by="ts")]
    with query.stream(order_by="ts", engine="chain") as stream:
        assert [(one.start, one.end) for one in stream.push(events)] == wanted
    counted = cer.backtest(query, events, order_by="ts", engine="chain").to_arrow()
    assert counted.column("matches").to_pylist() == [query.count(events, order_by="ts")]


def test_a_check_says_what_the_engine_that_is_asked_for_does_not_take() -> None:
    events = dense(Random(3), 12)
    for given in (None, events):
        assert cer.compile(PLAIN).check(given) == ()
        (found,) = cer.compile(PLAIN).check(given, engine="chain")
        assert (found.code, found.severity) == ("CER091", "error")
        with pytest.raises(ValueError, match="engine='fast': the engines are"):
            cer.compile(PLAIN).check(given, engine="fast")
        with pytest.raises(TypeError, match="there is no keyword 'order'"):
            cer.compile(PLAIN).check(given, order="ts")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_an_engine(name: str) -> None:
    command = typer.main.get_command(cli.app).commands[name]  # type: ignore[attr-defined]
    assert "--engine" in {word for one in command.params for word in one.opts}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_on_spark_takes_an_engine(name: str) -> None:
    assert inspect.signature(getattr(spark, name)).parameters["engine"].default == "auto"


@pytest.mark.parametrize("text", [PLAIN, RULE, *QUERIES])
def test_explain_lists_what_every_route_says(text: str) -> None:
    said = cer.compile(text).explain(verbose=True)
    assert all(f"{lowering.name}: " in said for lowering in LOWERINGS)
    assert said.partition("routes")[2].split(": ", 1)[1].startswith("takes it, and runs ")
