"""The memory of the host: how much a run may keep, and the error when it runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import ref

from cer_gpu.engine.free_memory import free_memory
from cer_gpu.errors import LimitError
from cer_gpu.plan.compiled_query import WindowPlan

KEPT = 3 << 26
"""If no `memory` is given, events and keys may take this many bytes before unused ones are searched."""

SHARE = 4
"""If no `memory` is given, events and keys may take a quarter of the free memory, and at least `KEPT`. Beyond
it, partitions that had no row for long are put on disk (`cer_gpu.engine.read.intake.Intake.put_away`)."""

RESERVE = 1 << 27
"""Free memory that a run without `memory` leaves alone."""

LIGHT = 1 << 26
"""Arrays of up to this many bytes are made without a look at the free memory."""


class Allowance:
    """How much a run may keep for later events, and what happens if it is more.

    Parameters
    ----------
    memory : int or None
        Bytes that the run may take. None: what is no longer needed is searched for and dropped once more than
        `KEPT` is kept, and again whenever that has grown by half.
    """

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self._full = KEPT if memory is None else memory

    def keep_to(
        self,
        nbytes: Callable[[], int],
        drop: Callable[[], None],
        put_away: Callable[[int], None],
        what: Callable[[], str],
    ) -> None:
        """Drop what is not needed, if too much is kept.

        Parameters
        ----------
        nbytes : callable
            The bytes that are kept.
        drop : callable
            Drops what is known not to be needed.
        put_away : callable
            Puts partitions on disk, if it can: at least as many bytes as it is given.
        what : callable
            Names what is kept, for the message: "1,000 events may ..., since ...".

        Raises
        ------
        LimitError
            If more is kept than is allowed.
        """
        if nbytes() <= self._full:
            return
        drop()
        size, before = nbytes(), None
        most = self._most(size)
        # Well below the limit, or the next batch is too much again; more than once, because tables of keys
        # shrink in steps.
        while 4 * size > 3 * most and size != before:
            put_away(max(size - most, 0))
            before, size = size, nbytes()
        if self._memory is None:
            self._full = max(KEPT, 3 * size // 2)
        elif size > self._memory:
            raise LimitError(
                f"{what()}: with their keys they take {size:,} bytes, and memory={self._memory:,} is "
                "allowed: narrow WITHIN or the filters, or allow more"
            )

    def _most(self, size: int) -> int:
        """Bytes that may stay in memory, of which `size` are taken now."""
        if self._memory is not None:
            return self._memory
        return max(KEPT, (size + (free_memory() or 0)) // SHARE)


class SizedObject(Protocol):
    """What knows how many bytes it takes."""

    @property
    def nbytes(self) -> int:
        """The bytes."""
        ...


class Headroom:
    """What a machine may still take while it follows events.

    A machine that makes more for an event, the more is open, asks before its arrays grow. What any other one
    makes of the events at hand is bound by these; it looks at its stops whether the memory is nearly gone.

    Parameters
    ----------
    memory : int or None
        Bytes that partial matches may take; None: what the machine has free.
    machine : object, optional
        Whose `nbytes` are what it has taken by now.
    """

    def __init__(self, memory: int | None, machine: SizedObject | None = None) -> None:
        self.memory = memory
        # A machine keeps what it was told last: no circle, which would keep its memory for a while.
        self._machine = None if machine is None else ref(machine)

    def _taken(self) -> int:
        machine = None if self._machine is None else self._machine()
        return 0 if machine is None else machine.nbytes

    def check(self) -> None:
        """Raise if more is open than `memory` allows, or the memory is nearly gone.

        Raises
        ------
        LimitError
        """
        if self.is_exceeded:
            raise self._too_little(self._taken(), _narrower)
        self.check_free()

    @property
    def is_exceeded(self) -> bool:
        """Whether more is open than `memory` allows."""
        return self.memory is not None and self._taken() > self.memory

    def check_free(self) -> None:
        """Raise if the memory is nearly gone, and the machine has taken much of it.

        Raises
        ------
        LimitError
        """
        size = self._taken()
        if size > LIGHT and (free := free_memory()) is not None and free < RESERVE:
            raise LimitError(
                _narrower(f"open partial matches take {size:,} bytes, and hardly any memory is free")
            )

    def rows(self, wanted: int, least: int, row: int, advised: Callable[[str], str]) -> int:
        """How many rows an array may have that replaces a smaller one.

        Parameters
        ----------
        wanted, least : int
            Rows that would be good to have, and those without which nothing goes on.
        row : int
            Bytes of a row.
        advised : callable
            Says with a message what can be done.

        Raises
        ------
        LimitError
            If there is no memory for `least`.
        """
        if wanted * row <= (LIGHT if self.memory is None else min(LIGHT, self.memory // SHARE**2)):
            return wanted
        free = self._free()
        if free is None:
            return wanted
        fitting = max(free, 0) // row
        if fitting < least:
            taken = 0 if self.memory is None else self._taken()
            raise self._too_little(taken + least * row, advised)
        return min(wanted, fitting)

    def _free(self) -> int | None:
        if self.memory is not None:
            return self.memory - self._taken()
        free = free_memory()
        return None if free is None else free - RESERVE

    def _too_little(self, size: int, advised: Callable[[str], str]) -> LimitError:
        if self.memory is not None:
            most = f"memory={self.memory:,} is allowed"
        else:
            most = f"{max(self._free() or 0, 0):,} are free on this machine"
        what = "open partial matches, and those that end at the current events, need"
        return LimitError(advised(f"{what} {size:,} bytes, and {most}"))


def _narrower(what: str) -> str:
    return (
        f"{what}: narrow WITHIN or the filters, divide the stream (PARTITION BY), or ask for hits, which "
        "keep less than matches"
    )


NO_BOUND = Headroom(None)
"""Memory that nothing is known of but what the machine has free."""


def still_needed(count: int, window: WindowPlan | None) -> str:
    """Names what is kept, for a message: events of open windows."""
    why = "the window of the query is that long"
    if window is None:
        why = "the query has no window"
    elif window.kind == "attribute":
        name = window.attribute
        why = f"the values of `{name}` may fall (order_by={name!r} promises that they do not)"
    return f"{count:,} events may still be part of a match, since {why}"


@contextmanager
def within_memory(doing: str) -> Iterator[None]:
    """Turn a MemoryError of any library into a LimitError, inside a `with` block.

    Parameters
    ----------
    doing : str
        What the memory was needed for: "reading trades.parquet".

    Raises
    ------
    LimitError
        With what to change.
    """
    try:
        yield
    except MemoryError as error:
        # NumPy and Arrow say how much they asked for; Python says nothing.
        asked = f" ({error})" if str(error) else ""
        raise LimitError(
            f"the memory of this machine ran out while {doing}{asked}: limit what the run "
            "takes with memory= (--memory), narrow WITHIN or the filters, or take the matches batch by batch "
            "(`batches()`, or an output file)"
        ) from error
