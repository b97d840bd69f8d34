"""Queries of a bunch that run abreast: one chunk for all of them, and sums in place of ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.teams.contract import Edges, ListedEdges
from cer_gpu.plan.automaton_levels import LevelGrid, grid_of
from cer_gpu.plan.automaton_masks import MaskedTeam, Moves, masked_of, most_of, moves_of
from cer_gpu.plan.automaton_team import Ladder, edges_of, ladder_of, listed_of, shared_edges
from cer_gpu.plan.compiled_query import CompiledQuery

ABREAST = 256
"""Members of a team: what is kept of them fits the cache of a core."""

LEAST_ABREAST = 6
"""Fewer members are followed one by one: an event costs a team about as much as this many queries."""

LEAST_OF_WINDOW = 4
"""The least number of members of a team for each different window."""

LEAST_LISTED = 3
"""The same if additions are listed."""

SHARED = 0.4
"""If, on average, an edge belongs to a smaller share of the members, additions are listed."""


class BunchMember(NamedTuple):
    """A query of a bunch.

    Attributes
    ----------
    number : int
        Its number in the pass.
    query : CompiledQuery
    cells : ndarray, shape (cells,), uint8 or uint16
        The symbol that each cell is for the query.
    """

    number: int
    query: CompiledQuery
    cells: np.ndarray


Climber: TypeAlias = tuple[BunchMember, Ladder]
"""A member with its ladder."""


@dataclass(frozen=True, slots=True)
class Team:
    """Members that are followed together, ascending by the size of their windows; none has sizes without."""

    members: tuple[BunchMember, ...]
    edges: Edges | ListedEdges | LevelGrid | MaskedTeam
    nodes: int
    begin: np.ndarray
    sizes: tuple[int | float, ...]

    @property
    def carried(self) -> bool:
        """Whether its members have no window."""
        return not self.sizes

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of its members, shape (members,), int64."""
        return np.array([one.number for one in self.members])


def teams_of(members: Sequence[BunchMember]) -> tuple[list[Team], list[BunchMember]]:
    """The teams of members that go abreast, and the members that are followed one by one."""
    found = _ladders(members)
    left = [member for member, ladder in found if ladder is None]
    teams, rest = _grids([(member, ladder) for member, ladder in found if ladder is not None])
    able = [(size_of(member), member, ladder) for member, ladder in rest]
    able.sort(key=lambda one: one[0])
    for at in range(0, len(able), ABREAST):
        part = able[at : at + ABREAST]
        own, ladders = [one for _, one, _ in part], [ladder for _, _, ladder in part]
        windows = dict.fromkeys(size for size, _, _ in part)
        few = len(part) < max(LEAST_ABREAST, LEAST_OF_WINDOW * len(windows))
        if len(part) < LEAST_LISTED:
            left += own
        else:
            listed = few or shared_edges(ladders, [member.cells for member in own]) < SHARED
            teams.append(_team(own, ladders, listed))
    masked, left = _masked_teams(left)
    return [*teams, *masked], left


def _ladders(members: Sequence[BunchMember]) -> list[tuple[BunchMember, Ladder | None]]:
    known: dict[int, Ladder | None] = {}
    return [(member, ladder_of(member.query, known)) for member in members]


def _grids(members: Sequence[Climber]) -> tuple[list[Team], list[Climber]]:
    """The teams of members that make a grid, each of one window, and the members that make none.

    Tried are all members of a window, and then those of each machine: the variants of one template.
    """
    teams, left = [], list(members)
    for of_machine in (False, True):
        alike: dict[Any, list[Climber]] = {}
        for member, ladder in left:
            machine = id(member.query.machine) if of_machine else None
            alike.setdefault((size_of(member), machine), []).append((member, ladder))
        left = []
        for (size, _), some in alike.items():
            own, ladders = zip(*some)
            grid = grid_of(ladders, [one.cells for one in own]) if len(own) >= LEAST_ABREAST else None
            if grid is None:
                left += some
            else:
                teams.append(Team(own, grid, ladders[0].nodes, np.array([0, len(own)]), (size,)))
    return teams, left


def device_teams_of(members: Sequence[BunchMember]) -> list[Team]:
    """The teams of members that each have a `kind_there`: first those of ladders."""
    found = _ladders(members)
    able = [(member, ladder) for member, ladder in found if ladder is not None]
    able.sort(key=lambda one: size_of(one[0]))
    parts = [able[at : at + ABREAST] for at in range(0, len(able), ABREAST)]
    teams = [_team([one for one, _ in part], [ladder for _, ladder in part], False) for part in parts]
    masked, _ = _masked_teams([member for member, ladder in found if ladder is None], True)
    return [*teams, *masked]


def kind_there(query: CompiledQuery) -> Any:
    """What queries must have in common to go abreast on a device; None if a query does not."""
    if ladder_of(query) is not None:
        return ()
    moves = moves_of(query)
    if moves is None:
        return None
    return (None if query.window is None else query.window.size, moves.nodes)


def _masked_teams(
    members: Sequence[BunchMember], always: bool = False
) -> tuple[list[Team], list[BunchMember]]:
    """The same of members whose runs may do anything: one window for each team, or none.

    With `always` they go together even if it costs more, or if there are few.
    """
    alike: dict[Any, list[tuple[BunchMember, Moves]]] = {}
    teams, left = [], []
    for member in members:
        moves = moves_of(member.query)
        if moves is None:
            left.append(member)
            continue
        size = None if member.query.window is None else member.query.window.size
        alike.setdefault((size, moves.nodes), []).append((member, moves))
    for (size, nodes), some in alike.items():
        most = min(ABREAST, most_of(nodes, len(some[0][0].cells))) if always else ABREAST
        for at in range(0, len(some), most):
            own, moves = zip(*some[at : at + most])
            many = always or len(own) >= LEAST_ABREAST
            made = masked_of(moves, [one.cells for one in own], always) if many else None
            if made is None:
                left += own
                continue
            sizes = () if size is None else (size,)
            teams.append(Team(own, made, nodes, np.array([0, len(own)]), sizes))
    return teams, left


def size_of(member: BunchMember) -> int | float:
    """The size of the window of a member that has one."""
    assert member.query.window is not None
    return member.query.window.size


def _team(members: Sequence[BunchMember], ladders: Sequence[Ladder], listed: bool) -> Team:
    sizes = list(map(size_of, members))
    begin = np.array([0, *(k for k in range(1, len(sizes)) if sizes[k] != sizes[k - 1]), len(sizes)])
    cells = [member.cells for member in members]
    edges, nodes = listed_of(ladders, cells, begin) if listed else edges_of(ladders, cells)
    return Team(tuple(members), edges, nodes, begin, tuple(sizes[k] for k in begin[:-1]))
