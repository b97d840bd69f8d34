"""Which columns of floats decide an answer by their NaN: `nan_dependence`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.walk import walk


class NanDependence(NamedTuple):
    """The columns whose NaN decide an answer, each with what it is that they decide.

    Attributes
    ----------
    missing : dict of str to str
        Where a NaN and a missing value give different answers: `price` in `price IS NULL`.
    compared : dict of str to str
        Where a comparison with a NaN is false that somebody may take for true: `price` in `price != 5`.
    """

    missing: dict[str, str]
    compared: dict[str, str]


def nan_dependence(statement: t.Statement) -> NanDependence:
    """The columns whose NaN, if they hold floats, decide the answer of a statement."""
    missing: dict[str, str] = {}
    compared: dict[str, str] = {}
    for node in walk(statement):
        match node:
            case t.IsNull(operand=operand):
                _add(missing, operand, "IS NULL")
            case t.Call(function="COALESCE" | "GREATEST" | "LEAST" as name, arguments=arguments):
                _add(missing, arguments, name)
            case t.SelectQuery(partition=partition):
                for part in partition:
                    missing |= dict.fromkeys(part, "PARTITION BY")
            case t.Comparison(op="!="):
                _add(compared, node, "!=")
            case t.Not(operand=operand):
                _add(compared, operand, "NOT")
    return NanDependence(missing, compared)


def _add(found: dict[str, str], node: Any, what: str) -> None:
    for name in _columns(node):
        found.setdefault(name, what)


def _columns(node: Any) -> Iterator[str]:
    """The columns in a part of a statement, each of PREV(a) too."""
    return (part.name for part in walk(node) if isinstance(part, t.Attribute))
