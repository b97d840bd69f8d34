"""Compute the CPU's answers for the inputs of the check, and store them in the package.

Each family is run as in a check, so it needs a device; a virtual one will do:
`python -m virtual_device -m cer_gpu.engine.cuda.check`.
"""

from __future__ import annotations

import lzma
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import numpy as np

from cer_gpu.engine.cuda.check.comparison import SIMULATED
from cer_gpu.engine.cuda.check.cpu_answers import FILE, PACKAGE
from cer_gpu.engine.cuda.check.families import FAMILIES
from cer_gpu.engine.cuda.check.inputs import Inputs


def computed(inputs: Inputs) -> dict[str, np.ndarray]:
    """The answers that the CPU computes now; those of the device are not looked at."""
    for family in FAMILIES:
        for _ in family.answers(inputs):
            pass
    return {f"{inputs.lane.threads} threads, {name}": each for name, each in inputs.cpu.computed.items()}


if __name__ == "__main__":
    written = BytesIO()
    np.savez(written, **computed(Inputs()), **computed(Inputs(SIMULATED, SIMULATED)))  # type: ignore[arg-type]
    Path(str(files(PACKAGE).joinpath(FILE))).write_bytes(lzma.compress(written.getvalue()))
