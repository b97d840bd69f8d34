"""A row of the tables in this folder: `Fault`."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault that `make test-mutants` plants.

    Attributes
    ----------
    file : str
        The file in which it is planted, from the top of the checkout.
    right : str
        What stands there, exactly once.
    wrong : str
        What is put in its place.
    rule : str
        The rule that the fault breaks.
    tests : tuple of str
        What catches it: files in `tests`, or tests of them as pytest names them, that run by default. The
        quickest comes first.
    """

    file: str
    right: str
    wrong: str
    rule: str
    tests: tuple[str, ...]
