"""Hierarchical conjunctive queries to PCEA: Theorem 4.1 of the PCEA paper, its three cases as one.

`Q(x, y) <- T(x), S(x, y), R(x, y)` becomes the automaton of Figure 2. Its states are the nodes of the compact
q-tree; a run in state y has read the events of all atoms below y ::

    () --T/0--> 0     () --S/1--> 1         () --R/2--> 2
    (y) --T/0--> x    (0, 2) --S/1--> x     (0, 1) --R/2--> x
                      (2) --S/1--> y        (1) --R/2--> y

The event that completes a variable x may match any set A of atoms below x of one event type. Without
self-joins these are the single atoms, and there is one transition for each pair (x, i), so that the size is
quadratic; with self-joins there may be exponentially many. A disconnected query is given a fresh variable,
which then is compared by no equality: its key is empty.

The paper's state (x, A) says which attributes of the last event hold the variables that are compared later.
Sets A that agree in that are one state here, which is the paper's state x where there are no self-joins;
the label of the transition still says which set A it is, so the automaton stays unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from cer_gpu.automata.pcea import PCEA, GatherTransition
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.qtree import Label, QTree, compact, q_tree
from cer_gpu.joins.query import ConjunctiveQuery, NotLocalError
from cer_gpu.joins.unify import SelfJoin, equality, self_join
from cer_gpu.language.printer import to_text

BUDGET = 100_000
"""The largest size of an automaton, in the paper's measure."""


@dataclass(frozen=True, slots=True)
class State:
    """A state: all events of the atoms below a node of the q-tree are read.

    Attributes
    ----------
    label : Label
        The node.
    last : tuple of SelfJoin
        One for each event type that the last of these events may have; it says where the variables stand.
    """

    label: Label
    last: tuple[SelfJoin, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """(x, A): an event that matches the atoms A completes the variable x, and takes the run to `state`."""

    variable: Label
    join: SelfJoin
    state: int


def to_pcea(query: ConjunctiveQuery, budget: int = BUDGET) -> PCEA:
    """The unambiguous PCEA that is equivalent to a hierarchical query.

    Its labels are sets of atoms; at every position its valuations are the t-homomorphisms of the query whose
    latest event is there.

    Parameters
    ----------
    query : ConjunctiveQuery
    budget : int
        The greatest size of the automaton; checked before anything is built.

    Raises
    ------
    NotHierarchicalError
        When the query is not hierarchical.
    NotLocalError
        When a comparison has variables of different atoms, so that no single event decides it.
    LimitError
        When self-joins make the automaton larger than the budget.
    """
    if query.comparisons:
        raise NotLocalError(
            f"`{to_text(query.comparisons[0])}` compares different events: no single event decides it"
        )
    tree = compact(q_tree(query))
    shared = shared_variables(query, tree)
    singles = [self_join([atom]) for atom in query.atoms]
    states = [State(atom, () if one is None else (one,)) for atom, one in enumerate(singles)]
    completions: list[Completion] = []
    for variable in _below(tree):
        joins = _self_joins(query, tree, variable, budget)
        completions += _completions(variable, joins, shared[variable], states)
    places: dict[Label, list[int]] = {label: [] for label in tree.labels}
    for place, state in enumerate(states):
        places[state.label].append(place)
    gathered = [incomplete(tree, one.variable, one.join.atoms) for one in completions]
    size = len(states) + len(query.atoms)
    for one, hanging in zip(completions, gathered):
        size += prod(len(places[label]) for label in hanging) * (len(hanging) + len(one.join.atoms))
    if size > budget:
        raise _over_budget(query, f"{size:,}", budget)
    moves = [
        GatherTransition((), one.predicate, one.event_type, (), frozenset(one.atoms), atom)
        for atom, one in enumerate(singles)
        if one is not None
    ]
    for one, hanging in zip(completions, gathered):
        for encoding in product(*(places[label] for label in hanging)):
            sources = tuple(sorted(encoding))
            compared = tuple(
                equality(states[source].last, one.join, shared[states[source].label]) for source in sources
            )
            label = frozenset(one.join.atoms)
            moves.append(
                GatherTransition(sources, one.join.predicate, one.join.event_type, compared, label, one.state)
            )
    return PCEA(tuple(_names(states)), tuple(moves), frozenset(places[tree.root]))


def incomplete(tree: QTree, variable: Label, atoms: Iterable[int]) -> tuple[Label, ...]:
    """C_{x, A}: the nodes beside the paths from a variable to some atoms below it, in the order of the tree.

    Parameters
    ----------
    tree : QTree
        Compact.
    variable : Label
        x, with all of `atoms` below it.
    atoms : iterable of int
        A; a single atom i gives C_{x, i}.
    """
    paths, parent_of = tree.paths, tree.parent_of
    ways = {label for atom in atoms for label in paths[atom][paths[atom].index(variable) :]}
    return tuple(label for label in tree.labels if label not in ways and parent_of.get(label) in ways)


def shared_variables(query: ConjunctiveQuery, tree: QTree) -> Mapping[Label, tuple[str, ...]]:
    """For each node of a compact q-tree the variables that all atoms below its parent have.

    The events below the node share the values of these with an event that completes a variable above it.
    """
    atoms_of = query.atoms_of
    above = {
        variable: tuple(name for name, atoms in atoms_of.items() if atoms >= below)
        for variable, below in _below(tree).items()
    }
    parent_of = tree.parent_of
    return {label: above[parent_of[label]] if label in parent_of else () for label in tree.labels}


def _below(tree: QTree) -> dict[Label, frozenset[int]]:
    """For each variable of a q-tree the atoms below it."""
    found: dict[Label, list[int]] = {}
    paths = tree.paths
    for leaf in tree.leaves:
        if isinstance(leaf, int):
            for variable in paths[leaf][:-1]:
                found.setdefault(variable, []).append(leaf)
    return {variable: frozenset(atoms) for variable, atoms in found.items()}


def _self_joins(query: ConjunctiveQuery, tree: QTree, variable: Label, budget: int) -> list[SelfJoin]:
    """Every set of atoms below a variable that one event can serve, each grown from a smaller one.

    Each makes at least one transition, which is why their number is bounded by the budget.
    """
    atoms = sorted(_below(tree)[variable])
    size = 0
    found: list[SelfJoin] = []
    pending: list[tuple[int, ...]] = [(atom,) for atom in reversed(atoms)]
    while pending:
        chosen = pending.pop()
        join = self_join([query.atoms[atom] for atom in chosen])
        if join is None:
            continue
        found.append(join)
        size += len(chosen) + len(incomplete(tree, variable, chosen))
        if size > budget:
            raise _over_budget(query, f"more than {budget:,}", budget)
        pending += [(*chosen, atom) for atom in reversed(atoms) if atom > chosen[-1]]
    return found


def _completions(
    variable: Label, joins: Sequence[SelfJoin], shared: Sequence[str], states: list[State]
) -> Iterator[Completion]:
    """The pairs (x, A) of a variable; their states are added to `states`.

    Sets A of one event type share a state iff the shared variables stand at the same attributes, and the
    k-th state of each event type is the k-th state of the variable.
    """
    kinds: dict[str, dict[tuple[str, ...], int]] = {}
    members: list[list[SelfJoin]] = []
    chosen = []
    for join in joins:
        known = kinds.setdefault(join.event_type, {})
        attributes = tuple(join.attribute_of[name] for name in shared)
        if attributes not in known:
            known[attributes] = len(known)
            members += [[]] if len(known) > len(members) else []
            members[known[attributes]].append(join)
        chosen.append(known[attributes])
    first = len(states)
    states += [State(variable, tuple(last)) for last in members]
    return (Completion(variable, join, first + place) for join, place in zip(joins, chosen))


def _names(states: Sequence[State]) -> Iterator[str]:
    labels = [state.label for state in states]
    for place, label in enumerate(labels):
        several = labels.count(label) > 1
        yield f"{label}.{labels[:place].count(label) + 1}" if several else str(label)


def _over_budget(query: ConjunctiveQuery, size: str, budget: int) -> LimitError:
    names = [atom.type.name for atom in query.atoms]
    most = max(names, key=names.count)
    return LimitError(
        f"the automaton of the rule has size {size}, and {budget:,} is allowed: an event of `{most}` may "
        f"stand for any of the {names.count(most)} times that `{most}(...)` is written. Write it fewer "
        "times, or tell them apart by constants"
    )
