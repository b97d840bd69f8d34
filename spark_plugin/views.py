"""Views on Spark: the answers of a rule, kept up to date by the micro-batches of streams.

>>> view = cer_spark.maintain("Q(x, a, c) <- R(x, a), S(x, c), a < c", "s3://lake/view")
>>> orders.writeStream.foreachBatch(view.insert("R")).option("checkpointLocation", one).start()
>>> trades.writeStream.foreachBatch(view.insert("S")).option("checkpointLocation", two).start()
>>> view.count(), view.enumerate(spark), view.delta(spark)

A task writes a new snapshot of a part under a name of its own, so that one that is killed, or run twice,
changes nothing; the driver writes the commit when all tasks have ended (`view_folder`). A micro-batch that
Spark repeats is recognised by its number.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import RLock
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
from cer_gpu.spark.view_folder import LastBatch, ViewCommit, ViewFolder

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.views import MOST_KEPT, MULTIPLICITY, JoinView, body_of, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART = "__part"
"""The column that says which part a row belongs to."""

PARTS = 16
"""Parts of a view whose rule has a key, where their number is not said."""

RESULT = f"{PART} int, file string, answers string, columns string, rows string"
"""What a task gives: the new snapshot of a part, how many answers it has, their columns, and its rows."""

KEYS = ("tinyint", "smallint", "int", "bigint", "string", "boolean", "date", "timestamp", "timestamp_ntz")
"""Types of a key whose equal values are one text, once dates are times."""

_LOCK = RLock()
"""The streams of one view are started in one driver; each hands over micro-batches in its own thread."""

_views: dict[tuple[str, int], tuple[str, JoinView]] = {}
"""In a worker process the parts that it has seen last: a snapshot's file, and its view."""


def maintain(
    rule: str, folder: str | os.PathLike[str], parts: int | None = None, most_kept: int = MOST_KEPT
) -> SparkView:
    """Update the result of a rule (a join) from streams.

    Parameters
    ----------
    rule : str
        As for `cer_gpu.maintain`.
    folder : str or path
        The folder of the snapshots and commits, on any filesystem that pyarrow opens and all workers reach.
        An existing view in it is continued.
    parts : int, optional
        How many tasks share the view. More than one needs a key: a variable that all parts of the rule have.
        By default 16 with a key, and 1 without.
    most_kept : int, optional
        As for `cer_gpu.maintain`; it holds for each part.

    Returns
    -------
    SparkView

    Raises
    ------
    QueryError
        When the rule is wrong.
    DataError
        When several parts are asked for and the rule has no key, or aggregates that put several keys into one
        row; or when the folder has a view of another rule, or with another number of parts.
    """
    view = JoinView(rule, most_kept)
    key = shared_key(view)
    body = body_of(view)
    split = key is not None and (not body.aggregates or key.variable in {name for _, name in body.head})
    if parts is not None and parts > 1 and not split:
        why = (
            "no variable is in all parts of the rule"
            if key is None
            else "its aggregates combine rows of several keys"
        )
        raise DataError(f"the view cannot be shared by {parts} tasks: {why}; leave `parts` out")
    many = (PARTS if split else 1) if parts is None else parts
    kept = ViewFolder(os.fspath(folder)).commit()
    if kept.version and (kept.rule, kept.parts) != (rule, many):
        other = f"shared by {kept.parts} tasks, not by {many}" if kept.rule == rule else f"of `{kept.rule}`"
        raise DataError(f"the view in {os.fspath(folder)} is {other}: give it another folder")
    return SparkView(rule, os.fspath(folder), many, most_kept, key if split else None)


@dataclass(frozen=True, slots=True)
class ViewKey:
    """A variable that all atoms of a rule have, by whose values the rows are divided among tasks.

    Attributes
    ----------
    variable : str
    attributes : mapping of str to str
        The column of the variable in each relation, by its name, or by its place: `$2` is the second column.
    """

    variable: str
    attributes: Mapping[str, str]

    def column(self, relation: str, columns: list[str]) -> str:
        """The column of a relation that has its columns in this order."""
        name = self.attributes[relation]
        return columns[int(name[1:]) - 1] if name.startswith("$") else name


def shared_key(view: JoinView) -> ViewKey | None:
    """The variable by which the rows of a view can be divided among tasks; None if there is none."""
    readings = body_of(view).readings
    for variable in readings[0].variables:
        found: dict[str, str] = {}
        for reading in readings:
            attribute = reading.attributes.get(variable)
            if attribute is None or found.setdefault(reading.relation, attribute) != attribute:
                break
        else:
            return ViewKey(variable, found)
    return None


class SparkView:
    """A view whose rows come from streams. Made by `maintain`.

    Parameters
    ----------
    rule : str
    folder : str
    parts : int
    most_kept : int
    key : ViewKey or None
    """

    def __init__(self, rule: str, folder: str, parts: int, most_kept: int, key: ViewKey | None) -> None:
        self.rule = rule
        self.folder = folder
        self.parts = parts
        self._most_kept = most_kept
        self._key = key

    def insert(self, relation: str, stream: str | None = None) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch` that inserts the rows of each micro-batch into a relation.

        Parameters
        ----------
        relation : str
        stream : str, optional
            The name of the stream; needed if several streams insert into one relation. A micro-batch that
            Spark repeats is recognised by this name and its number. So a stream that is started again with
            another checkpoint, which numbers its micro-batches anew, needs another name.

        Returns
        -------
        callable
            Takes the DataFrame and the number of a micro-batch.
        """
        return lambda frame, batch: self.update(frame, batch, relation, 1, stream or f"+{relation}")

    def delete(self, relation: str, stream: str | None = None) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch` that deletes the rows of each micro-batch; otherwise as `insert`."""
        return lambda frame, batch: self.update(frame, batch, relation, -1, stream or f"-{relation}")

    def update(self, frame: DataFrame, batch: int, relation: str, sign: int, stream: str) -> None:
        """Apply a micro-batch unless it has been applied before: all of it, or nothing if a row is wrong.

        Parameters
        ----------
        frame : DataFrame
        batch : int
            Its number, which grows within its stream.
        relation : str
        sign : int
            1 inserts, -1 deletes.
        stream : str
        """
        from pyspark.sql import functions as f

        with _LOCK:
            folder = ViewFolder(self.folder)
            before = folder.commit()
            if before.streams.get(stream, -1) >= batch:
                return
            part = f.lit(0)
            if self.parts > 1:
                name, kind = self._key_of(frame, relation)
                # A date equals the time at which it begins: both are one text then.
                key = f.col(name).cast("timestamp_ntz") if kind == "date" else f.col(name)
                part = f.pmod(f.hash(key.cast("string")), f.lit(self.parts))
            task = _applied(self.rule, self._most_kept, self.folder, (relation, sign), before)
            parted = frame.withColumn(PART, part.cast("int"))
            rows = parted.groupBy(PART).applyInArrow(task, RESULT).collect()
            files, answers, columns = dict(before.files), dict(before.answers), before.columns
            for row in rows:
                files[row[PART]], answers[row[PART]] = row["file"], int(row["answers"])
                columns = columns or row["columns"]
            streams = {**before.streams, stream: batch}
            after = before.version + 1
            given = {row[PART]: row["rows"] for row in rows}
            had = {part: before.files[part] for part in given if part in before.files}
            last = LastBatch(relation, sign, given, had)
            folder.put(ViewCommit(after, streams, files, answers, columns, self.rule, self.parts, last))

    def count(self) -> int:
        """The number of rows after the last micro-batch. No Spark job is run for it."""
        return sum(ViewFolder(self.folder).commit().answers.values())

    def enumerate(self, spark: SparkSession) -> DataFrame:
        """The rows after the last micro-batch: the columns of the head, and `multiplicity`.

        Raises
        ------
        DataError
            While no part has had rows of every relation: the columns of the result are not known.
        """
        commit = ViewFolder(self.folder).commit()
        files = [(part, name, "") for part, name in sorted(commit.files.items())]
        return self._listed(spark, commit, files, _answers(self.folder))

    def delta(self, spark: SparkSession) -> DataFrame:
        """The rows that the last micro-batch added (`multiplicity` above 0) and removed (below 0).

        Each part applies the rows of the micro-batch to its previous snapshot once more. A micro-batch that
        Spark repeats changes nothing, and does not count as the last one.

        Raises
        ------
        DataError
            While no part has had rows of every relation: the columns of the result are not known.
        """
        from pyspark.sql import functions as f

        commit = ViewFolder(self.folder).commit()
        last = commit.last
        files = []
        if last is not None:
            files = [(part, last.before.get(part, ""), name) for part, name in sorted(last.rows.items())]
        change = ("", 1) if last is None else (last.relation, last.sign)
        task = _changes((self.rule, self._most_kept), self.folder, change)
        return self._listed(spark, commit, files, task).where(f.col(MULTIPLICITY) != 0)

    def _listed(
        self,
        spark: SparkSession,
        commit: ViewCommit,
        files: list[tuple[int, str, str]],
        task: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    ) -> DataFrame:
        """What a task lists of parts, each with the files of its snapshot and rows; equal answers once."""
        from pyspark.sql import functions as f
        from pyspark.sql.pandas.types import from_arrow_schema

        if not commit.columns:
            raise DataError("the view has no rows yet: give each of its relations rows first")
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(commit.columns)))
        listed = spark.createDataFrame(files, f"{PART} int, file string, rows string")
        found = listed.repartition(max(1, len(files)), PART).mapInArrow(
            task, from_arrow_schema(schema, prefer_timestamp_ntz=True)
        )
        head = [name for name in schema.names if name != MULTIPLICITY]
        if self.parts > 1 and self._key is not None and self._key.variable not in self._outputs():
            total = f.sum(MULTIPLICITY).alias(MULTIPLICITY)
            return found.groupBy(*head).agg(total) if head else found.agg(total)
        return found

    def _outputs(self) -> set[str]:
        return {variable for _, variable in body_of(JoinView(self.rule)).head}

    def _key_of(self, frame: DataFrame, relation: str) -> tuple[str, str]:
        """The column by which rows are shared out, and its type."""
        assert self._key is not None
        if relation not in self._key.attributes:
            listed = ", ".join(self._key.attributes)
            raise DataError(f"the rule has no relation `{relation}`: its relations are {listed}")
        name = self._key.column(relation, frame.columns)
        types = dict(frame.dtypes)
        if types.get(name) not in KEYS:
            what = "is missing" if name not in types else f"is of type {types[name]}"
            raise DataError(f"column `{name}` of {relation}, by which rows are dealt to tasks, {what}")
        return name, types[name]


def _applied(
    rule: str, most_kept: int, folder: str, change: tuple[str, int], before: ViewCommit
) -> Callable[[pa.Table], pa.Table]:
    """The function of a task: it takes the rows of one part in, and writes its snapshot."""
    version, files, columns = before.version, dict(before.files), before.columns

    def applied(table: pa.Table) -> pa.Table:
        part = table.column(PART)[0].as_py()
        view = part_of(folder, part, files.get(part), (rule, most_kept))
        relation, sign = change
        rows = table.drop_columns(PART)
        _take(view, relation, sign, rows)
        name, given = (f"{version}-{part}-{uuid4().hex}.{kind}" for kind in ("view", "rows"))
        ViewFolder(folder).write(name, view.snapshot())
        ViewFolder(folder).write(given, _packed(rows))
        _views[folder, part] = name, view
        schema = schema_of(view)
        shown = "" if schema is None else base64.b64encode(schema.serialize().to_pybytes()).decode()
        return pa.table(
            {
                PART: pa.array([part], pa.int32()),
                "file": [name],
                "answers": [str(view.count())],
                "columns": [columns or shown],
                "rows": [given],
            }
        )

    return applied


def _take(view: JoinView, relation: str, sign: int, rows: pa.Table) -> None:
    if sign > 0:
        view.insert(relation, rows)
    else:
        view.delete(relation, rows)


def _packed(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def part_of(folder: str, part: int, file: str | None, made: tuple[str, int]) -> JoinView:
    """The view of a part: from memory if this process wrote its snapshot, else restored from it."""
    known = _views.pop((folder, part), None)
    if file is None:
        return JoinView(*made)
    if known is not None and known[0] == file:
        return known[1]
    return JoinView.restore(ViewFolder(folder).read(file))


def _answers(folder: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a task that lists the answers of the parts whose snapshots it is given."""

    def answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name in batch.column("file").to_pylist():
                yield from JoinView.restore(ViewFolder(folder).read(name)).enumerate()

    return answers


def _changes(
    made: tuple[str, int], folder: str, change: tuple[str, int]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a task that lists what the rows of a micro-batch changed in the parts it is given."""

    def changes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = ViewFolder(folder)
        for batch in batches:
            for name, rows in zip(batch.column("file").to_pylist(), batch.column("rows").to_pylist()):
                view = JoinView.restore(held.read(name)) if name else JoinView(*made)
                _take(view, *change, pa.ipc.open_file(pa.py_buffer(held.read(rows))).read_all())
                yield from view.delta()

    return changes
