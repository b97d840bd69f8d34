"""Late dataclasses do what those of `dataclasses` do."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
import threading
from dataclasses import field
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import pytest
from test_project import MODULES, nodes_of

from cer_gpu.frozen_dataclass import dataclass, replace

T = TypeVar("T")


def shapes(dataclass):
    """Classes of many shapes, by their name."""

    @dataclass(frozen=True, slots=True)
    class Plain:
        a: int
        b: str = "x"

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True, slots=True)
    class Extended(Plain):
        c: float = 0.5
        b: str = "y"  # in the place of the base's

    @dataclass(frozen=True, slots=True)
    class Described:
        """Fields of all kinds."""

        kind: ClassVar[str] = "k"
        items: list[int] = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        place: int = field(default=0, kw_only=True)
        fixed: int = field(default=7, init=False)
        made: dict[str, int] = field(default_factory=dict, init=False, compare=False)
        double: int = field(init=False, repr=False, hash=False)

        def __post_init__(self):
            object.__setattr__(self, "double", 2 * self.place)

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        a: int

    @dataclass(frozen=True, slots=True)
    class Own:
        a: int

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 5

        def __repr__(self):
            return "own"

    @dataclass(frozen=True, slots=True)
    class OwnEqual:
        a: int

        def __eq__(self, other):
            return isinstance(other, OwnEqual) and self.a % 2 == other.a % 2

    @dataclass(frozen=True, slots=True)
    class Boxed(Generic[T]):
        value: T

    class Undecorated(Plain):
        def __init__(self, a):
            super().__init__(a, "z")
            self.extra = 1

    @dataclass(slots=True)
    class Mutable:
        a: int

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        a: int

    @dataclass
    class Bare:
        a: int

    return {name: value for name, value in locals().items() if isinstance(value, type)}


CALLS = [
    ("Plain", (1,), {}), ("Plain", (1, "z"), {}), ("Plain", (), {"b": "z", "a": 3}), ("Plain", (), {}),
    ("Plain", (1, 2, 3), {}), ("Plain", ([],), {}), ("Empty", (), {}), ("Empty", (1,), {}),
    ("Extended", (1,), {}), ("Extended", (1, "b", 2.5), {}), ("Described", (), {}),
    ("Described", ([1], 4), {"place": 9}), ("Described", ([1], 4, 9), {}), ("Described", (), {"fixed": 1}),
    ("Same", (1,), {}), ("Own", (1,), {}), ("OwnEqual", (1,), {}), ("OwnEqual", (3,), {}),
    ("Boxed", (1,), {}), ("Mutable", (1,), {}), ("Ordered", (1,), {}), ("Bare", (2,), {}),
]  # fmt: skip


def said(make):
    """What a call gives: the value, or the class of its error."""
    try:
        return make()
    except Exception as error:
        return type(error)


def seen(cls, arguments, keywords):
    """What can be seen of a value: itself and what may be done with it."""

    def made():
        return cls(*arguments, **keywords)

    value = said(made)
    if isinstance(value, type):
        return [value]
    return [
        said(lambda: repr(value).replace("shapes.<locals>.", "")),
        said(lambda: value == made()),
        said(lambda: value == object()),
        said(lambda: isinstance(hash(value), int) and (hash(value) == hash(made()))),
        [(f.name, f.type, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(value)],
        said(lambda: dataclasses.asdict(value)),
        said(lambda: repr(dataclasses.replace(value)).replace("shapes.<locals>.", "")),
        said(lambda: setattr(value, dataclasses.fields(value)[0].name, 5)),
        said(lambda: delattr(value, dataclasses.fields(value)[0].name)),
        said(lambda: copy.copy(value) == value),
        said(lambda: copy.deepcopy(value) == value),
        cls.__match_args__,
        cls.__slots__ if "__slots__" in cls.__dict__ else None,
        cls.__qualname__,
        dataclasses.is_dataclass(cls),
    ]


@pytest.mark.parametrize(("name", "arguments", "keywords"), CALLS)
def test_a_late_class_is_like_one_made_at_once(name, arguments, keywords):
    late, at_once = (shapes(make)[name] for make in (dataclass, dataclasses.dataclass))
    assert seen(late, arguments, keywords) == seen(at_once, arguments, keywords)
    assert seen(late, arguments, keywords) == seen(at_once, arguments, keywords)  # once its methods are there


@pytest.mark.parametrize("name", shapes(dataclass))
def test_a_class_is_described_before_it_has_values(name):
    late, at_once = (shapes(make)[name] for make in (dataclass, dataclasses.dataclass))
    assert [f.name for f in dataclasses.fields(late)] == [f.name for f in dataclasses.fields(at_once)]
    assert shapes(dataclass)[name].__match_args__ == at_once.__match_args__


@dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickle finds."""

    a: int
    b: tuple[int, ...] = ()


def test_a_value_can_be_pickled_and_read_before_another_is_made():
    content = pickle.dumps(Kept(1, (2,)))
    assert pickle.loads(content) == Kept(1, (2,))
    other = object.__new__(shapes(dataclass)["Plain"])
    other.__setstate__([1, "q"])
    assert repr(other).endswith("Plain(a=1, b='q')")


def test_attributes_that_are_no_fields():
    """`dataclasses` ends in a TypeError here: it asks the class without slots."""
    made = shapes(dataclass)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        made["Plain"](1).other = 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'other'"):
        del made["Plain"](1).other
    plain = made["Undecorated"](4)
    assert (plain.a, plain.b, plain.extra) == (4, "z", 1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="'a'"):
        plain.a = 5
    del plain.extra
    assert not hasattr(plain, "extra")


@pytest.mark.parametrize(
    ("name", "arguments", "changes"),
    [
        ("Plain", (1,), {"b": "z"}), ("Plain", (1, "z"), {}), ("Plain", (1,), {"unknown": 2}),
        ("Extended", (1,), {"a": 5, "c": 2.0}), ("Described", ([1], 4), {"place": 4}), ("Empty", (), {}),
        ("Empty", (), {"a": 1}), ("Own", (1,), {"a": 2}), ("Boxed", (1,), {"value": 2}),
    ],
)  # fmt: skip
def test_fields_are_replaced_as_dataclasses_does(name, arguments, changes):
    late, at_once = (shapes(make)[name](*arguments) for make in (dataclass, dataclasses.dataclass))
    told = [said(lambda: replace(late, **changes)), said(lambda: dataclasses.replace(at_once, **changes))]
    assert repr(told[0]) == repr(told[1])


def test_a_property_is_worked_out_once():
    made = []

    @dataclass(frozen=True, slots=True)
    class Kept:
        a: int

        @cached_property
        def twice(self):
            made.append(self.a)
            return 2 * self.a

    one = Kept(3)
    assert (one.twice, one.twice, made) == (6, 6, [3])
    assert dataclasses.replace(one, a=4).twice == 8
    assert (Kept(3), hash(Kept(3))) == (one, hash(one))
    assert repr(one).endswith("Kept(a=3)")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.twice = 5

    @dataclass(frozen=True, slots=True)
    class More(Kept):
        b: int = 5

        @cached_property
        def sum(self):
            return self.a + self.b

    assert (More(3).sum, More(3).twice) == (8, 6)


def test_values_match_by_place():
    match Kept(1, (2,)):
        case Kept(a, (b,)):
            assert (a, b) == (1, 2)
        case _:
            raise AssertionError


def test_threads_may_make_the_first_value_together():
    for _ in range(20):
        made, cls, start = [], shapes(dataclass)["Described"], threading.Barrier(8)

        def make(made=made, cls=cls, start=start):
            start.wait()
            made.append(cls([1], place=3))

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [cls([1], place=3)] * 8


def test_nothing_is_compiled_before_it_is_used():
    cls = shapes(dataclass)["Plain"]
    ready = cls.__init__
    cls(1)
    assert cls.__init__ is not ready
    assert cls.__eq__.__code__.co_name == "method"
    assert cls(1) == cls(1)
    assert cls.__eq__.__code__.co_name == "__eq__"


def test_frozen_classes_of_the_package_are_late():
    for name, path in MODULES:
        if name == "cer_gpu.frozen_dataclass" or name.startswith("cer_gpu.kernels"):
            continue
        if "frozen" not in path.read_text(encoding="utf-8"):
            continue
        content = nodes_of(path)
        frozen = [
            node.name
            for node in content
            if isinstance(node, ast.ClassDef)
            for made in node.decorator_list
            if isinstance(made, ast.Call) and {"frozen", "slots"} <= {word.arg for word in made.keywords}
        ]
        origins = {
            node.module
            for node in content
            if isinstance(node, ast.ImportFrom)
            for imported in node.names
            if imported.name == "dataclass"
        }
        if frozen:
            assert origins == {"cer_gpu.frozen_dataclass"}, (
                f"{frozen} of {name} are compiled when they are imported"
            )
