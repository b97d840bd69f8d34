"""Seeded random hierarchical rules and streams for them, shared by the tests.

The streams have the columns of `generate.stream_to_table`, with few values, so that much joins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from cer_gpu.language import tree as t
from cer_gpu.reference.events import Event, Instant, Value

TYPES = ("A", "B", "C")
ATTRIBUTES = {"int": ("id", "v", "lap"), "float": ("p",), "string": ("s",)}
VALUES: dict[str, tuple[Value, ...]] = {"int": (0, 1, 1), "float": (0.0, -0.0, 0.5), "string": ("alpha", "")}
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Draft:
    """Atoms that are still given terms."""

    def __init__(self, rng: Random, types: Sequence[str]) -> None:
        self.rng = rng
        self.types = types
        self.terms: list[dict[str, t.Term]] = [{} for _ in types]
        self.kinds: dict[str, str] = {}

    def free(self, atom: int, kind: str) -> list[str]:
        """The attributes of an atom that have no term yet."""
        return [name for name in ATTRIBUTES[kind] if name not in self.terms[atom]]

    def put(self, atom: int, term: t.Term, kind: str) -> None:
        """Give one free attribute of an atom a term."""
        self.terms[atom][self.rng.choice(self.free(atom, kind))] = term

    def variable(self, atoms: Sequence[int]) -> None:
        """Give all of some atoms a new variable, where they have room for it."""
        kind = self.rng.choice(("int", "int", "int", "float", "string"))
        if all(self.free(atom, kind) for atom in atoms):
            name = f"x{len(self.kinds)}"
            self.kinds[name] = kind
            for atom in atoms:
                self.put(atom, t.RuleVariable(name), kind)

    def grow(self, atoms: list[int]) -> None:
        """Variables for all of some atoms, then for the parts of a partition of them."""
        for _ in range(self.rng.choice((0, 1, 1, 1, 2))):
            self.variable(atoms)
        if len(atoms) > 1:
            parts: list[list[int]] = [[] for _ in range(self.rng.randrange(2, len(atoms) + 1))]
            for atom in atoms:
                self.rng.choice(parts).append(atom)
            for part in parts:
                if part and part != atoms:
                    self.grow(part)

    def details(self) -> None:
        """Repeat variables inside an atom, and put constants."""
        for atom, terms in enumerate(self.terms):
            names = [term.name for term in terms.values() if isinstance(term, t.RuleVariable)]
            if names and self.rng.random() < 0.15:
                name = self.rng.choice(names)
                if self.free(atom, self.kinds[name]):
                    self.put(atom, t.RuleVariable(name), self.kinds[name])
            kind = self.rng.choice(tuple(ATTRIBUTES))
            if self.free(atom, kind) and self.rng.random() < 0.2:
                self.put(atom, constant(self.rng, kind), kind)

    def comparison(self) -> t.Comparison | None:
        """A comparison of variables that one atom has, or of one with a constant."""
        names = [
            term.name
            for term in self.rng.choice(self.terms).values()
            if isinstance(term, t.RuleVariable) and self.kinds[term.name] == "int"
        ]
        if not names:
            return None
        left: t.Expression = t.Attribute(self.rng.choice(names))
        if self.rng.random() < 0.3:
            left = t.Arithmetic("+", left, t.Number(1))
        right = t.Attribute(self.rng.choice(names)) if self.rng.random() < 0.4 else constant(self.rng, "int")
        return t.Comparison(self.rng.choice(COMPARISONS), left, right)


def constant(rng: Random, kind: str) -> t.Number | t.Text:
    """A literal among the values of a kind."""
    value = rng.choice(VALUES[kind])
    return t.Text(value) if isinstance(value, str) else t.Number(abs(value))


def random_rule(rng: Random) -> t.Rule:
    """A hierarchical rule by name: self-joins, constants, repeated variables, comparisons that are local to
    an atom, windows of every kind; connected or not.
    """
    types = [rng.choice(TYPES[: rng.randrange(1, 4)]) for _ in range(rng.choice((1, 2, 2, 3, 3, 4)))]
    draft = Draft(rng, types)
    draft.grow(list(range(len(types))))
    draft.details()
    comparisons = [draft.comparison() for _ in range(rng.choice((0, 0, 0, 1, 2)))]
    atoms = tuple(
        t.RuleAtom(t.EventType(name), tuple(terms.values()), tuple(terms))
        for name, terms in zip(types, draft.terms)
    )
    return t.Rule(
        "Q",
        tuple(t.RuleVariable(name) for name in draft.kinds if rng.random() < 0.7),
        atoms,
        tuple(one for one in comparisons if one is not None),
        window=_window(rng),
    )


def _window(rng: Random) -> t.Window | None:
    match rng.randrange(6):
        case 0 | 1:
            return t.Window(rng.randrange(8), "events")
        case 2:
            return t.Window(rng.randrange(4), "time", "s")
        case 3:
            return t.Window(rng.randrange(3), "attribute", attribute="lap")
        case _:
            return None


def random_rule_events(rng: Random, rule: t.Rule, n: int) -> list[Event]:
    """A stream of `n` events of the types of a rule and now and then of another, with nulls and NaN."""
    types = [atom.type.name for atom in rule.atoms]
    events, now, lap = [], 0, 0
    for _ in range(n):
        now += rng.choice((0, 250, 500, 1000))
        lap += rng.random() < 0.3
        values: dict[str, Value] = {
            name: rng.choice(VALUES[kind]) for kind, names in ATTRIBUTES.items() for name in names
        }
        values["lap"] = lap
        if rng.random() < 0.1:
            values["p"] = math.nan
        for name in list(values):
            if rng.random() < 0.05:
                values[name] = None
        chosen = rng.choice(types) if rng.random() < 0.9 else rng.choice(TYPES)
        events.append(Event(chosen, {**values, "ts": Instant(now, "ms")}))
    return events


def random_join(rng: Random) -> t.Rule:
    """A rule of any form: variables shared by any atoms, comparisons between any; else as `random_rule`."""
    types = [rng.choice(TYPES[: rng.randrange(1, 4)]) for _ in range(rng.choice((2, 2, 2, 3, 3, 4)))]
    draft = Draft(rng, types)
    for _ in range(rng.choice((0, 1, 2, 3, 4))):
        draft.variable(rng.sample(range(len(types)), rng.choice((1, 2, min(3, len(types))))))
    for atom in range(len(types)):
        if rng.random() < 0.7:
            draft.variable([atom])
    draft.details()
    comparisons = [_between(rng, draft) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    atoms = tuple(
        t.RuleAtom(t.EventType(name), tuple(terms.values()), tuple(terms))
        for name, terms in zip(types, draft.terms)
    )
    head = tuple(t.RuleVariable(name) for name in draft.kinds if rng.random() < 0.7)
    made = tuple(one for one in comparisons if one is not None)
    return t.Rule("Q", head, atoms, made, window=_window(rng))


def _between(rng: Random, draft: Draft) -> t.Comparison | None:
    """A comparison between some variables of a rule: of one each side, or of several."""
    texts = [name for name, kind in draft.kinds.items() if kind == "string"]
    numbers = [name for name, kind in draft.kinds.items() if kind != "string"]
    if len(texts) > 1 and rng.random() < 0.2:
        one, other = rng.sample(texts, 2)
        return t.Comparison(rng.choice(COMPARISONS), t.Attribute(one), t.Attribute(other))
    if len(numbers) < 2:
        return draft.comparison()
    one, other = rng.sample(numbers, 2)
    left: t.Expression = t.Attribute(one)
    right: t.Expression = t.Attribute(other)
    if rng.random() < 0.4:
        right = t.Arithmetic(rng.choice("+-*/%"), right, t.Number(rng.choice((1, 2, 0.5))))
    if rng.random() < 0.2:
        left = t.Arithmetic(rng.choice("+-*/"), left, t.Attribute(rng.choice(numbers)))
    if rng.random() < 0.2:
        right = t.Arithmetic(rng.choice("+-*"), right, t.Attribute(rng.choice(numbers)))
    return t.Comparison(rng.choice(COMPARISONS), left, right)
