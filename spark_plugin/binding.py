"""On the driver: a query checked against the columns of a DataFrame, and the columns of its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from cer_gpu.spark.arrow_types import plain_type
from cer_gpu.spark.segments import OWN, ROW
from cer_gpu.spark.task import ANY, Task
from cer_gpu.spark.ties import checked_ties

from cer_gpu.engine.read.sources.categories import Orders
from cer_gpu.engine.read.sources.rows import NoRows
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.errors import DataError
from cer_gpu.plan.cost import Question
from cer_gpu.printable_text import brief, names_text

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from cer_gpu.api import Query


def task_of(
    query: Query | str,
    schema: pa.Schema,
    product: str,
    *,
    ordered: bool = False,
    order_by: str | Sequence[str] | None = None,
    event_id: str | None = None,
    gpu: str = "auto",
    limit: int | None = None,
    ties: str = ANY,
    orders: Orders | None = None,
    live: bool = False,
    **keywords: Any,
) -> Task:
    """Check a query against the columns of the data, and find the columns of its result.

    Parameters
    ----------
    query : Query or str
    schema : pyarrow.Schema
        The columns of the data.
    product : {"run", "count", "counts", "hits"}
    ordered : bool
        Whether the data has an order of its own, so that `order_by` may be left out.
    order_by, event_id, limit
        As for `cer_gpu.spark.run`.
    gpu : {"auto", "required", "off"}
    ties : {"warn", "error", "any"}
        What to do about rows of equal `order_by` if the answer depends on their order.
    orders : mapping of str to CategoryOrder, optional
        The orders of categories, which files tell; a DataFrame of Spark has texts.
    live : bool
        Whether the rows are pushed to streams, which give the values of `event_id` themselves.
    **keywords
        `order_unit`, `type_column`, `stream_column`, `memory`, `engine`, `until`, `nan_is_null`: as for
        `Query.run`.

    Raises
    ------
    QueryError
        When the query does not fit the columns.
    DataError
        When a column is missing, or there is nothing to order the events by.
    TypeError, ValueError
        When a keyword does not exist or makes no sense.
    """
    for name, instead in _ELSEWHERE.items():
        if name in keywords:
            raise TypeError(f"there is no keyword {brief(name)} on Spark: {instead}")
    taken = [name for name in schema.names if name.startswith(OWN) and name != ROW]
    if taken:
        raise DataError(f"the name of column `{taken[0]}` begins with {OWN}, which is reserved: rename it")
    if order_by is None and not ordered:
        raise DataError("the rows of a DataFrame have no order: name the time column with order_by")
    if limit is not None and product != "run":
        raise ValueError(f"leave limit out: it is for run, which lists matches, and {product} lists none")
    if event_id is not None and event_id not in schema.names:
        raise DataError(
            f"there is no column {names_text([event_id])}, which event_id names: the columns are "
            f"{names_text(schema.names)}"
        )
    from cer_gpu.logic.tied_rows import depends_on_ties  # tasks import this module too, and have no parser

    checked_ties(ties)
    whole = compiled(query)
    if live:
        keywords |= {"ordered": True, "event_id": event_id}
    asked = read_options(order_by=order_by, limit=limit, device="cpu", **keywords)
    question: Question = "pushes" if live else QUESTION_OF[product]
    portable = whole.portable_over(NoRows(schema, orders or {}), asked, question)
    # The same for every product, so that the hits of a query are those of its matches; the id orders
    # only events that are alike to the query.
    others = [
        name for name in portable.schema.names if name in {*portable.columns} - {*portable.options.order_by}
    ]
    if event_id is not None and event_id not in {*others, *portable.options.order_by}:
        others.append(event_id)
    # A position tells how many rows of its time come first, and of starts that tie one is the latest.
    placed = product == "hits" or (product != "count" and event_id is None)
    rule = ties if placed or depends_on_ties(whole.tree, ends=product != "count") else ANY
    result = _result(portable, product, event_id)
    return Task(portable, product, event_id, tuple(others), result, gpu, limit, tie_rule=rule)


def compiled(query: Query | str) -> Query:
    """The query itself, or compiled from its text."""
    if not isinstance(query, str):
        return query
    from cer_gpu.api import Query  # tasks import this module too, and have no parser

    return Query(query)


QUESTION_OF: dict[str, Question] = {"run": "lists", "count": "counts", "counts": "counts", "hits": "hits"}
"""What each product asks of a query."""

_ELSEWHERE = {
    "sort": "leave it out, the events of a DataFrame are always sorted by order_by",
    "ordered": "leave it out, the events of a DataFrame are always sorted by order_by",
    "late": "leave it out, the events of a DataFrame are always sorted by order_by",
    "on_late": "leave it out, the events of a DataFrame are always sorted by order_by",
    "device": "set spark.cer.gpu, which says whether tasks use a GPU",
}


def _result(portable: PortableQuery, product: str, event_id: str | None) -> pa.Schema:
    """The columns of a product, in the types of Spark."""
    if product == "count":
        return pa.schema([pa.field("count", pa.string(), nullable=False)])
    whole = portable.result
    if product != "run":
        return _ends(portable, product, event_id)
    positions = pa.int64() if event_id is None else spark_type(portable.schema.field(event_id).type)
    named = set(whole.positions)
    fields = []
    for field in whole.schema:
        kind = field.type
        if event_id is not None and field.name in named:
            kind = pa.list_(pa.field("item", positions)) if pa.types.is_list(kind) else positions
            field = pa.field(field.name, kind)
        fields.append(pa.field(field.name, spark_type(kind), field.nullable))
    return pa.schema(fields)


def _ends(portable: PortableQuery, product: str, event_id: str | None) -> pa.Schema:
    """The columns of `counts` and `hits`: those of `EndForm`, counts as text."""
    first, *more = portable.ends(product).fields
    position = pa.field(first.name, spark_type(first.type), nullable=event_id is not None)
    if event_id is not None:
        position = position.with_type(spark_type(portable.schema.field(event_id).type))
    value = pa.field("count", pa.string(), nullable=False)
    if product == "hits":
        value = position.with_name("latest_start")
    return pa.schema([position, *(pa.field(one.name, spark_type(one.type)) for one in more), value])


def spark_type(arrow: pa.DataType) -> pa.DataType:
    """The Arrow type that a value has after it has passed through Spark."""
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

    return to_arrow_type(from_arrow_type(plain_type(arrow), prefer_timestamp_ntz=True))


def spark_schema(arrow: pa.Schema) -> StructType:
    """An Arrow schema as a Spark schema."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow, prefer_timestamp_ntz=True)


def arrow_schema(schema: StructType) -> pa.Schema:
    """A Spark schema as an Arrow schema; columns that Arrow has no type for are left out.

    Raises
    ------
    DataError
        When two columns have one name.
    """
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_type

    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise DataError(f"the DataFrame has two columns `{twice}`: rename one")
    fields = []
    for field in schema.fields:
        try:
            fields.append(pa.field(field.name, to_arrow_type(field.dataType), field.nullable))
        except PySparkTypeError:
            continue
    return pa.schema(fields)
