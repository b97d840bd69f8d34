"""The result of a check as data: errors and reports print it, processes send it, and it is stored on disk."""

from __future__ import annotations

from dataclasses import asdict

from cer_gpu.engine.cuda.check.speed import DeviceSpeed
from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a device.

    Attributes
    ----------
    family : str
        The family of kernels whose answer is wrong.
    kernels : tuple of str
        The kernels to blame: those launched for this answer and for no earlier answer that was right, or the
        one that raised an error. Empty where an error came from no kernel.
    difference : str
        The first number that differs from the CPU's, or the error, in one line.
    """

    family: str
    kernels: tuple[str, ...]
    difference: str

    def __str__(self) -> str:
        if not self.kernels:
            return f"{self.family}: {self.difference}"
        noun = "kernel" if len(self.kernels) == 1 else "kernels"
        return f"{noun} {', '.join(self.kernels)} ({self.family}): {self.difference}"

    def to_dict(self) -> dict[str, object]:
        """The fault as a dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: object) -> Fault:
        """The fault from the dict that `to_dict` returned.

        Raises
        ------
        ValueError
            For anything else.
        """
        match told:
            case {"family": str(family), "kernels": list(kernels), "difference": str(difference)}:
                if all(isinstance(name, str) for name in kernels):
                    return cls(family, tuple(kernels), difference)
        raise ValueError(f"not a fault: {told!r}")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes
    ----------
    fault : Fault or None
        None if every answer is the same as the CPU's.
    kernels : tuple of str
        The kernels that were launched, in the order of their first launch.
    speed : DeviceSpeed or None
        None if it was not measured: there is a fault, or no device.
    """

    fault: Fault | None
    kernels: tuple[str, ...]
    speed: DeviceSpeed | None = None

    def to_dict(self) -> dict[str, object]:
        """The result as a dict that JSON can hold."""
        return asdict(self)
