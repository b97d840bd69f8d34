"""The parts of a run that devices take over: the classification of rows, and the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cer_gpu.engine.devices import tried
from cer_gpu.plan.compiled_query import CompiledQuery, Product

if TYPE_CHECKING:
    from cer_gpu.engine.machines.machine import MachineRunner
    from cer_gpu.engine.read.classify import Classifier
    from cer_gpu.engine.workers import Workers


class DeviceParts(NamedTuple):
    """What devices do of a run.

    Attributes
    ----------
    classifier : Classifier
        Finds relevant events.
    runner : MachineRunner
    carries : bool
        Whether the runner carries registers from chunk to chunk.
    """

    classifier: Classifier
    runner: MachineRunner
    carries: bool


def device_parts(
    query: CompiledQuery,
    product: Product,
    units: dict[str, str],
    workers: Workers,
    numbers: tuple[int, ...],
    also: tuple[str, ...],
) -> DeviceParts | None:
    """What devices do of a run; None where they have no memory for the query, or are lost.

    Parameters
    ----------
    query : CompiledQuery
        With the machine of the product.
    product : {"run", "count", "counts", "hits"}
    units : dict of str to str
        The units of the time columns.
    workers : Workers
    numbers : tuple of int
        The numbers of the devices.
    also : tuple of str
        Columns that are copied to the device with those that the classification reads.
    """
    carries = query.carries and product != "run"
    if "carried" in query.traits.order and not query.traits.symbols_alone:
        carries = False  # a device runs lane by lane

    def made() -> DeviceParts:
        from cer_gpu.engine.cuda.classify import CudaClassifier
        from cer_gpu.engine.cuda.machines import runner_of

        classifier = CudaClassifier(query.reading, units, workers, device=numbers[0], also=also)
        return DeviceParts(classifier, runner_of(query, workers, carries, numbers), carries)

    return tried(made)
