"""What an outlook says of an event while it is not known what comes after it (`until`).

An answer is given only if nothing that may still come takes it away. Where complex events are not weighed
against each other, it is enough to read every bit that is not known as what makes for fewer answers: `A
FOLLOWED BY B` as not followed, `A NOT FOLLOWED BY B` as followed, and the other way round on the right side
of UNLESS.
"""

from __future__ import annotations

from collections.abc import Sequence

from cer_gpu.automata.cea import OutlookTest, identity
from cer_gpu.language import tree
from cer_gpu.language.walk import children, nodes

Signs = dict[tuple[object, ...], set[bool]]
"""For each outlook, by its identity, whether more answers come of a 1, of a 0, or of both."""


def doubts(
    query: tree.SelectQuery, formula: tree.Pattern | None, tests: Sequence[OutlookTest]
) -> list[int | None]:
    """The bit of each outlook while it is not known, which makes for the fewest answers.

    None for all of them where no bit does: an outlook stands on both sides, or answers are chosen among
    others with other bits (a strategy, a selector, LIMIT, CONSUME BY). An event whose bit is not known then
    ends its lane.
    """
    unsure: list[int | None] = [None] * len(tests)
    if _chooses(query):
        return unsure
    signs: Signs = {}
    for pattern in (query.pattern, formula):
        if pattern is not None and not _noted(pattern, True, signs):
            return unsure
    found = [signs.get(identity(test), set()) for test in tests]
    return [0 if sign == {True} else 1 for sign in found] if all(len(one) == 1 for one in found) else unsure


def _chooses(query: tree.SelectQuery) -> bool:
    """Whether answers are chosen among others by what is not known."""
    weighs = query.strategy is tree.Strategy.ANY or query.strategy in tree.CHOOSING or query.limit is not None
    drops = query.consume is not tree.Consume.NONE or query.suppress is not None
    return drops or (weighs and not _shares_bits(query.pattern))


def _shares_bits(pattern: tree.Pattern) -> bool:
    """Whether what follows is asked of the end of whole answers alone: all of one end then share the bits."""
    match pattern:
        case tree.Beside(left=left, right=right, before=before):
            return not (before and _looks_ahead(right)) and _shares_bits(left)
        case tree.As() | tree.Filter() | tree.Project():
            return _shares_bits(pattern.pattern)
        case _:
            return not _looks_ahead(pattern)


def _noted(pattern: tree.Pattern, more: bool, signs: Signs) -> bool:
    """Note the signs of the outlooks of a pattern, of which `more` complex events make for more answers.

    False where a selector chooses among complex events that look ahead.
    """
    match pattern:
        case tree.Beside(left=left, right=right, before=before, negated=negated, interval=interval):
            own = more != negated
            signs.setdefault(identity(OutlookTest(right, before, interval)), set()).add(own)
            return _noted(left, more, signs) and _noted(right, own, signs)
        case tree.Unless(left=left, right=right):
            return _noted(left, more, signs) and _noted(right, not more, signs)
        case tree.Selector(strategy=strategy) if strategy is not tree.Strategy.STRICT:
            if _looks_ahead(pattern):
                return False
    return all(_noted(part, more, signs) for part in children(pattern))


def _looks_ahead(pattern: tree.Pattern) -> bool:
    return any(isinstance(node, tree.Beside) and not node.before for node in nodes(pattern))
