"""Makes the tables of the parser of the grammar: `python -m cer_gpu.language.grammar`, once it has changed.

This needs lark, which the package itself does without.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cer_gpu.language.lalr import FILE

HERE = Path(__file__).parent
GRAMMAR = HERE / "grammar.lark"
STARTS = ["query", "rule"]


def parser() -> Any:
    """Lark's own parser of the language."""
    from lark import Lark

    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        start=STARTS,
        parser="lalr",
        lexer="basic",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def made() -> str:
    """The tables as text, one line for each state and rule, so that a change of the grammar can be read."""
    from lark.lexer import BasicLexer
    from lark.parsers.lalr_analysis import Shift

    lark = parser()
    lexer = BasicLexer(lark.lexer_conf)
    assert not getattr(lexer, "callback", None), "no terminal is a special case of another"
    table = lark.parser.parser._parse_table
    number = {rule: place for place, rule in enumerate(lark.rules)}
    state = _numbered(table)
    actions: list[dict[str, int]] = []
    following: list[dict[str, int]] = []
    for name in state:
        row = table.states[name]
        at_terminal, at_other = {}, {}
        for symbol, (action, argument) in sorted(row.items()):
            if not symbol.isupper():
                at_other[symbol] = state[argument]
            elif action is Shift:
                at_terminal[symbol] = state[argument]
            else:
                at_terminal[symbol] = -1 - number[argument]
        actions.append(at_terminal)
        following.append(at_other)
    tables: dict[str, Any] = {
        "terminals": [[one.name, one.pattern.to_regexp()] for one in lexer.terminals],
        "ignored": sorted(lark.lexer_conf.ignore),
        "rules": [_rule(rule) for rule in lark.rules],
        "start": {name: state[table.start_states[name]] for name in STARTS},
        "end": {name: state[table.end_states[name]] for name in STARTS},
        "actions": actions,
        "following": following,
    }
    parts = []
    for name, value in tables.items():
        rows = [json.dumps(row) for row in value] if isinstance(value, list) else None
        text = json.dumps(value) if rows is None else "[\n" + ",\n".join(rows) + "\n]"
        parts.append(f"{json.dumps(name)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def _numbered(table: Any) -> dict[Any, int]:
    """The states in the order in which they are met from the first: Lark's own order is not fixed."""
    found = {table.start_states[start]: number for number, start in enumerate(STARTS)}
    order = list(found)
    for name in order:
        for _, (_, argument) in sorted(table.states[name].items()):
            if argument in table.states and argument not in found:
                found[argument] = len(order)
                order.append(argument)
    return found


def _rule(rule: Any) -> list[Any]:
    kept = []
    for place, symbol in enumerate(rule.expansion):
        if symbol.is_term:
            if not symbol.filter_out:
                kept.append(place)
        else:
            kept.append(-1 - place if symbol.name.startswith("_") else place)
    single = rule.options.expand1 and not rule.alias
    return [rule.origin.name, rule.alias or rule.origin.name, len(rule.expansion), kept, single]


if __name__ == "__main__":
    (HERE / FILE).write_text(made(), encoding="utf-8")
