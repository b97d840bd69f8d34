"""LP-normal form: every unary filter sits on the event type that it speaks of.

CEPL thesis, section 5.2 and Theorem 5.3, for variables that are sets of events: `x[P]` says that every event
marked by x satisfies P, so NOT `x[P]` says that some event marked by x does not. `A AS x ; B AS y FILTER
x[p > 1] AND NOT (y[p > 2])` becomes `(A FILTER A[p > 1]) AS x ; (B FILTER B[NOT (p > 2)]) AS y`.

Three steps, as in the proof, in one walk from the top:

1. A unary predicate on a variable of an enclosing scope is lifted to the body of that scope, which becomes
   `(body with it true) FILTER it OR (body with it false) FILTER NOT it`.
2. The condition of a FILTER is unfolded: AND to demands that hold together, OR to OR of formulas.
3. Demands are pushed down. A universal demand goes to every atom that its variable marks. An existential one
   goes to one side or the other of `;`, `:` and ALL, to both sides of OR, and to one repetition of an
   iteration, with others before it or after it or not.

A demand stays as a FILTER over NXT, LAST and MAX, which must choose before it is looked at. Correlations stay
where they are, and where one stands in the way so does the demand: over an iteration whose repetitions are
correlated inside (existential demands), and inside `NOT (T FILTER c)` with a correlation in c. In these cases
the result is not in LP-normal form, and `is_lp` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Generic, Protocol, TypeVar

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.chains import balanced
from cer_gpu.language.mark_counts import is_marked, names_below
from cer_gpu.language.repetitions import has_optional, may_be_empty
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import leaves_of, nodes
from cer_gpu.logic.binding import hidden, prior_reads, reads
from cer_gpu.logic.boolean import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    fold,
    negation,
    negation_normal_form,
    replace_literals,
    speaks_of_events,
)
from cer_gpu.logic.demands import Branch, Demand, Demands, branches, condense, count_branches
from cer_gpu.logic.formulas import BUDGET, around, correlates, first_type, joined, never
from cer_gpu.logic.outer_predicates import assigned, outer_literals


def to_lp(pattern: t.Pattern, budget: int = BUDGET) -> t.Pattern:
    """An equivalent formula in LP-normal form (thesis, Theorem 5.3), at most exponential in size.

    Parameters
    ----------
    pattern : Pattern
        Well-formed.
    budget : int
        How many atoms the result may have.

    Returns
    -------
    Pattern
        `is_lp` holds for it, with the exceptions above; always if it has no selectors and no correlations. A
        formula that is unsatisfiable by its syntax becomes one atom with the filter FALSE.

    Raises
    ------
    LimitError
        When the result would be larger than the budget; this is checked before it is built.
    ValueError
        When the formula is not well-formed.
    """
    undefined = reads(pattern) - variables(pattern)
    if undefined:
        raise ValueError(f"variables that no pattern defines: {', '.join(sorted(undefined))}")
    cost(pattern, budget)
    result = _LpRewriter(_Trees(), pattern, budget).run()
    return never(first_type(pattern)) if result is None else result


def cost(pattern: t.Pattern, budget: int = BUDGET) -> int:
    """How many atoms `to_lp(pattern)` has at most, counted without building it.

    It is an upper bound: branches that turn out equal are counted twice.

    Raises
    ------
    LimitError
        When it is more than the budget; the message names the operator that multiplies the formula most.
    """
    return _LpRewriter(_Sizes(), pattern, budget).run() or 1


def is_lp(pattern: t.Pattern) -> bool:
    """Whether every unary filter sits on its atom: `Filter(T, T[p])`, or inside `NOT (T FILTER T[p])`."""
    for node in nodes(pattern):
        condition = node.condition if isinstance(node, t.Filter | t.OtherEvent) else None
        if condition is None or not speaks_of_events(condition):
            continue
        atom = node.type if isinstance(node, t.OtherEvent) else node.pattern  # type: ignore[union-attr]
        if not (
            isinstance(atom, t.EventType)
            and isinstance(condition, t.Every)
            and condition.variable == atom.name
        ):
            return False
    return True


def _on_atom(atom: t.EventType, predicate: t.Condition) -> t.Pattern:
    return atom if predicate == TRUE else t.Filter(atom, t.Every(atom.name, predicate))


# ------------------------------------------------------------------------ what the walk produces

R = TypeVar("R")


class _Products(Protocol[R]):
    """The results that the walk builds: the rewritten formula, or its size only."""

    def leaf(self, pattern: t.Pattern) -> R: ...

    def around(self, node: t.Pattern, inside: R) -> R: ...

    def joined(self, node: t.Pattern, left: R, right: R) -> R: ...

    def either(self, options: Sequence[R]) -> R: ...


_HOLE = t.EventType("")


class _Trees:
    """Equal formulas are one object: finding a repetition in OR need not compare large ones."""

    def __init__(self) -> None:
        self.leaves: dict[t.Pattern, t.Pattern] = {}
        self.made: dict[tuple[t.Pattern, int, int], t.Pattern] = {}

    def leaf(self, pattern: t.Pattern) -> t.Pattern:
        return self.leaves.setdefault(pattern, pattern)

    def around(self, node: t.Pattern, inside: t.Pattern) -> t.Pattern:
        key = around(node, _HOLE), id(inside), 0
        if key not in self.made:
            self.made[key] = around(node, inside)
        return self.made[key]

    def joined(self, node: t.Pattern, left: t.Pattern, right: t.Pattern) -> t.Pattern:
        if isinstance(node, t.And) and left is right:
            return left
        key = joined(node, _HOLE, _HOLE), id(left), id(right)
        if key not in self.made:
            self.made[key] = joined(node, left, right)
        return self.made[key]

    def either(self, options: Sequence[t.Pattern]) -> t.Pattern:
        apart = {id(option): option for option in options}
        either = t.Or(_HOLE, _HOLE)
        return balanced(list(apart.values()), lambda _, left, right: self.joined(either, left, right))


class _Sizes:
    def leaf(self, pattern: t.Pattern) -> int:
        return 1

    def around(self, node: t.Pattern, inside: int) -> int:
        return inside

    def joined(self, node: t.Pattern, left: int, right: int) -> int:
        return left + right

    def either(self, options: Sequence[int]) -> int:
        return sum(options)


# --------------------------------------------------------------------------------- the walk


class _LpRewriter(Generic[R]):
    """The walk from the top. Every method gives None for a formula without complex events."""

    def __init__(self, products: _Products[R], pattern: t.Pattern, budget: int) -> None:
        self.products = products
        self.pattern = pattern
        self.budget = budget
        # A formula that is dropped takes its variables with it, and another filter may read them.
        self.keep_empty = correlates(pattern) or any(_chooses(node) for node in nodes(pattern))
        self.steps = 0
        self.widest = (1, "the pattern")
        # Keyed by the identity of nodes, which are kept alive: hashing trees again and again is slow.
        self.known: dict[tuple[int, Demands, Demands], R | None] = {}
        self.defined: dict[int, tuple[t.Pattern, frozenset[str]]] = {}
        self.scopes: dict[
            tuple[int, frozenset[str]], tuple[t.Pattern, list[tuple[t.Pattern, Demands, Demands]]]
        ] = {}
        self.unfolded: dict[int, list[Branch]] = {}

    def run(self) -> R | None:
        return self.scope(self.pattern, (), ())

    def scope(
        self, body: t.Pattern, universal: Demands, existential: Demands, bound: frozenset[str] | None = None
    ) -> R | None:
        """The body of a scope, after step 1 for the variables that it binds."""
        options = [
            self.down(inner, universal + true, existential + false)
            for inner, true, false in self.opened(body, variables(body) if bound is None else bound)
        ]
        return self.either(options)

    def opened(self, body: t.Pattern, bound: frozenset[str]) -> list[tuple[t.Pattern, Demands, Demands]]:
        """For all values of what the inside reads of the scope: the body, and the demands that say so."""
        found = self.scopes.get((id(body), bound))
        if found is not None:
            return found[1]
        literals = outer_literals(body, bound)
        self.alternatives(2 ** len(literals), "a FILTER that reads a variable from outside")
        options = []
        for values in product((True, False), repeat=len(literals)):
            chosen = dict(zip(literals, values))
            true = tuple(Demand(frozenset((x.variable,)), x.predicate) for x in literals if chosen[x])
            false = tuple(
                Demand(frozenset((x.variable,)), negation(x.predicate)) for x in literals if not chosen[x]
            )
            options.append((assigned(body, chosen), true, false))
        self.scopes[id(body), bound] = body, options
        return options

    def down(self, pattern: t.Pattern, universal: Demands, existential: Demands) -> R | None:
        """The complex events of a pattern that satisfy the demands."""
        if id(pattern) not in self.defined:
            self.defined[id(pattern)] = pattern, variables(pattern)
        universal = tuple(dict.fromkeys(d for d in universal if self.concerns(d, pattern)))
        existential = tuple(dict.fromkeys(existential))
        if not all(self.concerns(d, pattern) for d in existential):
            return self.nothing(pattern)
        key = id(pattern), universal, existential
        if key not in self.known:
            self.steps += 1
            self.check(self.steps)
            self.known[key] = self.step(pattern, universal, existential)
        return self.known[key]

    def concerns(self, demand: Demand, pattern: t.Pattern) -> bool:
        """Whether a demand speaks of events that the pattern may mark."""
        _, defined = self.defined[id(pattern)]
        return bool(defined) if demand.names is None else not defined.isdisjoint(demand.names)

    def step(self, pattern: t.Pattern, universal: Demands, existential: Demands) -> R | None:
        match pattern:
            case t.EventType():
                demands = (d for d in universal + existential if is_marked(pattern, d.names))
                predicate = conjunction(fold(d.predicate) for d in demands)
                return self.nothing(pattern) if predicate == FALSE else self.leaf(pattern, predicate)
            case t.OtherEvent():
                return self.products.leaf(_other(pattern))
            case t.As() | t.Project():
                below = (_below(pattern, universal), _below(pattern, existential))
                if isinstance(pattern, t.As):
                    inside = self.down(pattern.pattern, *below)
                else:
                    inside = self.scope(pattern.pattern, *below, bound=hidden(pattern))
                return self.around(pattern, inside)
            case t.Filter():
                return self.filter(pattern, universal, existential)
            case t.Timed(pattern=inner):
                return self.around(pattern, self.down(inner, universal, existential))
            case t.Or(left=left, right=right):
                options = (self.down(side, universal, existential) for side in (left, right))
                return self.either(options)
            case t.And(left=left, right=right):
                # Both sides have the same marks: what is pushed to one holds for the other.
                return self.joined(
                    pattern, self.down(left, universal, existential), self.down(right, universal, ())
                )
            case t.Optional(pattern=inner):
                # What must be there for a demand is there.
                inside = self.down(inner, universal, existential)
                return inside if existential else self.around(pattern, inside)
            case t.Sequence() if has_optional(pattern):
                return self.either(
                    self.elements(pattern, universal, here, there)
                    for here, there in self.shares(existential, 2)
                )
            case t.Sequence(left=left, right=right) | t.All(left=left, right=right):
                return self.either(
                    self.joined(pattern, self.down(left, universal, here), self.down(right, universal, there))
                    for here, there in self.shares(existential, 2)
                )
            case t.Iteration():
                return self.iteration(pattern, universal, existential)
            case t.Unless(left=left, right=right):
                kept = self.down(left, universal, existential)
                forbidden = self.scope(right, (), ())
                return kept if forbidden is None else self.joined(pattern, kept, forbidden)
            case t.Beside(left=left, right=right):
                kept = self.down(left, universal, existential)
                beside = self.scope(right, (), ())
                if beside is None:
                    return kept if pattern.negated else self.nothing(pattern)
                return self.joined(pattern, kept, beside)
            case t.Selector():
                return self.selector(pattern, universal, existential)

    def elements(self, pattern: t.Sequence, universal: Demands, here: Demands, there: Demands) -> R | None:
        """A sequence with optional elements; one that is never there is left out."""
        left, right = self.down(pattern.left, universal, here), self.down(pattern.right, universal, there)
        if left is None and not here and may_be_empty(pattern.left):
            return right
        if right is None and not there and may_be_empty(pattern.right):
            return left
        return self.joined(pattern, left, right)

    def filter(self, pattern: t.Filter, universal: Demands, existential: Demands) -> R | None:
        inner = pattern.pattern
        if id(pattern) not in self.unfolded:  # `down` keeps the pattern alive
            condition = condense(negation_normal_form(fold(pattern.condition)), inner)
            self.alternatives(count_branches(condition), "OR in a FILTER")
            self.unfolded[id(pattern)] = branches(condition)
        options = []
        for branch in self.unfolded[id(pattern)]:
            inside = self.down(inner, universal + branch.universal, existential + branch.existential)
            options.append(self.filtered(inside, branch.rest))
        return self.either(options) if options else self.nothing(pattern)

    def iteration(self, pattern: t.Iteration, universal: Demands, existential: Demands) -> R | None:
        body = pattern.pattern
        every = self.around(pattern, self.scope(body, universal, ()))
        if not existential or every is None:
            return every
        if correlates(body) and (reads(body) | prior_reads(body)) & variables(body):
            # One repetition cannot stand alone: its variables would be read from a wider scope, and the next
            # one compares itself with it.
            return self.filtered(every, _as_conditions(pattern, (), existential))
        if pattern.times is not None:
            # A demand is one on the events, however they are cut into repetitions.
            uncounted = self.iteration(replace(pattern, times=None), universal, existential)
            return self.joined(t.And(pattern, pattern, span=pattern.span), every, uncounted)
        first, *others = existential
        self.alternatives(
            4 * 3 ** len(others), "NOT x[...], or a filter on a variable from outside, around `+`"
        )
        link = t.Sequence(body, body, pattern.contiguous, pattern.gap)
        options = []
        for before, here, after in self.shares(tuple(others), 3):
            one = self.scope(body, universal, (first, *here))
            earlier = self.iteration(pattern, universal, before)
            later = self.iteration(pattern, universal, after)
            ending = [self.joined(link, earlier, one)] + ([] if before else [one])
            options += [self.joined(link, option, later) for option in ending]
            options += [] if after else ending
        return self.either(options)

    def selector(self, pattern: t.Selector, universal: Demands, existential: Demands) -> R | None:
        if not _chooses(pattern):
            return self.around(pattern, self.scope(pattern.pattern, universal, existential))
        inside = self.around(pattern, self.scope(pattern.pattern, (), ()))
        return self.filtered(inside, _as_conditions(pattern, universal, existential))

    # The operations of `products`, with None for a formula without complex events.

    def leaf(self, atom: t.EventType, predicate: t.Condition) -> R | None:
        return self.products.leaf(_on_atom(atom, predicate))

    def around(self, node: t.Pattern, inside: R | None) -> R | None:
        return None if inside is None else self.products.around(node, inside)

    def joined(self, node: t.Pattern, left: R | None, right: R | None) -> R | None:
        return None if left is None or right is None else self.products.joined(node, left, right)

    def filtered(self, inside: R | None, conditions: Sequence[t.Condition]) -> R | None:
        if inside is None or not conditions:
            return inside
        # Only the condition of this node counts; its operand is replaced.
        node = t.Filter(self.pattern, conjunction(conditions))
        return self.products.around(node, inside)

    def either(self, options: Iterable[R | None]) -> R | None:
        some = [option for option in options if option is not None]
        if not some:
            return None
        result = self.products.either(some)
        if isinstance(result, int):
            self.check(result)
        return result

    def nothing(self, pattern: t.Pattern) -> R | None:
        """The formula without complex events that takes the place of a pattern."""
        if not self.keep_empty:
            return None
        match pattern:
            case t.EventType():
                return self.products.leaf(never(pattern))
            case t.OtherEvent():
                return self.products.around(t.Project(pattern, ()), self.products.leaf(never(pattern.type)))
            case t.Filter(pattern=inner) | t.Optional(pattern=inner):
                return self.nothing(inner)
            case t.Unless(left=inner) | t.Beside(left=inner):
                return self.nothing(inner)
            case t.Sequence() | t.Or() | t.And() | t.All():
                return self.joined(pattern, self.nothing(pattern.left), self.nothing(pattern.right))
            case _:
                return self.around(pattern, self.nothing(pattern.pattern))

    # The budget.

    def shares(self, demands: Demands, places: int) -> Iterator[tuple[Demands, ...]]:
        """Every way to give each demand to one of the places."""
        self.alternatives(
            places ** len(demands),
            "NOT x[...], or a filter on a variable from outside, around `;`, `:` or ALL",
        )
        for owners in product(range(places), repeat=len(demands)):
            yield tuple(
                tuple(d for d, owner in zip(demands, owners) if owner == place) for place in range(places)
            )

    def alternatives(self, number: int, operator: str) -> None:
        self.widest = max(self.widest, (number, operator))
        self.check(number)

    def check(self, size: int) -> None:
        if size > self.budget:
            number, operator = self.widest
            raise LimitError(
                f"with its filters moved to the events that they test, this pattern has at least {size:,} "
                f"event types in alternatives, and at most {self.budget:,} are allowed; most of them come "
                f"from {operator} ({number:,} alternatives): filter each variable where it is defined, as in "
                "`(A AS a FILTER ...)`"
            )


def _chooses(pattern: t.Pattern) -> bool:
    """Whether a selector looks at more than one complex event: a filter cannot move below it."""
    return isinstance(pattern, t.Selector) and pattern.strategy not in (t.Strategy.STRICT, t.Strategy.ALL)


def _below(node: t.As | t.Project, demands: Demands) -> Demands:
    return tuple(Demand(names_below(node, d.names), d.predicate) for d in demands)


def _as_conditions(pattern: t.Pattern, universal: Demands, existential: Demands) -> tuple[t.Condition, ...]:
    """Demands on a pattern that they are not pushed into, as conditions on its own variables."""
    own = sorted(variables(pattern))

    def every(demand: Demand, predicate: t.Condition) -> list[t.Condition]:
        return [t.Every(x, predicate) for x in own if demand.names is None or x in demand.names]

    return tuple(conjunction(every(d, d.predicate)) for d in universal) + tuple(
        disjunction(negation(one) for one in every(d, negation(d.predicate))) for d in existential
    )


def _other(pattern: t.OtherEvent) -> t.OtherEvent:
    """`NOT (T FILTER c)` with c one predicate on T: inside it, T is exactly one event."""
    if pattern.condition is None:
        return pattern
    if not all(isinstance(leaf, t.Every | t.Truth) for leaf in leaves_of(pattern.condition)):
        return t.OtherEvent(pattern.type, fold(pattern.condition))
    found = fold(replace_literals(pattern.condition, lambda leaf: getattr(leaf, "predicate", leaf)))
    return t.OtherEvent(pattern.type, None if found == TRUE else t.Every(pattern.type.name, found))
