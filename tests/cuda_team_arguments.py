"""The types of the arguments of the kernels that follow queries abreast."""

from cer_gpu.kernels.teams import cuda as teams
from cer_gpu.kernels.teams import cuda_masks as masked_teams
from cer_gpu.kernels.teams.contract import AbreastEvents, Edges, GroupSums, MaskedEnds, MaskedProgram, Spans
from cuda_arguments import F64, F64_2, I32, I64, I64_2, I64_3, U8, U16, U64, named


def _events(keys, at):
    return named(AbreastEvents, U16, keys, at, I64)


def _sums(ats):
    return named(GroupSums, I64_2, I64_2, ats, ats)


_TIMES = ((I64, I64_2), (F64, F64_2))

_KEYED = ((U64, I64, I64_2), (F64, F64, F64_2), (U64, F64, F64_2))
"""The keys of a window, the times of ends, and the sums of these."""

_PROGRAM = named(MaskedProgram, *[I32] * 4, U8)

_ENDS = named(MaskedEnds, *[I32] * 3, U8, I64_2)

_ROOMS = named(masked_teams.MaskedRooms, I64_3, I64_3, I64_3, I64_2, I64, I64)

_UNITS = named(teams.AbreastUnits, *[I64] * 3)

ABREAST = tuple(
    (
        *(named(Edges, *[I32] * 5, I64_2), named(Spans, I64, keys), I64, _events(keys, at), _UNITS),
        *(named(teams.AbreastRooms, I64_2, I64, I64), I64, _sums(ats)),
    )
    for keys, at, ats in _KEYED
)

MASKED = tuple(
    (_PROGRAM, _PROGRAM, _ENDS, _events(keys, at), keys, _UNITS, _ROOMS, U8, _sums(ats))
    for keys, at, ats in _KEYED
)

CARRIED = tuple(
    (_PROGRAM, _ENDS, _events(U64, at), I64, I64, I64_3, _ROOMS, U8, _sums(ats)) for at, ats in _TIMES
)
