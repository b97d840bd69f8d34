"""WITHIN and SUPPRESS in the unit of the column that they measure."""

from __future__ import annotations

from cer_gpu.language import tree
from cer_gpu.language.scalar_functions import nearest_float
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact, one_in
from cer_gpu.plan.compiled_query import SuppressPlan, WindowPlan
from cer_gpu.plan.lower.lowering import BuiltMachine


def window_of(statement: tree.Statement, schema: Schema, built: BuiltMachine) -> WindowPlan | None:
    """The window of WITHIN, or the longest time that the pattern itself allows, if that is shorter."""
    window = window_plan(statement.window, schema)
    span = built.span
    if span is None or (window is not None and (window.kind != "time" or window.size <= span)):
        return window
    return WindowPlan("time", span, schema.order)


def suppress_plan(statement: tree.Statement, schema: Schema) -> SuppressPlan | None:
    """SUPPRESS in the unit of the column of times."""
    suppress = statement.suppress if isinstance(statement, tree.SelectQuery) else None
    if suppress is None or not isinstance(statement, tree.SelectQuery):
        return None
    length = suppress.length
    measured = window_plan(tree.Window(length.value, "time", length.unit), schema)
    assert measured is not None
    alone = bool(statement.partition) and suppress.by is not tree.Consume.ANY
    return SuppressPlan("PARTITION" if alone else "ANY", measured.size)


def window_plan(window: tree.Window | None, schema: Schema) -> WindowPlan | None:
    """WITHIN in the unit of the column that it measures; the checks have seen that there is one."""
    if window is None:
        return None
    if window.kind in ("events", "parameter"):  # of a parameter without a value anything is assumed
        return WindowPlan("events", window.size)
    size = exact(window.size)
    attribute = window.attribute if window.kind == "attribute" else schema.order
    assert attribute is not None
    kind = schema.attributes[attribute]
    if kind is ValueType.DECIMAL:
        size /= one_in(schema.units[attribute])
    if window.kind == "time" and window.unit is not None:
        unit = schema.units.get(attribute, schema.order_unit)
        assert unit is not None
        size = size * NANOSECONDS[window.unit] / NANOSECONDS[unit]
    measured = "time" if attribute == schema.order else "attribute"
    if kind is ValueType.FLOAT64:
        return WindowPlan(measured, nearest_float(size), attribute)
    # Differences of integers are whole: the largest that is allowed is the floor.
    return WindowPlan(measured, size.numerator // size.denominator, attribute)
