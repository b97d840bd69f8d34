"""How the values that partial matches keep are held in words of 64 bits, and how they are worked out.

`SUM(x.v) > y.v + 2` reads two operands, the register of the sum and a value of y. Its `ComparisonProgram` is
a list of instructions for a stack, as `cer_gpu.kernels.configurations.contract.Programs` has them, in which
an operand stands for the words that hold it: two for a running sum of whole numbers.
"""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple, TypeAlias

from cer_gpu.frozen_dataclass import dataclass

OPERAND, TEXT = "OPERAND", "TEXT"
"""Instructions whose argument is the number of an operand, or of a text in `HeldWords.texts`."""

WITHIN_TEXTS = {"CONTAINS": "CONTAINS", "STARTS_WITH": "BEGINS", "ENDS_WITH": "ENDS"}
"""The instruction of each function that looks for a text in another."""

Code: TypeAlias = tuple[tuple[str, int], ...]
"""Instructions by name, each with its argument."""

Word: TypeAlias = Literal["whole", "real", "rank"]
"""A whole number, a float, or the place among all values that are held: of texts, and of exact numbers that
are compared with each other alone."""


class ComparisonProgram(NamedTuple):
    """A comparison as instructions.

    Attributes
    ----------
    code : tuple of (str, int)
    fills : bool
        Whether COALESCE replaces a null.
    """

    code: Code
    fills: bool = False


class JointProgram(NamedTuple):
    """An expression over several variables as instructions.

    Attributes
    ----------
    code : tuple of (str, int)
    word : str
        What holds its value.
    fills : bool
        Whether COALESCE replaces a null.
    about : str
        The expression, for messages.
    """

    code: Code
    word: Word
    fills: bool
    about: str


@dataclass(frozen=True, slots=True)
class HeldWords:
    """The values that are held, and how.

    Attributes
    ----------
    words : tuple of str
        For each column of values.
    workings : tuple of (Working or None)
        For each comparison; None if it compares one pair of values.
    texts : tuple of str
        The texts in comparisons.
    spans : tuple of (int, float) or None
        For a window over an attribute: its column, and its size in the unit of the column.
    joint : tuple of JointProgram
        For each expression over several variables that is aggregated.
    """

    words: tuple[Word, ...]
    workings: tuple[ComparisonProgram | None, ...]
    texts: tuple[str, ...] = ()
    spans: tuple[int, int | float] | None = None
    joint: tuple[JointProgram, ...] = ()

    @property
    def reads_texts(self) -> bool:
        """Whether instructions read what stands in texts, not only their order."""
        return any(name in WITHIN_TEXTS.values() for one in self.workings if one for name, _ in one.code)

    @property
    def works(self) -> bool:
        """Whether there are instructions to run."""
        return any(one is not None for one in self.workings) or self.spans is not None


def bits_of(real: float) -> int:
    """The bits of a float as a whole number."""
    found: int = struct.unpack("<q", struct.pack("<d", real))[0]
    return found
