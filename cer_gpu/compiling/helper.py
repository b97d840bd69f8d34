"""A process that compiles kernels for another one: `main`.

Numba compiles one kernel at a time and cannot be interrupted, and importing it takes longer than most counts:
so it runs in processes beside the one that needs a kernel, several at a time, which are killed on Ctrl-C.

Every line that comes in is a JSON object `{"kernel", "kinds", "kept"}`; every line that goes out is one with
`{"about", "code"}`, or `{"failed"}` with the reason. The process ends when its input does.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from typing import Any, TextIO

from cer_gpu.compiling.kernel import kernel_named
from cer_gpu.compiling.kinds import from_json


def main() -> None:
    """Answer the requests of standard input on standard output, where nothing else is written."""
    out, sys.stdout = sys.stdout, sys.stderr
    serve(sys.stdin, out)


def serve(lines: TextIO, out: TextIO) -> None:
    """Answer requests until there are no more."""
    while line := lines.readline():
        out.write(json.dumps(_answer(json.loads(line))) + "\n")
        out.flush()


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        kernel, kinds = kernel_named(asked["kernel"]), from_json(asked["kinds"])
        if kernel is None or kernel.kept_as(kinds) != asked["kept"]:
            return {"failed": "it is not the kernel of that name"}
        about, code = kernel.compiled(kinds)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"about": about, "code": b64encode(code).decode()}
