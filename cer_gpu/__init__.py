"""cer-gpu: complex event recognition over history.

`compile` a query, then ask for its `run`, `count`, `counts` or `hits` over events in Arrow form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cer_gpu.errors import CerError, DataError, DeviceError, Diagnostic, LimitError, QueryError

if TYPE_CHECKING:
    from cer_gpu.api import Query, compile
    from cer_gpu.engine.answers.matches import ComplexEvent, Matches
    from cer_gpu.engine.run.device_report import DeviceReport, device_report

_LATE = {
    "Query": "cer_gpu.api",
    "compile": "cer_gpu.api",
    "DeviceReport": "cer_gpu.engine.run.device_report",
    "device_report": "cer_gpu.engine.run.device_report",
    "ComplexEvent": "cer_gpu.engine.answers.values",
    "Matches": "cer_gpu.engine.answers.matches",
}

__all__ = [
    "CerError",
    "ComplexEvent",
    "DataError",
    "DeviceError",
    "DeviceReport",
    "Diagnostic",
    "LimitError",
    "Matches",
    "Query",
    "QueryError",
    "compile",
    "device_report",
]


def __getattr__(name: str) -> Any:
    # Importing the package stays cheap: the parser and the engine are loaded when they are first used.
    if name == "__version__":
        from cer_gpu.engine.versions import own_version

        return own_version()
    if name in _LATE:
        from importlib import import_module

        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'cer_gpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
