"""Shapes as plain lists, texts and numbers, to be stored with a stream: `written`, `shape_of`."""

from __future__ import annotations

from typing import Any

from cer_gpu.automata.configurations.shapes import Shape
from cer_gpu.automata.configurations.slots import LowerBoundClock, Slot, State, UpperBoundClock

KINDS: dict[str, type[Slot]] = {"slot": Slot, "younger": UpperBoundClock, "older": LowerBoundClock}


def written(shape: Shape) -> list[Any]:
    """A shape as lists, texts and numbers."""
    return [shape.started, list(shape.measures), _written(shape.states)]


def shape_of(stored: list[Any]) -> Shape:
    """The shape that `written` has stored."""
    started, measures, states = stored
    return Shape(started, _read(states), tuple(measures))


def _written(state: State) -> Any:
    kind = type(state)
    if kind is tuple:
        return ["tuple", *map(_written, state)]
    if kind is frozenset:
        return ["set", *sorted(map(_written, state), key=repr)]
    for name, own in KINDS.items():
        if kind is own:
            return [name, int(state)]
    return state


def _read(stored: Any) -> Any:
    if not isinstance(stored, list):
        return stored
    name, *parts = stored
    if name == "tuple":
        return tuple(map(_read, parts))
    if name == "set":
        return frozenset(map(_read, parts))
    return KINDS[name](parts[0])
