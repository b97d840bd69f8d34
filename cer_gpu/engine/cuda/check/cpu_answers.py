"""What the CPU answers for the inputs of the check: stored, so that a check compiles no kernel of the CPU.

`python -m cer_gpu.engine.cuda.check` writes them.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from io import BytesIO
from itertools import takewhile
from typing import Any

import numpy as np

PACKAGE = "cer_gpu.engine.cuda.check"
FILE = "cpu_answers.npz.xz"


class CpuAnswers:
    """The CPU's answers, by name: those that are stored, or what the CPU computes when it is asked.

    Parameters
    ----------
    stored : mapping of str to ndarray, optional
        By default nothing is stored.

    Attributes
    ----------
    stored : mapping of str to ndarray, or None
    computed : dict of str to ndarray
        What the CPU has computed.
    """

    def __init__(self, stored: Mapping[str, np.ndarray] | None = None) -> None:
        self.stored = stored
        self.computed: dict[str, np.ndarray] = {}

    def __call__(
        self, name: str, compute: Callable[..., Sequence[np.ndarray]], *arguments: Any
    ) -> list[np.ndarray]:
        """The arrays of an answer.

        Parameters
        ----------
        name : str
            Of this answer alone.
        compute : callable
            Called with the arguments where the answer is not stored.
        """
        if self.stored is not None:
            places = range(len(self.stored))
            return [self.stored[key] for key in takewhile(self.stored.__contains__, _keys(name, places))]
        found = list(compute(*arguments))
        self.computed |= {key: np.array(each) for key, each in zip(_keys(name, range(len(found))), found)}
        return found


def _keys(name: str, places: Iterable[int]) -> Iterator[str]:
    return (f"{name}: {place}" for place in places)


def stored_answers(threads: int) -> CpuAnswers:
    """The stored answers for inputs whose blocks have so many threads.

    Parameters
    ----------
    threads : int
        Of a block with a thread for each segment: as a check launches them, on a device or in the simulator.
    """
    begin = f"{threads} threads, "
    content = files(PACKAGE).joinpath(FILE).read_bytes()
    with np.load(BytesIO(lzma.decompress(content))) as stored:
        return CpuAnswers(
            {name.removeprefix(begin): stored[name] for name in stored.files if name.startswith(begin)}
        )
