"""The aggregates of SQL's dialects: `AGGREGATE_CALLS`."""

from __future__ import annotations

from collections.abc import Mapping

from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """What an aggregate of SQL is.

    Attributes
    ----------
    function : str
        One of `tree.AGGREGATES`.
    least, most : int
        How many expressions it takes.
    """

    function: str
    least: int = 1
    most: int = 1


AGGREGATE_CALLS: Mapping[str, AggregateCall] = {
    "COUNT": AggregateCall("count"),
    "COUNT_IF": AggregateCall("count"),
    "COUNTIF": AggregateCall("count"),
    "SUM": AggregateCall("sum"),
    "MIN": AggregateCall("min"),
    "MAX": AggregateCall("max"),
    "AVG": AggregateCall("avg"),
    **dict.fromkeys(("BOOL_AND", "LOGICAL_AND", "EVERY"), AggregateCall("min")),
    **dict.fromkeys(("BOOL_OR", "LOGICAL_OR"), AggregateCall("max")),
    **dict.fromkeys(("ARRAY_AGG", "COLLECT_LIST", "LIST"), AggregateCall("array")),
    **dict.fromkeys(("LISTAGG", "STRING_AGG", "GROUP_CONCAT"), AggregateCall("text", 1, 2)),
    **dict.fromkeys(("ANY_VALUE", "ARBITRARY"), AggregateCall("any")),
    **dict.fromkeys(("STDDEV", "STDDEV_SAMP"), AggregateCall("sample deviation")),
    "STDDEV_POP": AggregateCall("deviation"),
    **dict.fromkeys(("VARIANCE", "VAR_SAMP"), AggregateCall("sample variance")),
    "VAR_POP": AggregateCall("variance"),
    **dict.fromkeys(("MIN_BY", "ARG_MIN", "ARGMIN"), AggregateCall("min by", 2, 2)),
    **dict.fromkeys(("MAX_BY", "ARG_MAX", "ARGMAX"), AggregateCall("max by", 2, 2)),
}
"""The aggregates by their names in SQL."""

IN_CONDITIONS = frozenset(["count", "sum", "min", "max", "avg", "whole avg"])
"""Aggregates that DEFINE may have, too."""

NO_NULLS = frozenset({"snowflake", "spark", "databricks", "hive"})
"""Dialects whose ARRAY_AGG leaves nulls out."""

WHOLE_AVERAGES = frozenset({"flink", "calcite", "tsql"})
"""Dialects whose AVG of integers is an integer."""
