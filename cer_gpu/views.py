"""Views: the answers of a conjunctive query, kept up to date under inserts and deletes.

>>> import cer_gpu as cer
>>> view = cer.maintain("Q(a, d) <- R(a, b), S(b, c), T(d), a < c, c < d")
>>> view.insert("R", r); view.insert("S", s); view.insert("T", t)   # tables: Arrow, pandas, polars, DuckDB
>>> view.count()                 # how many answers, without listing them
>>> view.enumerate().to_arrow()  # the answers: a, d, multiplicity
>>> view.delete("S", gone)
>>> view.delta().to_arrow()      # what the last update added (multiplicity > 0) and removed (< 0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.kept import KeptView
from cer_gpu.engine.views.listing import Piece
from cer_gpu.engine.views.relations import table_of
from cer_gpu.engine.views.terms import refused
from cer_gpu.errors import DataError, QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse

if TYPE_CHECKING:
    import pandas
    import polars

BATCH = 1 << 16
"""Answers in a batch."""

MULTIPLICITY = "multiplicity"

MOST_KEPT = 10_000_000
"""Pairs of rows that a cyclic rule may keep."""


def maintain(rule: str, most_kept: int = MOST_KEPT) -> JoinView:
    """Keep the answers of a rule up to date.

    Parameters
    ----------
    rule : str
        `Q(a, d) <- R(a, b), S(b, c), a < c`: relations with a variable for each column, or by name,
        `R(price = a)`; comparisons between variables, with arithmetic; the head says which variables an
        answer has. A comparison of text is `=` or `!=`.
    most_kept : int, optional
        Of a cyclic rule, such as a triangle, rows of two relations that join are kept as pairs: at most so
        many.

    Returns
    -------
    JoinView
        Without rows.

    Raises
    ------
    QueryError
        The rule is wrong, or asks for what a view cannot keep.
    """
    return JoinView(rule, most_kept)


class JoinView:
    """The answers of a rule over relations that rows are inserted into and deleted from.

    A relation is a multiset of rows over the columns that the rule names; other columns are not looked at.
    An answer is there as often as there are choices of rows for it. A null, and a NaN, equals nothing and
    compares to nothing. Made by `maintain`.

    Parameters
    ----------
    rule : str
    most_kept : int, optional
    """

    def __init__(self, rule: str, most_kept: int = MOST_KEPT) -> None:
        statement = parse(rule)
        if not isinstance(statement, t.Rule):
            raise QueryError([_no_rule()], rule)
        wrong = [one for one in check(statement) if one.severity == "error"]
        if wrong:
            raise QueryError(wrong, rule)
        _check_kept(statement, rule)
        self.rule = rule
        self._kept = KeptView(statement, rule, most_kept)

    def insert(self, relation: str, rows: Any) -> None:
        """Insert rows into a relation: all of them, or none if something is wrong.

        Parameters
        ----------
        relation : str
        rows : object
            A pyarrow Table, pandas or polars DataFrame, DuckDB relation, anything else with
            `__arrow_c_stream__`, or paths to files. Equal rows are several rows.

        Raises
        ------
        DataError
            The rule has no such relation, or a column is missing or of another type than before.
        QueryError
            What the rule joins or compares has values of different types.
        LimitError
            A multiplicity is above 2^62, or a cyclic rule has too many pairs.
        """
        self.update(inserts={relation: rows})

    def delete(self, relation: str, rows: Any) -> None:
        """Delete rows from a relation, each once: all of them, or none if one is not there.

        Raises
        ------
        DataError
            It names rows that are not there (or not as often); nothing was changed then.
        """
        self.update(deletes={relation: rows})

    def update(
        self, inserts: Mapping[str, Any] | None = None, deletes: Mapping[str, Any] | None = None
    ) -> None:
        """Insert into and delete from several relations at once: all of it, or nothing if something is wrong.

        A row that is inserted and deleted in one update stays as it was.

        Parameters
        ----------
        inserts, deletes : mapping of str to object, optional
            For a relation the rows, as for `insert`.
        """
        batch = []
        for given, sign in ((inserts, 1), (deletes, -1)):
            for name, rows in (given or {}).items():
                batch.append((name, table_of(rows, f"the table for {name}"), sign))
        self._kept.update(batch)

    def count(self) -> int:
        """The number of answers, without listing them; the same answer several times is several."""
        return self._kept.count()

    def enumerate(self) -> ViewAnswers:
        """All answers: the columns of the head, and `multiplicity`, how often each is there.

        They are listed as they are read, and each different answer once. An update in between is an error of
        the listing.
        """
        return ViewAnswers(self._schema, lambda rows: self._batches(self._kept.answers(rows), whole=True))

    def delta(self) -> ViewAnswers:
        """What the last update changed: `multiplicity` is above 0 for what it added, below for what it
        removed."""
        return ViewAnswers(self._schema, lambda rows: self._batches(self._kept.changes(rows), whole=False))

    def _schema(self) -> pa.Schema | None:
        kept = self._kept
        if not kept.trees:
            return None
        fields = [(name, kept.kinds[variable].arrow) for name, variable in kept.body.head]
        return pa.schema([*fields, (MULTIPLICITY, pa.int64())])

    def _batches(self, pieces: Iterable[Piece], whole: bool) -> Iterator[pa.RecordBatch]:
        kept = self._kept
        schema = self._schema()
        for piece in pieces:
            arrays = [
                kept.codes.decode(np.ascontiguousarray(piece.columns[variable]), kept.kinds[variable])
                for _, variable in kept.body.head
            ]
            arrays.append(pa.array(piece.after if whole else piece.after - piece.before))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


class ViewAnswers:
    """Answers of a view, or changes of them, listed as they are read.

    Parameters
    ----------
    schema : callable
        Gives the columns, or None before every relation has had rows.
    batches : callable
        From the most rows of a batch to batches.
    """

    def __init__(
        self,
        schema: Callable[[], pa.Schema | None],
        batches: Callable[[int], Iterator[pa.RecordBatch]],
    ) -> None:
        self._schema_of = schema
        self._batches_of = batches

    def batches(self, rows: int = BATCH) -> pa.RecordBatchReader:
        """Record batches of at most `rows` answers."""
        schema = self._schema_of()
        if schema is None:
            raise DataError(
                "no answers, and no types of them, before every relation of the rule has had a table"
            )
        return pa.RecordBatchReader.from_batches(schema, self._batches_of(rows))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches_of(BATCH)) if self._schema_of() is not None else iter(())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The answers through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def head(self, rows: int) -> pa.Table:
        """The first answers that are listed, in no order."""
        found, left = [], rows
        for batch in self.batches(max(1, min(rows, BATCH))):
            found.append(batch.slice(0, left))
            left -= len(found[-1])
            if not left:
                break
        return pa.Table.from_batches(found, self.batches().schema)

    def to_arrow(self) -> pa.Table:
        """All of them."""
        return self.batches().read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """All of them as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """All of them as a polars DataFrame."""
        import polars

        found = polars.from_arrow(self.to_arrow())
        assert isinstance(found, polars.DataFrame)
        return found


def _no_rule() -> Any:
    from cer_gpu.errors import Diagnostic

    return Diagnostic(
        "CER095",
        "a view keeps a rule, and this is a query over a stream",
        None,
        hints=("write `Q(x, y) <- R(x, z), S(z, y)`",),
    )


def _check_kept(rule: t.Rule, text: str) -> None:
    if rule.window is not None:
        what = "a relation of a view has no order, so WITHIN has no meaning"
        raise refused(what, rule, text, "compare times: `u - t <= 5 min`, and delete what is too old")
    for atom in rule.atoms:
        if atom.type.stream is not None:
            raise refused("a relation of a view is of no stream", atom, text)
    names = [variable.name for variable in rule.head]
    for name in names:
        if names.count(name) > 1 or name == MULTIPLICITY:
            raise refused(f"two columns of an answer would be named `{name}`", rule, text)
    if rule.aggregates:
        raise refused("a view does not keep aggregates yet", rule, text)
