"""Searches for matches with conditions on the match so far: `Search`."""

from __future__ import annotations

import numpy as np

from cer_gpu.cores import usable_cores
from cer_gpu.errors import DataError, LimitError
from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.kernels.row_patterns import cpu_search

BUDGET = 20_000_000
"""Rows that are tried at most for one start."""

BUDGET_BY_ROWS = 200
"""Rows that are tried at most for all starts of some partitions together, besides `BUDGET` and those of the
matches that are found, for each row of the table."""

REMEMBERED = 1 << 26
"""Words about what has failed that all threads together keep at most, 512 MB; beyond its part, a thread
forgets and starts anew."""


class Search:
    """A search through neighbouring partitions, and what it works on.

    Parameters
    ----------
    choices : ChoiceLists
    rows : PatternRows
    live : (ndarray, ndarray)
        As for the kernel `search`.
    program : SearchProgram
    columns : SearchColumns
    span : int
    skip : SkipRule
    """

    def __init__(
        self,
        choices: k.ChoiceLists,
        rows: k.PatternRows,
        live: tuple[np.ndarray, np.ndarray],
        program: k.SearchProgram,
        columns: k.SearchColumns,
        span: int,
        skip: k.SkipRule,
    ) -> None:
        self._choices = choices
        self._rows = rows
        self._live = live
        self._program = program
        self._columns = columns
        self._span = span
        self._skip = skip
        self._memory = _memory(program, 1 << 8, 1 << 10)
        self._budget = BUDGET + BUDGET_BY_ROWS * len(rows.masks)
        self._forgot = -1
        """The start for which all that had failed was forgotten, to make room."""

    def step(self, room: k.MatchRoom, at: np.ndarray) -> int:
        """Search on until all is done, a room is full, or AFTER MATCH SKIP cannot be followed.

        Raises
        ------
        LimitError
            When a start takes more than `BUDGET` rows, or all together take too many.
        DataError
            When a condition depends on a number that does not fit 64 bits.
        """
        while True:
            status = cpu_search.search(
                self._choices,
                self._rows,
                self._live,
                self._program,
                self._columns,
                self._memory,
                self._span,
                (BUDGET, self._budget),
                self._skip,
                room,
                at,
            )
            if status == k.DEEP:
                self._memory = self._with_depth(2 * len(self._memory.path))
            elif status == k.CROWDED:
                self._remember_more(int(at[k.ROW]))
            elif status == k.OVER_BUDGET:
                if self._memory.held[3] > self._budget:
                    raise _too_long(
                        f"more than {self._budget:,} rows were tried", "all starts of matches together"
                    )
                raise _too_long(f"more than {BUDGET:,} rows were tried")
            elif status == k.OVERFLOW:
                raise DataError(
                    "a sum or a product in DEFINE does not fit 64 bits: compute it as a float, with "
                    "CAST(... AS DOUBLE)"
                )
            else:
                return int(status)

    def _with_depth(self, depth: int) -> k.SearchMemory:
        larger = _memory(self._program, depth, 1)
        return larger._replace(failed=self._memory.failed, held=self._memory.held)

    def _remember_more(self, start: int) -> None:
        failed, held = self._memory.failed, self._memory.held
        if 2 * failed.size > REMEMBERED // usable_cores():
            if start == self._forgot:
                raise _too_long(f"more than {held[1]:,} choices failed")
            self._forgot = start
            held[0] += 1
            held[1] = 0
            return
        self._memory = self._memory._replace(
            failed=np.zeros((2 * len(failed), failed.shape[1]), np.int64),
            held=np.array([held[0], 0, *held[2:]], np.int64),
        )
        cpu_search.remember_all(self._memory, failed, int(held[0]))


def _too_long(what: str, where: str = "one start of a match") -> LimitError:
    return LimitError(
        f"for {where} {what}: bound the pattern, with {{n,m}} in place of *, with a condition "
        "that rows far away do not meet, or with WITHIN"
    )


def _memory(program: k.SearchProgram, depth: int, places: int) -> k.SearchMemory:
    """Fresh memory for matches of so many rows."""
    size = len(program.begins)
    registers = np.zeros((depth + 1, size), np.int64)
    cells = np.zeros(max(len(program.code), 1), np.int64)
    return k.SearchMemory(
        registers,
        registers.view(np.float64),
        cells,
        cells.view(np.float64),
        np.zeros(len(cells), np.uint8),
        np.zeros(depth + 1, np.int64),
        np.zeros(depth, np.int32),
        np.zeros((places, 3 + size), np.int64),
        np.array([1, 0, -1, 0], np.int64),
    )
