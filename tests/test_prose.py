"""The words that people read: no page, public docstring or message uses a word that is out.

A word of the inside (lane, atom, machine) stands for a thing that a user knows by another name; the other
words are no plain English. Each has the word to write in its place.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages
import pytest

import cer_gpu as cer
from cer_gpu import spark
from cer_gpu.backtesting.plots import Plots
from cer_gpu.engine.run.stream import Stream
from cer_gpu.errors import CerError
from cer_gpu.views import ViewAnswers

ROOT = Path(__file__).resolve().parent.parent

INSTEAD = {
    r"lanes?": "partition",
    r"atoms?": "part of a rule, or the event type",
    r"machines?": "engine; host, or computer, for hardware",
    r"one[- ]clock": "a pattern with bounds of time",
    r"(open|dead|partial|rising|longest|whole) runs?": "partial match; streak",
    r"runs? of (neighbours|events|rises|an automaton|steps)": "partial match; streak",
    r"(relevant|neutral) symbols?|symbols? of (an|the) automat\w+": "kind of event",
    r"complex events?": "match",
    r"besides?": "and; together with; in addition to",
    r"by the clock": "wall time",
    r"dearer": "more expensive",
    r"in the middle": "median",
    r"where to (read|go) on": "documentation; next steps",
    r"afresh|anew": "again",
    r"crosswise": "in reverse",
    r"belongs? into": "is for; stands in",
    r"once only": "only once",
    r"by way of": "through; with",
    r"behind the (point|pattern)": "after",
    r"(goes?|going) on (from|with|behind)": "continue",
    r"more easily|in other words|namely|thereby|hereby|thereof|whereof": "leave it out",
    r"put aside|lies apart|stands apart": "separate",
}
"""What is out, as regular expressions over words, and what to write in its place."""

OUT = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)

INSIDE = ("contributing", "explanation")
"""Folders of pages that explain what is inside, with its words."""

MEANT = {
    ("README.md", "complex event"): "the word of the literature, said once",
    ("docs/index.md", "complex event"): "the same",
    ("docs/COOKBOOK.md", "machines"): "machines that go down and come up",
    ("docs/COOKBOOK.md", "machine"): "the same",
    ("docs/language/aggregates.md", "machine"): "a column of the example",
    ("cer_gpu/language/near_names.py", "machine"): "a name that columns of hosts have",
    ("CHANGELOG.md", "complex event"): "the word that was replaced",
}
"""Where a word is not the one that is out: page or module, and word, with the reason."""

MACHINES = (
    r"this machine|executors' machines|machines with a GPU|the machines where|other machines|machine code"
)
"""Computers, which messages call machines as their users do."""

VERBOSE = (
    "cer_gpu/automata",  # what is built inside; its errors are those of `plan`
    "cer_gpu/plan/lower",  # descriptions, which `explain(verbose=True)` prints
    "cer_gpu/plan/planning/explain.py",
    "cer_gpu/plan/phrases.py",
    "cer_gpu/plan/planning/timed_lines.py",
    "cer_gpu/reference",
)
"""Files whose texts are about the inside. What of them `explain` says without `verbose` is tested below."""


def out_of(text: str, page: str = "") -> list[str]:
    """The words of a text that are out."""
    found = [one[0] for one in OUT.finditer(re.sub(MACHINES, "", " ".join(text.split())))]
    return [word for word in found if (page, word.lower()) not in MEANT]


def prose(path: Path) -> str:
    """The sentences of a page: without code, names and targets of links."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|<code>.*?</code>", "", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "", text))


PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(pages.DOCS.rglob("*.md"))]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name not in INSIDE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_no_page_uses_a_word_that_is_out(page: Path) -> None:
    assert out_of(prose(page), str(page.relative_to(ROOT))) == []


def docstrings() -> Iterator[tuple[str, str]]:
    """The public names with their docstrings."""
    yield "cer_gpu", cer.__doc__ or ""
    public = {name: getattr(cer, name) for name in cer.__all__}
    public |= {f"spark.{name}": getattr(spark, name) for name in spark.__all__}
    for name, one in {**public, "Stream": Stream, "Plots": Plots, "ViewAnswers": ViewAnswers}.items():
        yield name, inspect.getdoc(one) or ""
        for member, value in vars(one).items() if inspect.isclass(one) else ():
            if not member.startswith("_") and isinstance(getattr(value, "__doc__", None), str):
                yield f"{name}.{member}", value.__doc__


def test_no_public_docstring_uses_a_word_that_is_out() -> None:
    found = {name: words for name, text in docstrings() if (words := out_of(text)) != []}
    assert found.pop("cer_gpu", []) == ["complex event"]  # the literature's word, said once
    assert found == {}


def test_the_help_of_the_shell_uses_no_word_that_is_out() -> None:
    from typer.main import get_command

    from cer_gpu.cli import app

    shell = get_command(app)
    texts = {name: one.help or "" for name, one in shell.commands.items()}  # type: ignore[attr-defined]
    assert len(texts) >= 10
    assert {name: out_of(text) for name, text in texts.items() if out_of(text)} == {}


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, with their lines; what is filled in is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            parts.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts |= {id(one) for one in node.values}
            written = [one.value if isinstance(one, ast.Constant) else "..." for one in node.values]
            yield node.lineno, "".join(map(str, written))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def test_no_message_uses_a_word_that_is_out() -> None:
    found = [
        (str(path.relative_to(ROOT)), line, out_of(text, str(path.relative_to(ROOT))))
        for folder in ("cer_gpu", "spark_plugin")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(VERBOSE)
        for line, text in messages(path)
        if " " in text and out_of(text, str(path.relative_to(ROOT))) and not text.startswith(" int, file")
    ]
    assert found == []


QUERIES = [
    json.loads(line)["query"]
    for path in sorted((ROOT / "tests" / "cases").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
] + [
    "Q(x, y) <- T(x), S(x, y), R(x, y) WITHIN 100 EVENTS",
    "Q(x) <- T(x, p), S(x, q), p < q WITHIN 100 EVENTS",
    "Q(a) <- R(a, b), S(b, c), T(c, a)",
    "SELECT * WHERE A ;[<= 5 s] B ;[<= 5 s] C WITHIN 9 s",
    "SELECT * WHERE (A ; B) WITHIN [<= 5 s] ; C",
    "SELECT * WHERE (A AS a)+ FILTER COUNT(DISTINCT a.p) >= 5 WITHIN 9 s",
    "SELECT * WHERE A ; B WITHIN 9 [x] CONSUME BY ANY SUPPRESS FOR 1 h LIMIT 3",
    "SELECT MAX * WHERE A+ ; B NOT FOLLOWED BY [<= 5 s] C PARTITION BY k",
]
"""Queries of every engine."""


def explained(query: str, **keywords: Any) -> str:
    """What `explain` says of a query; empty where the query is refused."""
    try:
        return cer.compile(query).explain(**keywords)
    except CerError:
        return ""


def test_explain_says_no_word_of_the_inside_unless_it_is_asked() -> None:
    words = r"\b(automat\w+|configurations?|nodes?|registers?|symbols?)\b"
    inside = re.compile(f"{OUT.pattern}|{words}", re.IGNORECASE)
    for query in QUERIES:
        lines = [line for line in explained(query).splitlines() if not line.startswith(("pattern", "reads"))]
        assert [line for line in lines if inside.search(re.sub(r"`[^`]*`", "", line))] == [], query
    assert len(QUERIES) > 300
    verbose = explained("SELECT * WHERE A AS a ; B AS b WITHIN 9 EVENTS", verbose=True)
    assert all(word in verbose for word in ("automaton", "lane", "symbols", "costs"))
