"""Where the variables of a filter are defined (section 4 of the language).

A variable of a filter that the filtered pattern defines is *local*: it speaks of the complex event that is
filtered. Any other is *read from outside*: it is bound at the smallest enclosing scope that defines it. The
scopes are the whole pattern, the body of an iteration, the operand of a selector and the right side of
UNLESS. PROJECT binds what it hides: a name that it drops means, inside it, only what is marked inside it.
"""

from __future__ import annotations

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import children, condition_variables, own_children, prior_variables


def hidden(project: t.Project) -> frozenset[str]:
    """The variables that a PROJECT drops, which it binds."""
    return variables(project.pattern) - frozenset(project.variables)


def reads(pattern: t.Pattern) -> frozenset[str]:
    """The variables that filters inside a pattern read and that no scope inside the pattern binds.

    Where the pattern is the body of a scope, those that it defines are bound there: `reads & variables`.
    """
    match pattern:
        case t.EventType():
            return frozenset()
        case t.OtherEvent(type=kind, condition=condition):
            if condition is None:
                return frozenset()
            return condition_variables(condition) - frozenset(kind.variables)
        case t.Filter(pattern=inner, condition=condition):
            return reads(inner) | (condition_variables(condition) - variables(inner))
        case t.Iteration(pattern=body) | t.Selector(pattern=body):
            return reads(body) - variables(body)
        case t.Unless(left=left, right=right):
            return reads(left) | (reads(right) - variables(right))
        case t.Project():
            return reads(pattern.pattern) - hidden(pattern)
        case _:
            return frozenset().union(*(reads(child) for child in own_children(pattern)))


def prior_reads(pattern: t.Pattern) -> frozenset[str]:
    """The variables of PRIOR and BEFORE inside a pattern that no iteration inside it repeats."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return frozenset()
        case t.Filter(pattern=inner, condition=condition):
            return prior_reads(inner) | prior_variables(condition)
        case t.Iteration(pattern=body):
            return prior_reads(body) - variables(body)
        case _:
            return frozenset().union(*(prior_reads(child) for child in children(pattern)))
