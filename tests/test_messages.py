"""Messages about what a caller gave are short, whatever it was: a table in place of a word, a long text."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.run.options import read_options
from cer_gpu.errors import CerError
from cer_gpu.printable_text import LONGEST, brief, names_text

ROOT = Path(__file__).parents[1]
LONG = "x" * 20_000
TABLE = pa.table({f"column {number}": np.arange(50) for number in range(300)})

HUGE: dict[str, Any] = {
    "a table": TABLE,
    "a text": LONG,
    "a list": list(range(20_000)),
    "a nested list": [[LONG] * 30] * 30,
    "a dict": dict.fromkeys(range(1000), LONG),
    "an array": np.arange(100_000),
    "a number": 10**50_000,
    "an object": object(),
}

EVENTS = pa.table({"type": ["A", "B", "A"], "ts": [1, 2, 3], "v": [1.0, 2.0, 3.0], "k": ["a", "b", "a"]})
TEXT = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[v > $p] PARTITION BY k WITHIN 5 EVENTS"
MOST = 2500
"""Characters of a message: a few sentences, and lists of names."""


def message(call: Callable[[], Any]) -> str:
    """What a call ends with; empty if it does not end with an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except (CerError, TypeError, ValueError, AttributeError, KeyError) as error:
            return str(error)
    return ""


@pytest.mark.parametrize("what", HUGE)
def test_a_value_is_told_in_few_words(what: str) -> None:
    for value in (
        HUGE[what],
        [HUGE[what]],
        (HUGE[what],),
        {"a": HUGE[what]},
        {HUGE[what]} if what == "a text" else 1,
    ):
        assert len(brief(value)) <= LONGEST
        assert "\n" not in brief(value)
    assert brief("it's") == repr("it's")
    assert brief(TABLE) == "an object of type Table"
    assert brief([1, None, 2.5, "a"]) == "[1, None, 2.5, 'a']"
    assert brief(np.float64(2.5)) == repr(np.float64(2.5))
    assert brief(dict) == "the class dict"
    assert brief(list(range(99))) == "[0, 1, 2, 3, 4, 5, ... (99 in all)]"
    assert len(names_text([LONG] * 1000)) < 15 * LONGEST


@pytest.mark.parametrize("what", HUGE)
def test_no_keyword_puts_a_long_value_into_a_message(what: str) -> None:
    query, value = cer.compile(TEXT, {"p": 0.5}), HUGE[what]
    told: dict[str, str] = {}
    for name in inspect.signature(read_options).parameters:
        given = {"order_by": "ts"} | {name: value}
        for method in ("run", "count", "counts", "hits", "explain", "check", "stream", "funnel"):
            function = getattr(query, method)
            taken = () if method in ("explain", "stream") else (EVENTS,)
            more = {"events": EVENTS} if method == "explain" else {}
            told[f"{method} {name}"] = message(lambda: function(*taken, **more, **given))  # noqa: B023
        told[f"backtest {name}"] = message(lambda: cer.backtest({"q": query}, EVENTS, **given))  # noqa: B023
    told["params"] = message(lambda: query.count(EVENTS, params={"p": value}))
    told["param"] = message(lambda: query.count(EVENTS, params={"p": 1, str(value)[:5000]: 1}))
    told["unknown"] = message(lambda: query.count(EVENTS, **{str(value)[:5000]: 1}))
    told["events"] = message(lambda: query.count(value))
    told["in a dict"] = message(lambda: query.count({"A": value}, order_by="ts"))
    told["format"] = message(lambda: query.explain(value))
    told["head"] = message(lambda: query.run(EVENTS).head(value))
    told["compile"] = message(lambda: cer.compile(value))
    told["device"] = message(lambda: query.count(EVENTS, device=value))
    for name in ("by", "outcomes", "split", "funnel", "resume"):
        if name in inspect.signature(cer.backtest).parameters:
            given = {name: value, "order_by": "ts"}
            told[f"backtest {name}"] = message(lambda: cer.backtest({"q": query}, EVENTS, **given))  # noqa: B023
    told["queries"] = message(lambda: cer.backtest(value, EVENTS))
    told["query"] = message(lambda: cer.backtest({"q": value}, EVENTS))
    told["outcome"] = message(
        lambda: cer.backtest({"q": query}, EVENTS, order_by="ts", outcomes={"o": value})
    )
    long = {name: len(text) for name, text in told.items() if len(text) > MOST}
    assert not long, "\n".join(f"{name}: {told[name][:150]} ... {told[name][-150:]}" for name in long)
    assert told["format"].startswith(("the first argument of explain is format", 'format is "text"'))
    assert sum(map(bool, told.values())) > 20


def test_explain_of_a_table_says_how_it_is_meant() -> None:
    with pytest.raises(
        ValueError, match=r"not an object of type Table: pass the events by name, as in explain\(events"
    ):
        cer.compile("SELECT * WHERE A").explain(EVENTS)


def test_a_backtest_names_its_own_short_errors() -> None:
    with pytest.raises(ValueError, match=r"by=\['a', 'a'\] names 'a' twice"):
        cer.backtest({"q": TEXT}, EVENTS, by=["a", "a"], params={"p": 1}, order_by="ts")


INTERNAL = {
    "frozen_dataclass.py": "names of fields, and a repr",
    "helper_pool.py": "a script",
    "fault.py": "what a check has written",
    "memory.py": "a name of a column that exists",
    "explain.py": "a name of a column that exists",
    "construct.py": "names in a query that was parsed",
    "axes.py": "a name in a query that was parsed",
    "derive.py": "a node of a tree",
    "constants.py": "a node of a tree",
    "leaves.py": "a node of a tree",
    "paths.py": "an address that was read as one",
    "run.py": "a key that is kept with results",
    "__init__.py": "a name in the program",
}


def test_only_values_of_the_package_itself_are_written_out() -> None:
    found = []
    for folder in ("cer_gpu", "spark_plugin"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "reference" in path.parts or path.name in INTERNAL:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            shown = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and node.name == "__repr__"
            ]
            own = {id(part) for function in shown for part in ast.walk(function)}
            found += [
                f"{path.relative_to(ROOT)}:{node.lineno}"
                for node in ast.walk(tree)
                if isinstance(node, ast.FormattedValue)
                and node.conversion == ord("r")
                and id(node) not in own
            ]
    assert not found, f"{found}: write values of callers with cer_gpu.printable_text.brief"
