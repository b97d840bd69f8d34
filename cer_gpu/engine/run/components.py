"""The state of the objects of a run, read and restored by the names of their attributes.

A **component** is an object of one of `MODULES`. Its state is its attributes that are numbers, texts, arrays,
batches, tuples of arrays, or components. Its other attributes come from the query, and are there before the
state is put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from cer_gpu.engine.machines.machine import MachineRunner
    from cer_gpu.engine.read.intake import Intake
    from cer_gpu.engine.run.run_parts import Run

MODULES = frozenset(
    f"cer_gpu.engine.{name}"
    for name in (
        "read.intake", "read.order", "read.lanes", "read.partitions", "read.keys", "read.numbers",
        "read.join_keys", "read.ordered_values", "read.derived_columns", "read.previous_values",
        "read.sources.decimals",
        "machines.prefix", "machines.consume", "machines.suppress",
    )
)  # fmt: skip

_NOT_KEPT = object()


def intake_state(intake: Intake) -> dict[str, Any]:
    """The state of what reads the events of a stream, with the types and streams that occurred."""
    names = intake.classifier.names
    return {
        "parts": _remembered(intake),
        "unseen": {name: sorted(texts) for name, texts in names.unseen.items()},
        "seen": {name: sorted(texts) for name, texts in names.seen.items()},
    }


def resume_intake(intake: Intake, state: dict[str, Any], schema: pa.Schema) -> None:
    """Restore what `intake_state` returned; `schema` is that of the batches."""
    begin_intake(intake, schema)
    _remind(intake, state["parts"])
    names = intake.classifier.names
    for own, kept in ((names.unseen, "unseen"), (names.seen, "seen")):
        own.update({name: set(texts) for name, texts in state[kept].items()})


def run_state(run: Run) -> dict[str, Any]:
    """The state of the parts of a run, but for what follows or cuts its events, whose state comes first."""
    return {
        "intake": intake_state(run.intake),
        "away": [] if run.intake.away is None else run.intake.away.everything(),
        "runner": runner_state(run.runner),
        "outlooks": [] if run.outlooks is None else run.outlooks.state(),
    }


def resume_run(run: Run, state: dict[str, Any], schema: pa.Schema) -> None:
    """Restore what `run_state` returned; `schema` is that of the batches."""
    resume_intake(run.intake, state["intake"], schema)
    if run.intake.away is not None:
        run.intake.away.resume(state["away"])
    resume_runner(run.runner, state["runner"])
    if run.outlooks is not None:
        run.outlooks.resume(state["outlooks"])


def begin_intake(intake: Intake, schema: pa.Schema) -> None:
    """Prepare an intake for batches of a schema: it then has all the parts that have a state."""
    intake.begin(pa.RecordBatch.from_pylist([], schema=schema))


def runner_state(runner: MachineRunner) -> list[dict[str, Any]]:
    """The state of the components of a runner."""
    return list(map(_remembered, _components(runner)))


def resume_runner(runner: MachineRunner, state: list[dict[str, Any]]) -> None:
    """Restore what `runner_state` returned in a runner of the same query."""
    for component, kept in zip(_components(runner), state, strict=True):
        _remind(component, kept)


def _components(runner: Any) -> list[Any]:
    """The components of a runner, and of the one inside it."""
    inner = getattr(runner, "inner", None)
    own = [one for one in vars(runner).values() if _is_component(one)]
    return (
        own if inner is None else [*_components(inner), *(one for one in own if one is not inner.consumption)]
    )


def _is_component(value: Any) -> bool:
    """Whether an object has state that depends on the stream."""
    return type(value).__module__ in MODULES and not isinstance(value, tuple)


def _remembered(component: Any) -> dict[str, Any]:
    """The state of a component, by the names of its attributes."""
    found = {name: _kept(value) for name, value in vars(component).items()}
    return {name: value for name, value in found.items() if value is not _NOT_KEPT}


def _remind(component: Any, state: dict[str, Any]) -> None:
    """Restore a state from `_remembered` in a component of the same query."""
    for name, kept in state.items():
        own = getattr(component, name)
        if _is_component(own):
            _remind(own, kept)
        elif _is_arrays(own):
            setattr(component, name, type(own)(*kept))
        elif isinstance(own, (list, tuple, dict)):
            for one, its in zip(_items(own), kept, strict=True):
                _remind(one, its)
        elif isinstance(own, np.ndarray) and isinstance(kept, pa.RecordBatch):
            values = np.empty(len(kept), object)
            values[:] = kept.column(0).to_pylist()
            setattr(component, name, values)
        else:
            setattr(component, name, kept)


def _kept(value: Any) -> Any:
    if _is_component(value):
        return _remembered(value)
    if value is None or isinstance(value, (bool, int, float, str, pa.RecordBatch)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return pa.RecordBatch.from_arrays([pa.array(value.tolist())], ["values"])
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biuf" else _NOT_KEPT
    if _is_arrays(value):
        return list(value)
    if isinstance(value, (list, tuple, dict)) and all(map(_is_component, _items(value))):
        return list(map(_remembered, _items(value)))
    return _NOT_KEPT


def _is_arrays(value: Any) -> bool:
    """Whether it is a named tuple of arrays."""
    return isinstance(value, tuple) and bool(value) and all(isinstance(one, np.ndarray) for one in value)


def _items(value: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> list[Any]:
    return list(value.values() if isinstance(value, dict) else value)
