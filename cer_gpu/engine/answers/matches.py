"""The result of a run: matches, lazily, as Python values or as Arrow."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, overload
from weakref import ref

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.answer_reader import AnswerForms, AnswerReader, ResultProducer, RunAccount
from cer_gpu.engine.answers.display import as_html, as_text
from cer_gpu.engine.answers.table_result import frame_library
from cer_gpu.engine.answers.values import ComplexEvent
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.arrow_types import first_line
from cer_gpu.errors import CerError, DataError, LimitError
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import polars as pl

    from cer_gpu.engine.answers.room import Room
    from cer_gpu.engine.answers.tidy_form import EventForm


BYTES_OF_LIST, BYTES_OF_COMPLEX_EVENT = 120, 700
"""About how many bytes a list takes in a DataFrame, and a match as a Python value."""

SHOWN = 10
"""How many matches a printed `Matches` shows."""

MOST_COUNTED = (1 << 63) - 1
"""The greatest number that `len` can give."""

FIRST = 1000
"""An index below this is answered from the first matches, without listing all."""


class Matches(AnswerReader):
    """The matches of a run; made by `Query.run`. Nothing is read or listed until you ask for it.

    A table of them has one row for each match, sorted by end, start and positions. Its columns are
    `start` and `end` (int64 positions), the columns of PARTITION BY, and `start_time` and `end_time` if
    `order_by` is given. What follows has one of two forms:

    - flat (`to_pandas`, `to_polars`, `to_arrow(flat=True)`, CSV in the shell): one value in each cell. The
      measures, then for a variable `a` the columns `a` (the position of the event that it marks), `a_time` if
      `order_by` is given, and `a_price` for `a[price]` in SELECT. A variable that may mark several events has
      these columns for its first and its last event: `b_first`, `b_first_time`, ..., `b_last`, ...
    - nested (`to_arrow`, `batches`, DuckDB and others that read Arrow): for each of `variables` a
      `list<int64>` of the positions that it marks, for `x[price]` a column of that name with a
      `list<struct<price>>`, and last the measures. A rule has the variables of its head in place of lists,
      and `positions`, a `list<int64>`, one for each event.

    If an earlier column has the same name, a `_` is appended.

    `len(matches)`, `matches[0]`, `matches[-1]` and `matches[:10]` work as for a list; `matches` is true if
    there is any match.

    `to_arrow`, `to_pandas` and `to_polars` keep their table, and an iteration that goes to the end keeps what
    it read, up to 64 MB; later calls read from there. Otherwise each call runs the query again, which
    needs events that can be read again: a table or files, but not a RecordBatchReader.

    Parameters
    ----------
    forms, produce, ran, limit, again, keep, total
        As for `AnswerReader`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the nested table.
    variables : tuple of str
        The variables that SELECT keeps; `SELECT *` also keeps event types, by name. Empty for a rule.
    head_variables : tuple of str, or None
        The variables in the head of a rule, and its aggregates; None for a query.
    partition : tuple of str
        The columns of PARTITION BY.
    time_columns : tuple of str
        `start_time` and `end_time`, or the names that they have instead; empty without `order_by`.
    measures : tuple of str
        The names of the measures, such as `gain` in `LAST(s.price) - FIRST(b.price) AS gain`.
    device : str
        Where the query runs: "cpu", or a device such as "cuda:0".
    device_reason : str
        Why it runs there.
    """

    def __init__(
        self,
        forms: AnswerForms,
        produce: ResultProducer,
        ran: RunAccount,
        limit: int | None,
        again: bool,
        keep: int,
        total: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(forms, produce, ran, limit, again, keep, total)
        form = forms.nested
        self.schema = form.schema
        self.variables = form.variables
        self.partition = form.partition
        self.time_columns = form.times
        self.head_variables = form.head
        self.measures = form.measures
        self._listed = False
        self._iterated: ref[Any] | None = None

    def head(self, number: int = 5) -> Matches:
        """The first matches, in the order (end, start, positions).

        Parameters
        ----------
        number : int
            At most this many; the run stops soon after it has found them.

        Raises
        ------
        ValueError
            For a negative number.
        """
        if number < 0:
            raise ValueError(f"head() takes a number of matches, 0 or more, not {brief(number)}")
        most = number if self._limit is None else min(number, self._limit)
        ran = RunAccount(self.device, self.device_reason, self._notes)
        first = Matches(self._forms, self._produce, ran, most, self._again, self._keep)
        first._says = self._says and number > most
        if self._kept is not None:
            first._kept = self._kept.slice(0, most)
        if self._flat is not None:
            first._flat = self._flat.slice(0, most)
        return first

    def top(self, number: int, by: str, per: str | Sequence[str] = (), descending: bool = True) -> Matches:
        """The matches with the greatest values in a column, overall or for each key.

        `top(10, by="gain")` returns the ten matches with the greatest gain, greatest first. `top(1,
        by="duration", per="host")` returns the longest match of each host, and `top(1, by="start_time",
        per="host", descending=False)` the first match of each host. All
        matches are read once, batch by batch; only the chosen ones are kept.

        Parameters
        ----------
        number : int
            How many are given at most, overall or for each key.
        by : str
            A column of the flat form, such as a measure, `end_time` or `b_price`; or `duration`, the time
            from `start_time` to `end_time` (without `order_by`, the number of positions).
        per : str or sequence of str, optional
            Columns of the flat form: their values are the key.
        descending : bool, default True
            False returns the least values, the least first. Values that are missing or NaN come last. Of
            equal values, the match that ends first comes first.

        Returns
        -------
        Matches
            In the order of `by`, also where there is a key.

        Raises
        ------
        DataError
            When there is no such column, or its values have no order.
        ValueError
            For a negative number.
        """
        from cer_gpu.engine.answers.flat_form import WideForm
        from cer_gpu.engine.answers.match_order import MatchOrder, picked

        if number < 0:
            raise ValueError(f"top() takes a number of matches, 0 or more, not {brief(number)}")
        key = (per,) if isinstance(per, str) else tuple(per)
        order = MatchOrder(number, by, key, descending, self._form.times)
        flat_alone = self._form.grouped or not self._form.marking
        flat = None if flat_alone else self._forms.flat(False)
        wide = None if flat is None else WideForm(self._form, flat)
        flat_schema = self.schema if flat is None else flat.schema
        schema = self.schema if wide is None else wide.schema
        order.check(flat_schema, self._form.event_id is not None)
        with within_memory("choosing matches"):
            parts = ((one if wide is None else wide.flat(one), one) for one in self._run(wide))
            chosen = order.chosen(parts, flat_schema, schema)
        numbers, limited = chosen.matches, self._limited

        def produce(form: Any, wanted: int | None, room: Room | None = None) -> Iterator[Any]:
            if not flat_alone:
                yield from picked(self._produce(form, None if not limited else self._limit), numbers)

        ran = RunAccount(self.device, self.device_reason, self._notes)
        found = Matches(self._forms, produce, ran, None, self._again, self._keep)
        found._kept = chosen.rows if wide is None else wide.nested_table(chosen.rows)
        found._flat = None if wide is None else wide.flat_table(chosen.rows)
        found._limited = limited
        return found

    def first(self) -> ComplexEvent | None:
        """The first match, or None if there is none."""
        return next(iter(self.head(1)), None)

    def batches(self, keep: bool = True) -> pa.RecordBatchReader:
        """The matches as a reader of record batches of bounded size.

        Parameters
        ----------
        keep : bool, default True
            Keep what is read, up to 64 MB, so that later calls need not run the query again.
        """
        batches = self._batches() if keep or self._kept is not None else self._run()
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def to_arrow(self, flat: bool = False) -> pa.Table:
        """All matches as a table, which is kept for later calls.

        Parameters
        ----------
        flat : bool, default False
            Whether each cell has one value, as in `to_pandas`; otherwise variables have lists of positions.

        Raises
        ------
        LimitError
            If the table would not fit into the free memory; raised before it is made.
        """
        return self._collected(flat, self._room(0))

    def _room(self, beside: int, schema: pa.Schema | None = None) -> Room:
        """What watches that all answers fit into memory, each with `beside` further bytes in the table."""
        from cer_gpu.engine.answers.room import Room

        return Room(self.schema if schema is None else schema, beside)

    def to_pandas(self, flat: bool = True) -> pd.DataFrame:
        """All matches as a pandas DataFrame (needs pandas).

        Parameters
        ----------
        flat : bool, default True
            Whether each cell has one value: `a` (a position), `a_time`, `a_price`. Otherwise the columns are
            those of `to_arrow()`, with lists.

        Raises
        ------
        LimitError
            If the matches would not fit into the free memory; raised before they are listed.
        DataError
            For a time that pandas cannot represent.
        """
        frame_library("pandas")
        lists = 0 if flat else sum(pa.types.is_list(kind) for kind in self.schema.types)
        table = self._collected(flat, self._room(8 * len(self.schema) + BYTES_OF_LIST * lists))
        try:
            with within_memory("collecting the matches"):
                return table.to_pandas()
        except (ValueError, OverflowError) as error:  # of which ArrowInvalid is one
            raise DataError(
                f"pandas cannot hold the matches: {first_line(error)}; take them as Arrow, with to_arrow()"
            ) from error

    def to_polars(self, flat: bool = True) -> pl.DataFrame:
        """All matches as a polars DataFrame (needs polars); `flat` as in `to_pandas`."""
        frame: pl.DataFrame = frame_library("polars").DataFrame(self.to_arrow(flat))
        return frame

    def rows(self) -> pa.Table:
        """The matches with all columns of the rows that they mark, side by side.

        Returns
        -------
        pyarrow.Table
            As `to_arrow(flat=True)`, but the position of the event that a variable marks is followed by
            all columns of its row: `a`, `a_ts`, `a_price`, `a_volume`, ... For a DataFrame with an index of
            its own also the labels of the row: `a_index`, or `a_` and the name of the index.

        Raises
        ------
        LimitError
            If the table would not fit into the free memory.
        DataError
            For a rule with aggregates: a row of its result stands for many matches. For a stream whose
            query does not ask for all columns with `a[*]`.
        """
        self._refuse_groups()
        if not self._form.marking:
            return self.to_arrow()
        with within_memory("collecting the rows of the matches"):
            form = self._forms.flat(True)
            room = self._room(0, form.schema)
            return pa.Table.from_batches(list(self._run(form, room)), form.schema)

    def events(self, whole: bool = False) -> pa.Table:
        """The marked events in tidy form: a row for each event and each variable that marks it.

        Parameters
        ----------
        whole : bool, default False
            Whether all columns of the data are shown, not only the attributes that SELECT asks for.

        Returns
        -------
        pyarrow.Table
            `match` (int64: the row of the match in `to_arrow()`), the columns of PARTITION BY,
            `variable`, `position` (int64), `row` (int64: the row in the data as it was given, also after
            `sort=True`), `source` (for a dict of tables, the name of the table that has the row), the labels
            of a DataFrame's index, `time` if `order_by` is given, the attributes that SELECT asks for (null
            where the variable was not asked for them), and the measures. Rows are sorted by match, then by
            position. A rule has a row for each event, with its event type as `variable`.

        Raises
        ------
        LimitError
            If the table would not fit into the free memory.
        DataError
            As in `rows`.
        """
        self._refuse_groups()
        with within_memory("collecting the events of the matches"):
            form = self._forms.events(whole)
            room = None if self._form.hidden is not None else self._room(0, form.schema)
            return pa.Table.from_batches(list(self._event_rows(form, room)), form.schema)

    def _refuse_groups(self) -> None:
        if self._form.grouped:
            raise DataError(
                "each row of a rule with aggregates stands for many matches, and their events are not "
                "listed: leave the aggregates out of the rule"
            )

    def event_batches(self, whole: bool = False) -> pa.RecordBatchReader:
        """The rows of `events()` as a reader of record batches of bounded size."""
        self._refuse_groups()
        form: EventForm = self._forms.events(whole)
        return pa.RecordBatchReader.from_batches(form.schema, self._event_rows(form))

    def flat_batches(self, whole: bool = False) -> pa.RecordBatchReader:
        """The matches in flat form, as a reader of record batches of bounded size.

        Parameters
        ----------
        whole : bool, default False
            Whether all columns of the marked rows are shown, as in `rows()`.
        """
        if whole:
            self._refuse_groups()
        if not self._form.marking:
            return self.batches()
        if self._flat is not None and not whole:
            return self._flat.to_reader()
        form = self._forms.flat(whole)
        return pa.RecordBatchReader.from_batches(form.schema, self._run(form))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The matches through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[ComplexEvent]:
        iterator = self._complex_events()
        self._iterated = ref(iterator)
        return iterator

    def _complex_events(self) -> Iterator[ComplexEvent]:
        # `list` asks for a hint once it has an iterator: only then are all matches there at once.
        room = self._room(BYTES_OF_COMPLEX_EVENT) if self._listed else None
        self._listed = False
        for batch in self._batches(room):
            yield from self._form.complex_events(batch)

    def __length_hint__(self) -> int:
        self._listed = True
        return NotImplemented

    def __len__(self) -> int:
        """How many matches there are; they are counted where that needs no listing.

        Raises
        ------
        LimitError
            For a number that no `len` can have; `Query.count` gives it.
        """
        begun = None if self._iterated is None else self._iterated()
        if begun is not None and inspect.getgeneratorstate(begun) == inspect.GEN_CREATED:
            # `list(matches)` asks, which must not count what it lists in a moment: it then asks for a hint.
            raise TypeError("an iterator of these matches has not begun: call len() before iter()")
        for kept in (self._kept, self._flat):
            if kept is not None:
                return len(kept)
        if self._total is None or not self._again:
            return len(self.to_arrow())
        number = self._total()
        if number > MOST_COUNTED:
            raise LimitError(
                f"there are about 10^{len(str(number)) - 1} matches, and len() can say at most 2^63 - 1: "
                "query.count(events) gives the number"
            )
        return number

    def __bool__(self) -> bool:
        """Whether there is any match."""
        if self._kept is not None or self._again:
            return len(self.head(1).to_arrow()) > 0
        return len(self.to_arrow()) > 0

    @overload
    def __getitem__(self, place: int) -> ComplexEvent: ...

    @overload
    def __getitem__(self, place: slice) -> Matches: ...

    def __getitem__(self, place: int | slice) -> ComplexEvent | Matches:
        """The match of a number, from 0 or -1 from the end; of a slice `[:n]`, the first ones.

        Raises
        ------
        IndexError
            When there are fewer.
        TypeError
            For another slice.
        """
        if isinstance(place, slice):
            if place.start in (None, 0) and place.step in (None, 1) and (place.stop or 0) >= 0:
                return self if place.stop is None else self.head(place.stop)
            raise TypeError(
                "only the first matches can be sliced, as in matches[:10]: for others use to_arrow(), "
                "to_pandas() or list(matches), or top(10, by=...)"
            )
        if not hasattr(place, "__index__"):
            raise TypeError(
                f"matches[...] takes a number, from 0, or a slice, not {brief(place)}: for a column use "
                "to_pandas() or to_arrow(flat=True), for the events of a variable matches[0]['a']"
            )
        number = index(place)
        early = self._kept is None and self._again and 0 <= number < FIRST
        table = (self.head(number + 1) if early else self).to_arrow()
        if not -len(table) <= number < len(table):
            raise IndexError(f"there is no match {number}: there are {len(table):,}")
        row = table.slice(number % len(table), 1).combine_chunks()
        return next(self._form.complex_events(row.to_batches()[0]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            "NumPy and pandas.DataFrame(matches) would treat each match as a single value: call "
            "matches.to_pandas() for a DataFrame, and matches.to_arrow(flat=True) for arrays"
        )

    def __repr__(self) -> str:
        shown = self._shown()
        return self._heading() if shown is None else f"{self._heading()}\n{as_text(shown, SHOWN)}"

    def _repr_html_(self) -> str:
        return as_html(self._heading(), self._shown(), SHOWN)

    def _shown(self) -> pa.Table | None:
        """The answers to show and one more; None where reading them now would lose them for later."""
        if self._kept is None and not self._again:
            return None
        try:
            looked_at = self.head(SHOWN + 1)
            looked_at._says = False  # of what only a look has met
            return looked_at.to_arrow()
        except CerError:  # it comes again when the answers are asked for
            return None

    def _heading(self) -> str:
        names = (
            ", ".join(self.variables if self.head_variables is None else self.head_variables)
            or "no variables"
        )
        return f"<Matches of {names} on {self.device}>"
