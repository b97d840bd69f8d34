"""The random queries of `whole_cases`, asked of a device: `python tests/device_cases.py --cases 100000`.

Here they run on a virtual device, whose streams are as late as they may be and whose threads run in a random
order; what it finds wrong in a launch counts as a wrong answer. Half of the queries run in
tiny batches and blocks, and all thresholds below which the engine leaves events to the CPU are 1.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from virtual_device import Settings, install, installed, refusal

if refusal() is None:
    install(Settings(lazy=True, order="random"))

import pytest
import whole_cases
from campaign import run
from cer_gpu.kernels.device.jit import KernelLauncher
from test_cuda_devices import small

from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.machines import comparisons, general, units
from cer_gpu.engine.run import options
from cer_gpu.engine.run.device_choice import asked_devices


def of_query(seed: str, number: int) -> Counter[str]:
    """What was compared of one query on its streams, on the device, and how many launches there were."""
    launches: Counter[str] = Counter()
    configured = KernelLauncher.__getitem__

    def counted(kernel: KernelLauncher, configuration: tuple[int, ...]) -> object:
        launches["launches"] += 1
        return configured(kernel, configuration)

    device = installed()
    with pytest.MonkeyPatch.context() as patch:
        if Random(f"device {seed} {number}").random() < 0.5:
            small(patch)
        for module in (units, comparisons, general):
            patch.setattr(module, "LEAST", 1)
        patch.setattr(findings, "fault_of", lambda number, *engines: None)
        patch.setattr(options, "asked_devices", lambda device: asked_devices("cuda"))
        patch.setattr(KernelLauncher, "__getitem__", counted)
        if device is not None:
            device.reset()
        done = whole_cases.of_query(seed, number) + launches
        done["queries that launched kernels"] += bool(launches)
    for fault in device.faults() if device is not None else []:
        sys.stdout.write(f"query {number} on the device: {fault}\n")
        done["WRONG"] += 1
    return done


if __name__ == "__main__":
    sys.exit(run(__file__, __doc__, of_query))
