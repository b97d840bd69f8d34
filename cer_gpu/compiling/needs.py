"""The kernels that a kind of query needs, which are compiled together: `needed`. Those of common queries.

`needs.json`, among the kernels, lists them for every purpose. A purpose, such as `automaton count events
keyed`, is the machine, what is asked of it, what its window measures, and whether it has a key. The file is
written by running a small query of each kind (`python -m cer_gpu.warm`). It is only a hint: a kernel that it
does not list is compiled when it is called.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from cer_gpu.compiling.kinds import Kind, from_json

PACKAGE, FILE = "cer_gpu.kernels", "needs.json"

Need = tuple[str, tuple[Kind, ...]]
"""A kernel by its name, and the kinds of its arguments."""


class Needs(NamedTuple):
    """The kernels that queries need.

    Attributes
    ----------
    purposes : dict of str to list of Need
        Those of each purpose.
    common : list of Need
        Those of the queries that are asked most.
    """

    purposes: dict[str, list[Need]]
    common: list[Need]


@cache
def needs() -> Needs:
    """The kernels that queries need, as the file lists them; none without the file."""
    file = files(PACKAGE).joinpath(FILE)
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Needs({}, [])
    named = [(name, from_json(kinds)) for name, kinds in found["kernels"]]

    def of(numbers: list[int]) -> list[Need]:
        return [named[number] for number in numbers]

    return Needs({name: of(numbers) for name, numbers in found["purposes"].items()}, of(found["common"]))


def needed(purpose: str) -> list[Need]:
    """The kernels that a purpose is known to need; for an unknown purpose, those of similar ones."""
    known = needs().purposes
    if purpose in known:
        return known[purpose]
    words = purpose.split()

    def similar(name: str) -> bool:
        other = name.split()
        return other[:2] == words[:2] and ("looking" in words or "looking" not in other)

    return list(dict.fromkeys(need for name, named in known.items() if similar(name) for need in named))


def text_of(found: Needs) -> str:
    """The text of the file: a line for each kernel, and for each purpose the numbers of its kernels."""
    named = sorted({need for some in (*found.purposes.values(), found.common) for need in some}, key=repr)
    number = {need: place for place, need in enumerate(named)}

    def numbers(some: list[Need]) -> str:
        return json.dumps(sorted(number[need] for need in some))

    kernels = ",\n".join(json.dumps(need) for need in named)
    purposes = ",\n".join(
        f"{json.dumps(purpose)}: {numbers(some)}" for purpose, some in sorted(found.purposes.items())
    )
    common = f'"common": {numbers(found.common)}'
    return f'{{"kernels": [\n{kernels}\n],\n{common},\n"purposes": {{\n{purposes}\n}}}}\n'
