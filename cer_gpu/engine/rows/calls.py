"""The steps that an expression becomes: what is checked once, and computed for every table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from cer_gpu.engine.rows.value_types import Values, described
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import Operation, Scalar, ScalarConstant

Compute: TypeAlias = Callable[..., Values]


@dataclass(frozen=True, slots=True)
class ScalarStep:
    """An expression whose types are known.

    Attributes
    ----------
    node : Scalar
    type : pyarrow.DataType
        Normal, as `value_types.normal` says.
    operands : tuple of ScalarStep
    compute : callable or None
        Gets the values of the operands; one of them at least is an array. None for leaves and constants.
    constant : pyarrow.Scalar or None
    """

    node: Scalar
    type: pa.DataType
    operands: tuple[ScalarStep, ...] = ()
    compute: Compute | None = None
    constant: pa.Scalar | None = None

    @property
    def is_null(self) -> bool:
        """Whether this is the constant NULL."""
        return self.constant is not None and not self.constant.is_valid

    @property
    def text(self) -> str | None:
        """The value of a text that stands in the query; None for everything else."""
        literal = isinstance(self.node, ScalarConstant) and isinstance(self.node.value, str)
        return self.node.value if literal and isinstance(self.node, ScalarConstant) else None


@dataclass(frozen=True, slots=True)
class ScalarCall:
    """An operation with its checked operands: what a rule makes a step of.

    Attributes
    ----------
    node : Operation
    operands : tuple of ScalarStep
    text : str
        The text of the query, for errors.
    """

    node: Operation
    operands: tuple[ScalarStep, ...]
    text: str

    @property
    def name(self) -> str:
        """The operation as messages show it: `+`, `LIKE`, `UPPER`."""
        return self.node.name.upper()

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the operands."""
        return [operand.type for operand in self.operands]

    def step(self, type_: pa.DataType, compute: Compute, *operands: ScalarStep) -> ScalarStep:
        """The step of this operation, over its own operands unless others are given."""
        return ScalarStep(self.node, type_, operands or self.operands, compute)

    def null(self, type_: pa.DataType) -> ScalarStep:
        """The step of an operation whose value is always null; its operands may still fail."""
        return self.step(type_, lambda *_: pa.scalar(None, type_))

    def refusal(self, code: str, message: str, *hints: str, at: ScalarStep | None = None) -> QueryError:
        """What is wrong, with a caret at the operation or at one of its operands."""
        span = (at.node.at if at is not None else None) or self.node.at
        return QueryError([Diagnostic(code, message, span, hints=hints)], self.text)

    def type_refusal(self, code: str, *hints: str) -> QueryError:
        """The error that the operation cannot be applied to its operands."""
        what = " and ".join(dict.fromkeys(described(type_) for type_ in self.types))
        return self.refusal(code, f"`{self.name}` cannot be applied to {what}", *hints)
