"""Views: the result of a join, updated as rows are inserted and deleted.

>>> import cer_gpu as cer
>>> view = cer.maintain("Q(a, d) <- R(a, b), S(b, c), T(d), a < c, c < d")
>>> view.insert("R", r); view.insert("S", s); view.insert("T", t)   # tables: Arrow, pandas, polars, DuckDB
>>> view.count()                 # how many rows, without listing them
>>> view.enumerate().to_arrow()  # the rows: a, d, multiplicity
>>> view.delete("S", gone)
>>> view.delta().to_arrow()      # what the last update added (multiplicity > 0) and removed (< 0)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.aggregation import GroupFold
from cer_gpu.engine.views.answer_columns import ListedAnswers
from cer_gpu.engine.views.body import Body
from cer_gpu.engine.views.drawing import drawn
from cer_gpu.engine.views.kept_view import KeptView
from cer_gpu.engine.views.relations import table_of
from cer_gpu.engine.views.snapshots import Snapshot, packed, unpacked
from cer_gpu.engine.views.terms import refused
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.view_answers import ViewAnswers
from cer_gpu.whole_file import whole_file

MULTIPLICITY = "multiplicity"

MOST_KEPT = 10_000_000
"""Pairs of rows that a cyclic rule may keep."""


def maintain(rule: str, most_kept: int = MOST_KEPT) -> JoinView:
    """Update the result of a join as rows are inserted and deleted.

    Parameters
    ----------
    rule : str
        A rule, `Q(a, c) <- R(a, b), S(b, c), a < c`. `R(a, b)` names the first two columns of the relation R;
        `R(price = a)` names a column by its name. A variable that occurs twice joins its columns by equality.
        Variables may be compared, also with arithmetic: text is compared by its order, and numbers of all
        types exactly. The head, `Q(a, c)`, says which columns the result has.
        Or SQL, for which sqlglot has to be installed (the extra `sql`):
        `SELECT R.a, S.c FROM R, S WHERE R.b = S.b AND R.a < S.c`, also with aggregates and GROUP BY.
    most_kept : int, default 10,000,000
        How many pairs of joining rows a cyclic rule, such as a triangle, may keep.

    Returns
    -------
    JoinView
        A view whose relations have no rows yet.

    Raises
    ------
    QueryError
        When the rule is wrong, or asks for something that a view cannot keep.

    Examples
    --------
    >>> view = cer.maintain("Q(a, c) <- R(a, b), S(b, c), a < c")
    >>> view.insert("R", pd.DataFrame({"a": [1, 2], "b": [7, 7]}))
    """
    return JoinView(rule, most_kept)


class JoinView:
    """A view: the result of a rule, updated as rows are inserted and deleted. Made by `maintain`.

    As in SQL, equal rows of a relation are several rows, and a row of the result may occur several times: its
    multiplicity says how often, which is the number of ways to choose one row of each relation that give it.
    Columns that the rule does not name are ignored. A null or NaN equals nothing and compares to nothing.

    Parameters
    ----------
    rule : str
    most_kept : int, optional
        As for `maintain`.

    Attributes
    ----------
    rule : str
        The rule or SQL as it was written.
    """

    def __init__(self, rule: str, most_kept: int = MOST_KEPT) -> None:
        statement, self._named = _statement(rule)
        wrong = [one for one in check(statement) if one.severity == "error"]
        if wrong:
            raise QueryError(wrong, rule)
        _check_kept(statement, rule)
        self.rule = rule
        self._most_kept = most_kept
        self._kept = KeptView(statement, rule, most_kept)

    def insert(self, relation: str, rows: Any) -> None:
        """Insert rows into a relation: all of them, or none if something is wrong.

        Parameters
        ----------
        relation : str
            A relation of the rule, such as "R".
        rows : object
            A pyarrow Table, pandas or polars DataFrame, DuckDB relation, anything else with
            `__arrow_c_stream__`, paths to files, or a list of dicts, `[{"a": 1, "b": 7}]`, which is the
            fastest way to insert rows one at a time. Equal rows are several rows.

        Raises
        ------
        DataError
            When the rule has no such relation, or a column is missing or has another type than before.
        QueryError
            When the rule joins or compares columns whose types cannot be compared.
        LimitError
            When a multiplicity exceeds 2^62, or a cyclic rule has more than `most_kept` pairs.
        """
        self.update(inserts={relation: rows})

    def delete(self, relation: str, rows: Any) -> None:
        """Delete rows from a relation: all of them, or none if one of them is not there.

        Of several equal rows in the relation, each row that is given deletes one.

        Parameters
        ----------
        relation : str
        rows : object
            As for `insert`.

        Raises
        ------
        DataError
            When the relation does not hold a row, or not as often as it is deleted; the message names such
            rows. The view has not changed. Other errors as for `insert`.
        """
        self.update(deletes={relation: rows})

    def update(
        self, inserts: Mapping[str, Any] | None = None, deletes: Mapping[str, Any] | None = None
    ) -> None:
        """Insert into and delete from several relations at once: all of it, or nothing if something is wrong.

        A row that is both inserted and deleted in one update is left as it was.

        Parameters
        ----------
        inserts, deletes : mapping of str to object, optional
            The rows for each relation, as for `insert`: `{"R": rows}`.

        Raises
        ------
        DataError, QueryError, LimitError
            As for `insert` and `delete`.
        """
        if deletes or not inserts or not self._kept.waits(inserts):
            batch = []
            for given, sign in ((inserts, 1), (deletes, -1)):
                for name, rows in (given or {}).items():
                    batch.append((name, table_of(rows, name, self._kept.relations.get(name)), sign))
            self._kept.update(batch)

    def count(self) -> int:
        """Count the rows of the result without listing them; a row of multiplicity 3 counts three times."""
        return self._kept.count()

    def enumerate(self) -> ViewAnswers:
        """All rows: the columns of the head, and `multiplicity` (int64), how often each row is there.

        Each different row comes once. Rows are listed while the result is read; reading on after an update
        is an error.

        A rule with aggregates, `Q(x; COUNT(*), SUM(v)) <- ...`, is a GROUP BY: it has one row for each value
        of `x`, with columns `COUNT(*)` and `SUM(v)`, and exactly one row if the head has no variable.
        Aggregates ignore nulls and NaNs; without values COUNT is 0 and the others are null.

        Returns
        -------
        ViewAnswers
        """
        if self._kept.body.aggregates:
            return ViewAnswers(self._schema, lambda rows: self._groups(rows, whole=True))
        return ViewAnswers(self._schema, lambda rows: self._batches(self._kept.answers(rows), whole=True))

    def delta(self) -> ViewAnswers:
        """The rows that the last update added (`multiplicity` above 0) and removed (below 0).

        With aggregates, a group whose values have changed has two rows: its old values with -1, its new
        values with 1.

        Returns
        -------
        ViewAnswers
        """
        if self._kept.body.aggregates:
            return ViewAnswers(self._schema, lambda rows: self._groups(rows, whole=False))
        return ViewAnswers(self._schema, lambda rows: self._batches(self._kept.changes(rows), whole=False))

    def explain(self) -> str:
        """Explain how the view is kept, as text: the tree of its joins, what each join compares, the cost."""
        self._kept.settle()
        return drawn(self._kept.body, self._kept.chains)

    def snapshot(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The rule and all rows as bytes, from which `restore` makes the view again.

        Parameters
        ----------
        path : str or path, optional
            A file to write the bytes to as well. It is replaced as a whole: if the disk is full, or the
            process is killed while it writes, the old file stays.

        Returns
        -------
        bytes
        """
        kept = self._kept
        data = packed(Snapshot(self.rule, self._most_kept, kept.held()))
        if path is not None:
            with whole_file(path) as file:
                file.write(data)
        return data

    @classmethod
    def restore(cls, snapshot: bytes | str | os.PathLike[str]) -> JoinView:
        """Make a view again from its snapshot; its `delta` is empty.

        Parameters
        ----------
        snapshot : bytes, str or path
            What `snapshot` returned, or the file that it wrote.

        Returns
        -------
        JoinView

        Raises
        ------
        DataError
            When the bytes are not a snapshot, or are damaged.
        OSError
            When the file cannot be read.
        """
        if isinstance(snapshot, bytes):
            found = unpacked(snapshot, "the snapshot")
        else:
            found = unpacked(Path(snapshot).read_bytes(), f"file {os.fspath(snapshot)}")
        view = cls(found.rule, found.most_kept)
        view._kept.restore(found.relations)
        return view

    def _schema(self) -> pa.Schema | None:
        kept = self._kept
        if not kept.chains:
            return None
        fields = [(name, kept.kinds[variable].arrow) for name, variable in kept.body.head]
        fields += [(self._named.get(one.name, one.name), one.arrow) for one in self._grouping().folded]
        return pa.schema([*fields, (MULTIPLICITY, pa.int64())])

    def _grouping(self) -> GroupFold:
        kept = self._kept
        head = [variable for _, variable in kept.body.head]
        return GroupFold(head, kept.body.aggregates, kept.kinds, kept.codes)

    def _groups(self, rows: int, whole: bool) -> Iterator[pa.RecordBatch]:
        """The groups of a rule with aggregates, or those that the last update changed, as they were and
        are."""
        kept, schema = self._kept, self._schema()
        check = kept.unchanged()
        if whole:
            parts = [(kept.groups().all(), 1)]
        else:
            old, new = kept.groups().difference()
            parts = [(old, -1), (new, 1)]
        places = {variable: n for n, variable in enumerate(dict.fromkeys(v for _, v in kept.body.head))}
        for groups, sign in parts:
            for low in range(0, len(groups.keys), rows):
                check()
                keys = groups.keys[low : low + rows]
                arrays = [
                    kept.codes.decode(np.ascontiguousarray(keys[:, places[variable]]), kept.kinds[variable])
                    for _, variable in kept.body.head
                ]
                arrays += [values.slice(low, rows) for values in groups.values]
                arrays.append(pa.array(np.full(len(keys), sign, np.int64)))
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _batches(self, pieces: Iterable[ListedAnswers], whole: bool) -> Iterator[pa.RecordBatch]:
        kept = self._kept
        schema = self._schema()
        ones = pa.array(np.empty(0, np.int64))
        head = [(name, kept.kinds[name], name in kept.body.strict) for _, name in kept.body.head]
        for piece in pieces:
            rows = len(piece.after)
            if piece.single and len(ones) < rows:
                ones = pa.array(np.ones(rows, np.int64))
            arrays = [
                kept.codes.decode(np.ascontiguousarray(piece.columns[name]), kind, strict)
                for name, kind, strict in head
            ]
            if piece.single and whole:
                arrays.append(ones.slice(0, rows))
            else:
                arrays.append(pa.array(piece.after if whole else piece.after - piece.before))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _statement(text: str) -> tuple[t.Rule, Mapping[str, str]]:
    """The rule that a text says, and the names of its aggregates where they are not their texts."""
    if text.split(None, 1)[:1] and text.split(None, 1)[0].upper() == "SELECT":
        from cer_gpu.sql import rule_of_sql

        try:
            return rule_of_sql(text)
        except QueryError as error:
            try:
                parse(text)
            except QueryError:
                raise error from None
    elif isinstance(statement := parse(text), t.Rule):
        return statement, {}
    what = "a view keeps the result of a rule, and this is a query over a stream"
    raise QueryError(
        [
            Diagnostic(
                "CER095", what, None, hints=("write a rule such as `Q(x, y) <- R(x, z), S(z, y)`, or SQL",)
            )
        ],
        text,
    )


def body_of(view: JoinView) -> Body:
    """The rule of a view as the engine reads it."""
    return view._kept.body


def schema_of(view: JoinView) -> pa.Schema | None:
    """Columns of the answers of a view; None until a batch has shown the types of all of them."""
    return view._schema()


def _check_kept(rule: t.Rule, text: str) -> None:
    if rule.window is not None:
        what = "a relation of a view has no order, so WITHIN has no meaning"
        raise refused(what, rule, text, "compare times: `u - t <= 5 min`, and delete what is too old")
    for atom in rule.atoms:
        if atom.type.stream is not None:
            raise refused("a relation of a view belongs to no stream", atom, text, "write `T`, not `S>T`")
    names = [variable.name for variable in rule.head] + [to_text(one) for one in rule.aggregates]
    for name in names:
        if names.count(name) > 1 or name == MULTIPLICITY:
            raise refused(f"two columns of the view would be named `{name}`", rule, text, "rename a variable")
