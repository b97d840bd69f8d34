"""The tables of the parser are those of the grammar, and parse as lark does with it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from case_files import cases
from generate import any_query
from random_rules import random_rule

from cer_gpu.language import grammar
from cer_gpu.language.lalr import FILE, Parser, UnexpectedCharacterError, UnexpectedTokenError, tokens_of
from cer_gpu.language.parse_tree import Transformer, Tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.tokens import read_tokens

ROOT = Path(__file__).resolve().parent.parent

pytest.importorskip("lark")
LARK = grammar.parser()

QUERIES = [str(case["query"]) for case in cases() if "query" in case]
DRAWN = [to_text(any_query(Random(seed))) for seed in range(60)]
RULES = [to_text(random_rule(Random(seed))) for seed in range(60)]
WRONG = [
    "",
    "SELECT",
    "SELECT * WHERE A ;",
    "SELECT * WHERE (A",
    "Q(x) <- T(x,",
    "SELECT * WHERE A WITHIN 5 )",
    "1",
]


def test_the_tables_are_those_of_the_grammar() -> None:
    shipped = (grammar.HERE / FILE).read_text(encoding="utf-8")
    assert shipped == grammar.made(), "make them anew: python -m cer_gpu.language.grammar"


def ours(node: Any) -> Any:
    """A parse tree of ours as plain values."""
    if not isinstance(node, Tree):
        return node.type, str(node), node.start_pos, node.end_pos
    return node.data, node.meta, [ours(child) for child in node.children]


def larks(node: Any) -> Any:
    """A parse tree of lark's as the same plain values."""
    from lark import Token

    if isinstance(node, Token):
        return node.type, str(node), node.start_pos, node.end_pos
    meta = None if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
    return str(node.data), meta, [larks(child) for child in node.children]


def by_lark(text: str) -> tuple[Any, frozenset[str]]:
    """Lark's tree of a text's tokens, or None; and the terminals that may follow what could be read."""
    from lark import Token, UnexpectedToken

    found = read_tokens(text)
    start = "rule" if found.rule else "query"
    tokens = [
        Token(token.type, str(token), token.start_pos, 1, token.start_pos, 1, token.end_pos, token.end_pos)
        for token in found.tokens
    ]
    for fed in range(len(tokens), -1, -1):
        parser = LARK.parse_interactive("", start=start)
        try:
            for token in tokens[:fed]:
                parser.feed_token(token)
        except UnexpectedToken:
            continue
        expected = frozenset(parser.accepts())
        if fed == len(tokens) and "$END" in expected:
            return larks(parser.feed_eof()), expected
        return None, expected
    raise AssertionError("nothing can always be read")


@pytest.mark.parametrize("texts", [QUERIES, DRAWN, RULES, WRONG], ids=["cases", "queries", "rules", "wrong"])
def test_trees_and_what_may_follow_are_larks(texts: list[str]) -> None:
    assert texts
    for text in texts:
        tree, expected = by_lark(text)
        found = read_tokens(text)
        parser = Parser("rule" if found.rule else "query")
        try:
            for token in found.tokens:
                before = parser.expected()
                parser.feed(token)
            before = parser.expected()
            whole = ours(parser.finish())
        except UnexpectedTokenError:
            whole = None
        assert before == expected, text
        assert whole == tree, text


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A -- rest\n; `B ``x` [p >= 1.5e3] /* a */ 'it''s'",
        "a..b:+c<>d==e!=f<=g.",
        "A ? B",
        "'x",
    ],
)
def test_tokens_are_larks(text: str) -> None:
    from lark import UnexpectedCharacters

    found: list[Any] = []
    wanted: list[Any] = []
    try:
        found.extend(ours(token) for token in tokens_of(text))
    except UnexpectedCharacterError as error:
        found.append(error.at)
    interactive = LARK.parse_interactive(text, start="query")
    try:
        wanted.extend(larks(token) for token in interactive.lexer_thread.lex(interactive.parser_state))
    except UnexpectedCharacters as error:
        wanted.append(error.pos_in_stream)
    assert found == wanted


def test_a_tree_of_any_depth_is_transformed() -> None:
    class Depth(Transformer):
        def node(self, meta: Any, children: list[int]) -> int:
            return 1 + max(children, default=0)

    tree = Tree("node", [], None)
    for _ in range(20_000):
        tree = Tree("node", [tree, Tree("node", [], None)], None)
    assert Depth().transform(tree) == 20_001


class Planted:
    """Runs a command where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._mark),)


def test_nothing_is_read_or_kept_where_a_file_could_be_planted(tmp_path: Path) -> None:
    """Compiling a query reads the package alone, and needs no lark."""
    mark = tmp_path / "was here"
    for folder in (tmp_path / "cer-gpu", tmp_path / ".cache" / "cer-gpu"):
        folder.mkdir(parents=True)
        (folder / "grammar.tables").write_bytes(b"0" * 64 + b"\n" + pickle.dumps(Planted(mark)))
    before = sorted(tmp_path.rglob("*"))
    script = "import sys, cer_gpu; cer_gpu.compile('SELECT * WHERE A ; B'); print('lark' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
    assert sorted(tmp_path.rglob("*")) == before
