"""Plans how a rule of any form is answered: from the latest event of an answer to one atom after another.

`Q(x) <- R(x, y), S(y, z), T(z, x), x < 5 * z` is cyclic. An answer that ends at an event of R is found by
looking up the S with its y, and then the T with the z of that S and its x. Every atom in turn has the latest
event; where one event serves several atoms, the first of them counts as the one that has it, so that no
answer is found twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import Atom, ConjunctiveQuery, variables_of
from cer_gpu.language import tree as t
from cer_gpu.language.walk import with_attributes


@dataclass(frozen=True, slots=True)
class JoinVariable:
    """A variable that several atoms have.

    Attributes
    ----------
    name : str
    attribute_of : mapping of int to str
        For each atom that has it the attribute where it stands.
    """

    name: str
    attribute_of: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class AtomComparison:
    """A comparison of two sides, of which each reads the event of one atom.

    Attributes
    ----------
    op : str
    atoms : tuple of int
        The atom of the left side and that of the right side, which are different.
    sides : tuple of Expression
        Over the attributes of these events.
    source : Comparison
        As it is written, over variables.
    """

    op: str
    atoms: tuple[int, int]
    sides: tuple[t.Expression, t.Expression]
    source: t.Comparison


@dataclass(frozen=True, slots=True)
class ResidualComparison:
    """A comparison with a side that reads events of several atoms, so that no index answers it.

    Attributes
    ----------
    source : Comparison
        Over variables.
    place_of : mapping of str to (int, str)
        For each of its variables an atom, and the attribute where it stands.
    """

    source: t.Comparison
    place_of: Mapping[str, tuple[int, str]]

    @property
    def atoms(self) -> frozenset[int]:
        """The atoms whose events it reads."""
        return frozenset(atom for atom, _ in self.place_of.values())


@dataclass(frozen=True, slots=True)
class Lookup:
    """The next atom of an answer.

    Attributes
    ----------
    atom : int
    equal : tuple of (int, int)
        The numbers of the joined variables that it shares with the atoms before it, each with the first of
        these atoms that has it.
    compared : tuple of int
        The numbers of the comparisons between it and an atom before it; those that a range of values
        satisfies come first.
    checked : tuple of int
        The numbers of the other comparisons whose last atom it is.
    """

    atom: int
    equal: tuple[tuple[int, int], ...]
    compared: tuple[int, ...]
    checked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """How the answers are found in which a given atom has the latest event.

    Attributes
    ----------
    latest : int
        The atom that has the latest event.
    steps : tuple of Lookup
    apart : int
        From this step on no step reads the event of another one, so the numbers of events that they find can
        be multiplied.
    """

    latest: int
    steps: tuple[Lookup, ...]
    apart: int


@dataclass(frozen=True, slots=True)
class LookupPlan:
    """How a rule is answered.

    Attributes
    ----------
    joined : tuple of Joined
    compared : tuple of Across
    checked : tuple of Residual
    paths : tuple of Path
        One for each atom, in the order of the atoms.
    """

    joined: tuple[JoinVariable, ...]
    compared: tuple[AtomComparison, ...]
    checked: tuple[ResidualComparison, ...]
    paths: tuple[Path, ...]


def lookup_plan(query: ConjunctiveQuery) -> LookupPlan:
    """How a rule of any form is answered."""
    joined = tuple(
        JoinVariable(name, {atom: query.atoms[atom].attribute_of[name] for atom in sorted(owners)})
        for name, owners in query.atoms_of.items()
        if len(owners) > 1
    )
    compared: list[AtomComparison] = []
    checked: list[ResidualComparison] = []
    for comparison in query.comparisons:
        found = _compared(query.atoms, comparison)
        if found is None:
            checked.append(ResidualComparison(comparison, _places(query.atoms, variables_of(comparison))))
        else:
            compared.append(found)
    plan = LookupPlan(joined, tuple(compared), tuple(checked), ())
    return replace(plan, paths=tuple(_path(query, plan, atom.id) for atom in query.atoms))


def _compared(atoms: Sequence[Atom], comparison: t.Comparison) -> AtomComparison | None:
    """A comparison of which each side reads one event; None for another one."""
    sides = (comparison.left, comparison.right)
    names = [variables_of(side) for side in sides]
    owners = [[atom for atom in atoms if needed <= atom.attribute_of.keys()] for needed in names]
    if not all(owners) or not all(names):
        return None
    left, right = owners[0][0], owners[1][0]
    return AtomComparison(
        comparison.op,
        (left.id, right.id),
        (_over(comparison.left, left), _over(comparison.right, right)),
        comparison,
    )


def _over(side: t.Expression, atom: Atom) -> t.Expression:
    """An expression over variables as one over the attributes of an atom."""
    found: t.Expression = with_attributes(side, lambda one: replace(one, name=atom.attribute_of[one.name]))
    return found


def _places(atoms: Sequence[Atom], names: frozenset[str]) -> Mapping[str, tuple[int, str]]:
    """For each variable the first atom that has it, and the attribute where it stands."""
    found: dict[str, tuple[int, str]] = {}
    for name in sorted(names):
        atom = next(one for one in atoms if name in one.attribute_of)
        found[name] = (atom.id, atom.attribute_of[name])
    return found


def _path(query: ConjunctiveQuery, plan: LookupPlan, latest: int) -> Path:
    """The atoms in an order in which each finds few events: those that share the most values come first."""
    before, steps = [latest], list[Lookup]()
    left = [atom.id for atom in query.atoms if atom.id != latest]
    while left:
        found = [_step(plan, before, atom) for atom in left]
        best = max(found, key=lambda one: (len(one.equal), _ranges(plan, one), len(one.compared), -one.atom))
        steps.append(best)
        before.append(best.atom)
        left.remove(best.atom)
    return Path(latest, tuple(steps), _apart(plan, latest, steps))


def _ranges(plan: LookupPlan, step: Lookup) -> int:
    return sum(plan.compared[number].op != "!=" for number in step.compared)


def _step(plan: LookupPlan, before: Sequence[int], atom: int) -> Lookup:
    equal = tuple(
        (number, next(one for one in before if one in variable.attribute_of))
        for number, variable in enumerate(plan.joined)
        if atom in variable.attribute_of and any(one in variable.attribute_of for one in before)
    )
    compared = [
        number
        for number, one in enumerate(plan.compared)
        if atom in one.atoms and all(other == atom or other in before for other in one.atoms)
    ]
    compared.sort(key=lambda number: plan.compared[number].op == "!=")
    checked = tuple(
        number
        for number, one in enumerate(plan.checked)
        if atom in one.atoms and one.atoms <= {atom, *before}
    )
    return Lookup(atom, equal, tuple(compared), checked)


def _apart(plan: LookupPlan, latest: int, steps: Sequence[Lookup]) -> int:
    """From which step on none reads an event that another of them has found."""
    reads = [
        {other for _, other in step.equal}
        | {other for number in step.compared for other in plan.compared[number].atoms}
        | {other for number in step.checked for other in plan.checked[number].atoms}
        for step in steps
    ]
    first = len(steps)
    while first:
        known = {latest, *(step.atom for step in steps[: first - 1])}
        if not all(read <= known | {step.atom} for step, read in zip(steps[first - 1 :], reads[first - 1 :])):
            break
        first -= 1
    return first
