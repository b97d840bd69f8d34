"""The parts of a configuration that the host reads, to work out what an event does to it."""

from __future__ import annotations

from collections.abc import Callable

from cer_gpu.automata.configurations.slots import NOW
from cer_gpu.engine.machines.step_tables import GrowingSteps, KnownSlots
from cer_gpu.kernels.configurations.contract import Groups, StateRows, TimedEvents
from cer_gpu.kernels.configurations.cpu_programs import work_out


def slots_asked(
    steps: GrowingSteps,
    kept: StateRows,
    groups: Groups,
    events: TimedEvents,
    at: tuple[int, int, int],
    too_large: Callable[[int], Exception],
) -> KnownSlots:
    """The slots of a configuration, and the values of an event.

    Parameters
    ----------
    steps : GrowingSteps
    kept : Kept
    groups : Groups
    events : TimedEvents
    at : tuple of int
        The row of the configuration, the event, and its symbol.
    too_large : callable
        Makes the error for an instruction whose integer exceeds 64 bits.
    """
    row, event, symbol = at
    now = groups.now[kept.lane[row]]

    def age(slot: int, measure: int) -> int | float:
        gap: int | float = now[measure].item() - kept.slots[row, slot].item()
        return gap % 2**64 if isinstance(gap, int) else gap

    def value(slot: int, column: int) -> int | float:
        found: int | float
        if steps.tables.real[column]:
            found = (kept.reals[row, slot] if slot >= 0 else events.reals[column, event]).item()
        else:
            found = (kept.bits[row, slot] if slot >= 0 else events.values[column, event]).item()
        return found

    def known(column: int) -> bool:
        return bool(events.known[column, event])

    def worked(slot: int) -> bool:
        steps.note_programs()
        assert steps.programs is not None
        program = NOW - 2 - len(events.values) - slot
        at_fault = work_out(steps.programs, program, kept.bits, row, events.values, event)
        if at_fault >= 0:
            raise too_large(int(at_fault))
        return bool(steps.programs.stack[0])

    return KnownSlots(symbol, age, value, known, steps.tables, worked)
