"""The CPU backend of iterations with a threshold on an aggregate: the hits of chunks, unit by unit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cer_gpu.engine.machines.unit_runner import ChunkUnit, EndsRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.ordered_values import OrderedValues
from cer_gpu.engine.words import floats_of, unsigned_of
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import FarSumError
from cer_gpu.kernels.comparisons.contract import NO_VALUE
from cer_gpu.kernels.thresholds import cpu_extremes, cpu_sums
from cer_gpu.kernels.thresholds.contract import MEAN, SUM, TOO_LARGE, AggregatedEvents, AggregateThreshold
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.threshold_machine import AggregateThresholdMachine

PLAIN = 2**53
"""Whole numbers below it are floats, and so are their sums."""

HIGHEST = 2**63 - 2**10
"""The greatest float that is a whole number of 64 bits; sums whose parts add up to no more fit them, too."""

NOTHING = np.empty(0)


class PreparedUnit(NamedTuple):
    """A threshold and the events of a unit, in the form that is exact for their values."""

    threshold: AggregateThreshold
    events: AggregatedEvents


class AggregateThresholdRunner(EndsRunner):
    """Finds where the threshold of an iteration is met, over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers

    Attributes
    ----------
    values : OrderedValues
        Gives the words of events, from their rows of slots.
    orders_texts : bool
        False: set with `values`.
    """

    values: OrderedValues
    orders_texts = False

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, AggregateThresholdMachine)
        super().__init__(query, workers)
        self._machine = machine

    def _read(self, events: EventArrays, low: int, high: int) -> PreparedUnit:
        machine = self._machine
        sides, words = self.values.ordered(events.slots[:, low:high])
        there, word = sides[0] != NO_VALUE, words[0]
        places = events.places[low:high] if len(events.places) else events.places
        kind, rests = self.values.kind(0), NOTHING
        if kind == "f":
            values = np.where(there, floats_of(word), np.nan)
            most = float(np.abs(values[there]).max(initial=0.0))
            whole = most * (high - low) < PLAIN and not np.any(values[there] % 1.0)
        else:
            if kind == "u":
                word = unsigned_of(word).view(np.int64)
                if (word[there] < 0).any():
                    raise self._too_large()
            word = np.where(there, word, 0)
            values, whole = np.minimum(word, HIGHEST).astype(np.float64), True
            most = float(np.abs(values).max(initial=0.0))
            if most >= PLAIN or (machine.kind == MEAN and most * (high - low) >= PLAIN):
                rests = (word - values.astype(np.int64)).astype(np.float64) * machine.sign
            values[~there] = np.nan
        return PreparedUnit(
            self._threshold(most, whole, kind, high - low),
            AggregatedEvents(events.symbols[low:high], places, values * machine.sign, rests),
        )

    def _threshold(self, most: float, whole: bool, kind: str, count: int) -> AggregateThreshold:
        """The threshold for `count` values, the largest of the size `most`; `whole`: without fractions."""
        machine = self._machine
        bound, strict = machine.bound
        if machine.kind == MEAN:
            # So far from 2^53, the mean of a sum beyond that of the bound is not rounded to it.
            whole = whole and bound % 1.0 == 0 and (most + abs(bound)) * (count + 1) < PLAIN
        high = float(bound)
        rest = float(bound - int(high)) if isinstance(bound, int) else 0.0
        limit = np.inf if kind == "f" else float(HIGHEST)
        return AggregateThreshold(
            machine.takes, int(machine.contiguous), machine.kind, high, rest, int(strict), int(whole), limit
        )

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        kernel = cpu_sums if self._machine.kind in (SUM, MEAN) else cpu_extremes
        event, start, status = kernel.hits(*unit.events, unit.measured, unit.size, unit.segments)
        if status == TOO_LARGE:
            raise self._too_large()
        return event, start

    def _too_large(self) -> FarSumError:
        return FarSumError(
            f"integer overflow: `{self._machine.about}` may not fit 64 bits; cast the column to float64, "
            "or ask for engine='general'"
        )


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> AggregateThresholdRunner:
    """The runner of an iteration on the CPU; it carries nothing."""
    return AggregateThresholdRunner(query, workers)
