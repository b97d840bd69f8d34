"""The rule of a view: atoms, comparisons and a head, with equal variables merged. `body_of` makes it.

`Q(a, d) <- R(a, b), S(b, 3, c), T(d), a = c, b < d` has the atoms `R(a, b)` and `S(b, a)`, the second with
the test that its second attribute is 3, `T(d)`, and the comparison `b < d`. A variable of one atom that
neither the head nor a comparison reads is left out: the rows are summed over it at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cer_gpu.engine.views.terms import refused
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import variables_of
from cer_gpu.joins.theta.gcq import GCQ, RelationalAtom, Theta
from cer_gpu.joins.theta.reduction import decide
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import with_attributes
from cer_gpu.printable_text import names_text


@dataclass(frozen=True, slots=True)
class AtomColumns:
    """How an atom reads its relation.

    Attributes
    ----------
    relation : str
    attributes : mapping of str to str
        The attribute of each variable, including the variables that only `tests` read.
    variables : tuple of str
        The variables that the view keeps.
    tests : tuple of Comparison
        The conditions, over the variables, of the rows that are read.
    """

    relation: str
    attributes: Mapping[str, str]
    variables: tuple[str, ...]
    tests: tuple[t.Comparison, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """The rule of a view.

    Attributes
    ----------
    readings : tuple of AtomColumns
    comparisons : tuple of Comparison
        The comparisons that involve several atoms.
    strict : frozenset of str
        Variables that are joined or compared: a row without a value for one of them is in no answer.
    head : tuple of (str, str)
        The name of each column of an answer, and its variable.
    aggregates : tuple of Aggregate
    """

    readings: tuple[AtomColumns, ...]
    comparisons: tuple[t.Comparison, ...]
    strict: frozenset[str]
    head: tuple[tuple[str, str], ...]
    aggregates: tuple[t.Aggregate, ...]

    @property
    def output(self) -> frozenset[str]:
        """The variables that answers need: those of the head and of the aggregates."""
        summed = (variables_of(one.argument) for one in self.aggregates if one.argument is not None)
        return frozenset(name for _, name in self.head).union(*summed)

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The aggregates, by number, that are folded from the same answers; one without aggregates.

        Aggregates over variables of one atom are. `SUM(v), MAX(w)` over R(k, v) and S(k, w) are not: for a
        key with m values v and n values w there are m * n answers over both, and m + n over one or the other.
        """
        head = {variable for _, variable in self.head}
        found: list[tuple[frozenset[str], list[int]]] = []
        for number, one in enumerate(self.aggregates):
            own = frozenset() if one.argument is None else frozenset(variables_of(one.argument)) - head
            for place, (names, members) in enumerate(found):
                both = names | own
                if not names or both == names or any(both.issubset(r.variables) for r in self.readings):
                    members.append(number)
                    found[place] = both, members
                    break
            else:
                found.append((own, [number]))
        if len(found) > 1 and not decide(self.query).acyclic:
            # The bags of joined rows are kept once.
            return (tuple(range(len(self.aggregates))),)
        return tuple(tuple(members) for _, members in found) or ((),)

    def output_of(self, part: Collection[int]) -> frozenset[str]:
        """The variables that some aggregates need, and those of the head."""
        some = [self.aggregates[number].argument for number in part]
        summed = (variables_of(one) for one in some if one is not None)
        return frozenset(name for _, name in self.head).union(*summed)

    @property
    def queries(self) -> tuple[GCQ, ...]:
        """The query of each part."""
        return tuple(replace(self.query, output=self.output_of(part)) for part in self.parts)

    @property
    def query(self) -> GCQ:
        """The generalized conjunctive query, with the variables of all parts."""
        atoms = tuple(RelationalAtom(n, one.relation, one.variables) for n, one in enumerate(self.readings))
        thetas = dict.fromkeys(Theta(to_text(one), variables_of(one)) for one in self.comparisons)
        return GCQ(atoms, tuple(thetas), self.output)


def body_of(rule: t.Rule, apart: Collection[str] = ()) -> Body:
    """The atoms, comparisons and head of a rule.

    Parameters
    ----------
    rule : Rule
        All atoms name their attributes.
    apart : collection of str
        Variables that `=` does not merge with others, because their values are of other types.
    """
    one = _made_one(rule.comparisons, apart)

    def renamed(expression: t.Expression) -> t.Expression:
        found: t.Expression = with_attributes(expression, lambda a: replace(a, name=one.get(a.name, a.name)))
        return found

    comparisons = []
    for comparison in rule.comparisons:
        left, right = renamed(comparison.left), renamed(comparison.right)
        if comparison.op != "=" or left != right or isinstance(left, t.Arithmetic | t.Negation):
            comparisons.append(replace(comparison, left=left, right=right))
    head = tuple((v.name, one.get(v.name, v.name)) for v in rule.head)
    aggregates = tuple(
        replace(a, argument=None if a.argument is None else renamed(a.argument)) for a in rule.aggregates
    )
    equal = frozenset(one.values())
    drafts = [_draft(number, atom, one) for number, atom in enumerate(rule.atoms)]
    across, tests = [], [list(found) for _, found in drafts]
    for comparison in comparisons:
        needed = variables_of(comparison)
        owners = [n for n, (attributes, _) in enumerate(drafts) if needed <= attributes.keys()]
        for owner in owners:
            tests[owner].append(comparison)
        if not owners:
            across.append(comparison)
    counts = Counter(name for attributes, _ in drafts for name in attributes)
    joined = {name for name, count in counts.items() if count > 1}
    strict = frozenset(joined | equal).union(*(variables_of(one) for one in across))
    kept = strict | {name for _, name in head}
    kept = kept.union(*(variables_of(a.argument) for a in aggregates if a.argument is not None))
    readings = tuple(
        AtomColumns(
            atom.type.name,
            attributes,
            tuple(name for name in attributes if name in kept),
            tuple(tests[number]),
        )
        for number, (atom, (attributes, _)) in enumerate(zip(rule.atoms, drafts))
    )
    return Body(readings, tuple(across), strict, head, aggregates)


def positioned(rule: t.Rule, columns: Mapping[str, Sequence[str]], text: str = "") -> t.Rule:
    """The rule with names for attributes that are given by position: the columns, or `$1`, `$2`, ..."""
    atoms = []
    for atom in rule.atoms:
        if atom.names is None:
            names = columns.get(atom.type.name) or [f"${n}" for n in range(1, len(atom.terms) + 1)]
            if len(names) != len(atom.terms):
                raise refused(
                    f"the table of {atom.type.name} has {len(names)} columns ({names_text(names)}), and "
                    f"`{atom.type.name}(...)` has {len(atom.terms)} terms here",
                    atom,
                    text,
                    "name the attributes that matter: `R(a = x)`",
                )
            atom = replace(atom, names=tuple(names))
        atoms.append(atom)
    return replace(rule, atoms=tuple(atoms))


def _made_one(comparisons: Iterable[t.Comparison], apart: Collection[str]) -> dict[str, str]:
    """For each variable that `=` makes one with others, the first of them."""
    first: dict[str, str] = {}
    for comparison in comparisons:
        left, right = comparison.left, comparison.right
        if comparison.op != "=" or not isinstance(left, t.Attribute) or not isinstance(right, t.Attribute):
            continue
        if left.name in apart or right.name in apart:
            continue
        one = first.setdefault(left.name, left.name)
        other = first.setdefault(right.name, right.name)
        for name, chosen in first.items():
            if chosen == other:
                first[name] = one
    return first


def _draft(
    number: int, atom: t.RuleAtom, one: Mapping[str, str]
) -> tuple[dict[str, str], list[t.Comparison]]:
    """The attribute of each variable of an atom, and the tests for its constants and repeated variables."""
    attributes: dict[str, str] = {}
    tests = []
    for attribute, term in zip(atom.names or (), atom.terms):
        if isinstance(term, t.RuleVariable):
            name = one.get(term.name, term.name)
            if name not in attributes:
                attributes[name] = attribute
                continue
            equal: t.Expression = t.Attribute(name)
        else:
            equal = term
        hidden = f"{attribute} of part {number}"
        attributes[hidden] = attribute
        tests.append(t.Comparison("=", t.Attribute(hidden), equal, span=atom.span))
    return attributes, tests
