"""Chooses the device of a task. Every task chooses again: Spark may give a reused worker another GPU."""

from __future__ import annotations

import os
from typing import Any

from cer_gpu.engine import devices
from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.run import device_choice
from cer_gpu.errors import DeviceError
from cer_gpu.printable_text import brief

GPU_MODES = ("auto", "required", "off")


def device_of_task(mode: str, context: Any, *engines: str) -> tuple[str, str]:
    """The device of a task, and a reason for the log.

    CUDA_VISIBLE_DEVICES of the executor comes first, then the GPU that Spark gave the task, then, in local
    mode, a GPU by the number of the partition.

    Parameters
    ----------
    mode : {"auto", "required", "off"}
    context : TaskContext or None
        None outside a task.
    engines : str
        What runs its queries, as for `device_choice.why_wrong`.

    Returns
    -------
    device : str
        "cpu" or "cuda:N".
    reason : str
        Why it is the CPU although a GPU was looked for; else empty.

    Raises
    ------
    DeviceError
        When a GPU is required and cannot be used, was lost in this process, or computes wrong answers. Spark
        then runs the task again in a new process.
    """
    if mode == "off":
        return "cpu", ""
    addresses = addresses_of(context)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    named = bool(addresses) or visible not in (None, "")
    # Without a word about GPUs from anywhere the driver is asked, which takes no time.
    if mode == "auto" and not named and devices.no_driver() is not None:
        return "cpu", ""
    count, absent = devices.usable_devices()
    if (loss := device_loss()) is not None:
        count, absent = 0, str(loss)
    if not count:
        if mode == "required":
            raise DeviceError(f"spark.cer.gpu=required, and the task has no GPU: {absent}")
        return "cpu", f"a task runs on the CPU: {absent}"
    number = number_of(visible, addresses, _partition(context), count)
    fault = device_choice.why_wrong(number, *engines)
    if fault is None:
        return f"cuda:{number}", ""
    if mode == "required":
        raise DeviceError(f"spark.cer.gpu=required, and the GPU of the task cannot be used: {fault}")
    return "cpu", f"a task runs on the CPU: {fault}"


def number_of(visible: str | None, addresses: list[str], partition: int, count: int) -> int:
    """The number of a task's device among those that its process sees.

    Parameters
    ----------
    visible : str or None
        CUDA_VISIBLE_DEVICES.
    addresses : list of str
        The GPUs that Spark gave the task.
    partition : int
        The number of its partition.
    count : int
        How many devices the process sees.

    Raises
    ------
    DeviceError
        When Spark gave a GPU that the process does not see.
    """
    confined = [name.strip() for name in visible.split(",")] if visible else []
    if confined:
        # The process sees only these, numbered from 0 on.
        both = [confined.index(name) for name in addresses if name in confined]
        return both[0] if both else partition % len(confined) % count
    if addresses:
        if not addresses[0].isdecimal() or int(addresses[0]) >= count:
            raise DeviceError(
                f"Spark gave the task the GPU {brief(addresses[0])}, and its process sees {count} GPUs: "
                "the discovery script must print the indices that nvidia-smi shows"
            )
        return int(addresses[0])
    return partition % count


def addresses_of(context: Any) -> list[str]:
    """The GPUs that Spark gave a task."""
    gpu = context.resources().get("gpu") if context is not None else None
    return list(gpu.addresses) if gpu is not None else []


def _partition(context: Any) -> int:
    return int(context.partitionId()) if context is not None else 0
