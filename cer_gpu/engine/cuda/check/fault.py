"""What is wrong with a device, as data: it is said in errors and reports, and kept on disk."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a device.

    Attributes
    ----------
    family : str
        The family of kernels whose answer is wrong.
    kernels : tuple of str
        Those to blame: launched for this answer and for none before it that was right; or the one that
        raised. Empty where an error came from none of them.
    difference : str
        The first number that is not the CPU's, or the error, in one line.
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
        """The fault as JSON has it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: object) -> Fault:
        """The fault that `to_dict` has described.

        Raises
        ------
        ValueError
            Where it is no such description.
        """
        match told:
            case {"family": str(family), "kernels": list(kernels), "difference": str(difference)}:
                if all(isinstance(name, str) for name in kernels):
                    return cls(family, tuple(kernels), difference)
        raise ValueError(f"no fault: {told!r}")
