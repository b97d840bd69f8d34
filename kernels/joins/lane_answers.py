"""What kernels find of the answers of rules lane by lane, and scratch; `contract` has what they read."""

from typing import NamedTuple

import numpy as np


class LaneScratch(NamedTuple):
    """Scratch of the expansion of lanes.

    =========  ====================  =====================================================================
    `kept`     int32 [room]          the rows from which the answers at an end are made
    `of_atom`  int32 [atoms, room]   the same, by atom
    `number`   int64 [atoms]         how many of each atom there are
    `passed`   int64 [atoms]         how many of these are not after the start
    `choice`   int64 [atoms]         the rows of an answer: the end, the start, the others
    `at`       int64 [atoms]         the next to choose for each of the others
    `others`   int64 [atoms]         the atoms that neither the end nor the start fills
    =========  ====================  =====================================================================
    """

    kept: np.ndarray
    of_atom: np.ndarray
    number: np.ndarray
    passed: np.ndarray
    choice: np.ndarray
    at: np.ndarray
    others: np.ndarray


class LaneEnds(NamedTuple):
    """Ends in the order of the stream, with their answers in canonical order.

    ========  =====================  ====================================================================
    `end`     int64 [events]         where answers end
    `latest`  int64 [events]         the latest start of one
    `lowest`  int64 [events]         the least event that the window admits
    `begin`   int64 [events + 1]     end e has the answers begin[e] .. begin[e + 1] - 1
    `event`   int32 [room, atoms]    the event of each atom
    `start`   int32 [room]           the least event of each answer
    ========  =====================  ====================================================================
    """

    end: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray
    begin: np.ndarray
    event: np.ndarray
    start: np.ndarray


class CopiedAnswers(NamedTuple):
    """Answers as blocks have them: int64 [rows], [rows], [rows, atoms]."""

    hit: np.ndarray
    start: np.ndarray
    event: np.ndarray
