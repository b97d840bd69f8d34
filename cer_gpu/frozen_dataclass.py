"""Frozen dataclasses that take no time before they are used: `dataclass`.

`dataclasses.dataclass` compiles six methods when it defines a class, which takes 0.4 ms. A first count
defines 170 such classes and makes values of 70, which was 40 % of its time. Here a method is compiled when it
is called for the first time, and the fields are described when something asks for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

_FIELDS, _MATCHED = "__dataclass_fields__", "__match_args__"
_MISSING = dataclasses.MISSING
_LOCK = RLock()

Field: TypeAlias = "dataclasses.Field[Any]"
Write: TypeAlias = "Callable[[tuple[Field, ...], bool, dict[str, Any]], str]"
"""Gives the text of a method; gets the fields, whether there is a `__post_init__`, and a dict for globals."""


def _dataclass(
    cls: type | None = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    order: bool = False,
) -> Any:
    """Make a dataclass, as `dataclasses.dataclass` does with the same arguments.

    A class that is not frozen, has no slots or has an order is made at once. A dataclass that extends a late
    one has to be late too.
    """
    if cls is not None:
        return dataclasses.dataclass(cls)
    if not (frozen and slots) or order:
        return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, order=order)
    return lambda cls: _late(cls, eq)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:
    dataclass = _dataclass

    def replace(one, /, **changes):
        """As `dataclasses.replace`, a third of its time, of a late dataclass."""
        return one.__replace__(**changes)


def _late(cls: type, eq: bool) -> type:
    """A class with slots in place of one without, whose methods are compiled when they are called."""
    scope = dict(cls.__dict__)
    annotations = dict(cls.__annotations__)
    names = [name for name, kind in annotations.items() if not str(kind).startswith("ClassVar")]
    own = {name: scope.pop(name) for name in names if name in scope}
    taken = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    keeps = any(isinstance(one, cached_property) for one in scope.values())
    kept = ["__dict__"] if keeps and not any(base.__dictoffset__ for base in cls.__bases__) else []
    scope["__slots__"] = (*(name for name in names if name not in taken), *kept)
    scope.pop("__dict__", None)
    scope.pop("__weakref__", None)
    if "__eq__" in scope and scope.get("__hash__", eq) is None:
        del scope["__hash__"]  # Python adds it to a class that has `__eq__`

    made: Any = type(cls)(cls.__name__, cls.__bases__, scope)
    made.__qualname__ = cls.__qualname__
    ready = {
        "__init__": _first(made, "__init__", _init_text),
        "__replace__": _first(made, "__replace__", _replace_text),
        "__repr__": _represent,
        "__getstate__": _state,
        "__setstate__": _restore,
        _MATCHED: _LateAttribute(_MATCHED, _matched),
    }
    if eq:
        ready["__eq__"] = _first(made, "__eq__", _eq_text)
        ready["__hash__"] = _first(made, "__hash__", _hash_text)
    for name, method in ready.items():
        if name not in scope:
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = _refusals(made, frozenset(names))
    setattr(made, _FIELDS, _LateAttribute(_FIELDS, lambda cls: _described(cls, annotations, own)))
    return made


class _LateAttribute:
    """An attribute of a class that is made when something reads it.

    Parameters
    ----------
    name : str
    make : callable
        Called with the class; returns the value of the attribute.
    """

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> Any:
        cls = next(cls for cls in owner.__mro__ if self._name in cls.__dict__)
        with _LOCK:
            if cls.__dict__[self._name] is self:
                setattr(cls, self._name, self._make(cls))
        return cls.__dict__[self._name]


def _described(cls: type, annotations: dict[str, Any], own: dict[str, Any]) -> dict[str, Field]:
    """The fields of a class and of its bases, as `dataclasses` describes them."""
    found: dict[str, Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        found |= getattr(base, _FIELDS, {})
    scope = {
        "__module__": cls.__module__,
        "__doc__": cls.__name__,  # without one, `dataclasses` takes time to write the signature
        "__annotations__": annotations,
        **own,
    }
    describe = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)
    return found | getattr(describe(type(cls.__name__, (), scope)), _FIELDS)


def _matched(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls) if field.init and not field.kw_only)


# ------------------------------------------------------------------------------------- methods


def _first(cls: Any, name: str, write: Write) -> Callable[..., Any]:
    """A method that is compiled at its first call."""

    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        scope: dict[str, Any] = {"__name__": cls.__module__, "_put": object.__setattr__}
        exec(write(dataclasses.fields(cls), hasattr(cls, "__post_init__"), scope), scope)
        made = scope[name]
        made.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, made)
        return made(self, *arguments, **keywords)

    return method


def _init_text(fields: tuple[Field, ...], completed: bool, scope: dict[str, Any]) -> str:
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}
    body = []
    for field in fields:
        name = field.name
        default, value = "", name
        if field.default is not _MISSING:
            scope[f"_default_{name}"] = field.default
            default = f"_default_{name}"
        elif field.default_factory is not _MISSING:
            scope[f"_make_{name}"] = field.default_factory
            default = "_put"  # stands for a value that is not given
            value = f"_make_{name}() if {name} is _put else {name}"
        if field.init:
            parameters[bool(field.kw_only)].append(f"{name}={default}" if default else name)
        elif default:
            value = f"_make_{name}()" if default == "_put" else default
        else:
            continue
        body.append(f" _put(self, {name!r}, {value})")
    if completed:
        body.append(" self.__post_init__()")
    by_name = ["*", *parameters[True]] if parameters[True] else []
    return "\n".join([f"def __init__({', '.join(parameters[False] + by_name)}):", *body, " return"])


def _replace_text(fields: tuple[Field, ...], completed: bool, scope: dict[str, Any]) -> str:
    names = [field.name for field in fields if field.init]
    given = "".join(f", {name}=_put" for name in names)
    given = f", *{given}" if given else ""
    values = (f"{name}=self.{name} if {name} is _put else {name}" for name in names)
    return f"def __replace__(self{given}):\n return self.__class__({', '.join(values)})"


def _eq_text(fields: tuple[Field, ...], completed: bool, scope: dict[str, Any]) -> str:
    names = [field.name for field in fields if field.compare]
    return (
        "def __eq__(self, other):\n"
        " if other.__class__ is self.__class__:\n"
        f"  return {_tuple('self', names)} == {_tuple('other', names)}\n"
        " return NotImplemented"
    )


def _hash_text(fields: tuple[Field, ...], completed: bool, scope: dict[str, Any]) -> str:
    names = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    return f"def __hash__(self):\n return hash({_tuple('self', names)})"


def _tuple(of: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


@recursive_repr()
def _represent(self: Any) -> str:
    shown = (
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _refusals(cls: Any, own: frozenset[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    """`__setattr__` and `__delattr__` of a frozen class; a plain subclass may have attributes of its own."""

    def set_attribute(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in own:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: Any, name: str) -> None:
        if type(self) is cls or name in own:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return set_attribute, delete_attribute
