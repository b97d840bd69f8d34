"""The kernels that a kind of query needs, which are compiled together: `needed`.

`needs.json`, among the kernels, lists them for every purpose. A purpose, such as `automaton count events
keyed`, is the machine, what is asked of it, what its window measures, and whether it has a key. The file is
written by running a small query of each kind (`python -m cer_gpu.warm`). It is only a hint: a kernel that it
does not list is compiled when it is called.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from cer_gpu.compiling.kinds import Kind, from_json

PACKAGE, FILE = "cer_gpu.kernels", "needs.json"

Need = tuple[str, tuple[Kind, ...]]
"""A kernel by its name, and the kinds of its arguments."""


@cache
def needs() -> dict[str, list[Need]]:
    """The kernels that each purpose needs."""
    file = files(PACKAGE).joinpath(FILE)
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    named = [(name, from_json(kinds)) for name, kinds in found["kernels"]]
    return {purpose: [named[number] for number in numbers] for purpose, numbers in found["purposes"].items()}


def needed(purpose: str) -> list[Need]:
    """The kernels that a purpose is known to need; for an unknown purpose, those of similar ones."""
    known = needs()
    if purpose in known:
        return known[purpose]
    words = purpose.split()

    def similar(name: str) -> bool:
        other = name.split()
        return other[:2] == words[:2] and ("looking" in words or "looking" not in other)

    return list(dict.fromkeys(need for name, named in known.items() if similar(name) for need in named))


def text_of(found: dict[str, list[Need]]) -> str:
    """The text of the file: a line for each kernel, and for each purpose the numbers of its kernels."""
    named = sorted({need for some in found.values() for need in some}, key=repr)
    number = {need: place for place, need in enumerate(named)}
    kernels = ",\n".join(json.dumps(need) for need in named)
    purposes = ",\n".join(
        f"{json.dumps(purpose)}: {json.dumps(sorted(number[need] for need in some))}"
        for purpose, some in sorted(found.items())
    )
    return f'{{"kernels": [\n{kernels}\n],\n"purposes": {{\n{purposes}\n}}}}\n'
