"""The public Python interface: compile a query and run it over events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from cer_gpu.checked_query import check_roles, checked, opened, raise_errors, say_findings, schema_of
from cer_gpu.engine.run.device_choice import place_of
from cer_gpu.engine.run.options import Options, read_options, spelled
from cer_gpu.engine.run.value_watch import value_watch
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import Diagnostic
from cer_gpu.language.check import check as check_query
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import SelectQuery, Statement
from cer_gpu.language.walk import asks_types_alone, names_in
from cer_gpu.plan.cost import LISTING, MAIN, Question
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.lower import AUTO
from cer_gpu.plan.outline import Outline, outline
from cer_gpu.plan.planning.planner import Plan, plan
from cer_gpu.plan.planning.plans import QueryPlans
from cer_gpu.plan.refusals import never_answers
from cer_gpu.progress import is_shown, shown_together

if TYPE_CHECKING:
    import pyarrow as pa

    from cer_gpu.engine.answers.matches import Matches
    from cer_gpu.engine.read.sources.source import Source
    from cer_gpu.engine.run.bound_query import BoundQuery
    from cer_gpu.engine.run.options import FunnelKeywords, ReadKeywords, StreamKeywords
    from cer_gpu.engine.run.portable_query import PortableQuery
    from cer_gpu.engine.run.stream import Stream


def compile(text: str, params: Mapping[str, Any] | None = None) -> Query:
    """Compile a query or a rule.

    Parameters
    ----------
    text : str
        A query, `SELECT ...`, or a rule such as `Q(x) <- T(x), S(x, y)`.
    params : mapping of str to object, optional
        The values of the query's parameters, by their names without `$`. A later call, such as `run`, may
        give other values.

    Returns
    -------
    Query
        It can be run any number of times, over different events.

    Raises
    ------
    QueryError
        When the query is wrong, or has no parameter for a value in `params`. All that is found is listed.
    LimitError
        When the automaton of the query would be too large; the message says what to change.
    TypeError
        When `text` is not a str.

    Examples
    --------
    >>> q = cer.compile("SELECT * WHERE Buy ; Sell AS s FILTER s[price > $p] WITHIN 5 MINUTES", {"p": 100})
    """
    return Query(text, params)


class Query:
    """A compiled query; made by `compile`. It can be run any number of times, also over different data.

    Attributes
    ----------
    text : str
        The query as it was written.
    names : frozenset of str
        All names that occur in the query: columns, event types, variables.
    """

    def __init__(self, text: str, params: Mapping[str, Any] | None = None, bound_next: bool = False) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a query must be a str, not {type(text).__name__}")
        self.text = text
        self._tree = parse(text)
        found = check_query(self._tree, None)
        raise_errors(found, text)
        self.names = names_in(self._tree)
        self._outline = outline(self._tree, text)
        self._plans = QueryPlans(self._tree, text, self._outline, params or {})
        self._workers = Workers()
        # Planning for an assumed schema finds automata over budget now, and not when data is at hand.
        self._plan = None if bound_next else self._plan_without_data()
        self._everywhere: tuple[Plan, Sequence[Diagnostic]] | None = None
        """The plan and its notes, where no data decides them: of a query that asks for types alone."""
        settled = self._plan is not None and self._plan.alone and not self.parameters
        if self._plan is not None and settled and asks_types_alone(self._tree):
            never = (never_answers(self._tree),) if self._plan.never else ()
            self._everywhere = self._plan, (*found, *never)

    @property
    def tree(self) -> Statement:
        """The query as a syntax tree; for the package itself."""
        return self._tree

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the query's parameters, without `$`, in the order of the text."""
        return self._plans.parameters

    @property
    def given(self) -> dict[str, Any]:
        """The values that `compile` was given for parameters, by their names."""
        return dict(self._plans.given)

    @spelled(read_options)
    def run(self, events: Any, **keywords: Unpack[ReadKeywords]) -> Matches:
        """Find the matches of the query.

        Parameters
        ----------
        events : object
            A pyarrow Table, RecordBatchReader, Dataset or Scanner, anything with `__arrow_c_stream__`
            (pandas, polars, DuckDB), a LazyFrame of polars, a list of tables or data frames, an iterator of
            record batches, a path or a list of paths to Parquet, Arrow IPC, CSV or JSON lines (text also as
            `.gz`, `.bz2`, `.zst`, `.xz`), or a dict of event type to any of these. Data on a CUDA device:
            anything with `__arrow_c_device_stream__` or `__arrow_c_device_array__`, a cuDF DataFrame, or a
            dict of column name to arrays with `__cuda_array_interface__` (and Arrow arrays, for strings).
        order_by : str or sequence of str, default None
            The time column, then the columns that break ties. Without it, the order of the rows is the order
            of the events. With PARTITION BY, only the events of each partition have to be in order.
        order_unit : str, default None
            The unit of a plain-number time column: "s", "ms", "us" or "ns".
        type_column : str or None, default "type"
            The column of the event type. None: no column tells the type, and all events are of the one type
            that FROM names. A column `type` is then an attribute like others.
        stream_column : str, default None
            The column of the stream that an event belongs to, for `S>T` and FROM.
        sort : bool, default False
            Sort by `order_by` first; otherwise events out of order are an error.
        ordered : bool, default False
            Promise that with PARTITION BY all events together are in the order of time, not only those of
            each partition. Events whose window is over are then dropped. One out of order is an error.
        device : {"auto", "cpu", "cuda", "cuda:1", ...} or list of CUDA devices, default "auto"
            "auto" uses a GPU where there is one and it is faster; `Matches.device_reason` says why. Several
            CUDA devices, `["cuda:0", "cuda:1"]` or "cuda:0,cuda:1", share the work.
        limit : int, default None
            Stop after this many (of a stream: for each batch); `Matches.limited` says whether there are more.
        memory : int, default None
            Bytes that a run may keep and work on at a time. If the events of open windows and the keys of
            PARTITION BY take more, partitions are moved to temporary files; if that does not help, or partial
            matches take more, the run ends with a `LimitError`. Without `memory`, it does so before the free
            memory is gone. `memory` does not count the process and its libraries, data that is already in
            memory, dictionaries of strings, results that you keep, and working copies: expect the peak of the
            process about 100 MB above it.
        delimiter : str, default None
            The character between the cells of CSV files: by default a tab in `.tsv` files, a comma in others.
        column_types : dict of str to str or pyarrow.DataType, default None
            Types of columns of CSV and JSON lines files, `{"id": "string"}`; else found in their first 8 MiB.
        date_format : str or list of str, default None
            How times are written in CSV files, as for `strptime`: "%d.%m.%Y %H:%M:%S". By default ISO 8601.
        decimal_point : str, default None
            The decimal point of numbers in CSV files: "," or, by default, ".".
        ambiguous : {"raise", "earliest", "latest", "infer"}, default "raise"
            How to read a CSV time that the clocks of its zone showed twice; "infer": by the rows' order.
        engine : str, default "auto"
            The engine that runs the query: "regular", "chain", "ordered", "apart", "threshold", "rule",
            "join", "timed", "clock" or "general", which takes every query. "auto" takes the cheapest
            (`explain(verbose=True)` shows the costs). All give the same matches.
        params : mapping of str to object, default None
            The values of the query's parameters, by their names without `$`: numbers, texts, bools, times.
            For a span of time, give a `timedelta` or a text such as '5 min'.
        event_id : str, default None
            A column whose values are returned in place of positions: in `start` and `end`, in the lists of
            the variables, in `position` and in `latest_start`. `hits` then keeps the ids of all events that
            the pattern may use in memory.
        until : str, datetime or number, default None
            A time up to which the events are known. A match that depends on nothing happening after it is
            left out; a match that depends on nothing having happened before it is there. None: nothing comes
            after the last event. A later row is an error.
        late : str, timedelta or number, default None
            Rows may come out of order by at most so much time, such as "30 s" (a number where the time column
            holds plain numbers): they wait that long and are put in order; ties stay as they came. Positions
            are places in that order, and `row` in `Matches.events()` is the row as it was given.
        on_late : {"error", "drop"}, default "error"
            A row that is later still is an error, or left out and counted in `Matches.notes`.
        nan_is_null : bool, default None
            Whether NaN is a missing value. None: in pandas it is, elsewhere it is a number, and a note says
            where the result depends on it.

        Returns
        -------
        Matches
            Lazy: no match is listed until you ask for it.

        Raises
        ------
        QueryError
            When the query does not fit the data; the error lists every unknown name and every comparison of
            types that cannot be compared.
        DataError
            When the events cannot be read. Events out of order raise it too, while the result is read.
        LimitError
            While the result is read: when `memory` or the free memory does not suffice.
        DeviceError
            When the device that was asked for cannot be used.
        TypeError, ValueError
            When there is no such keyword, or a keyword has a value that it cannot have.
        """
        return self.bound_to(events, read_options(**keywords), "lists").matches()

    @spelled(read_options)
    def count(self, events: Any, **keywords: Unpack[ReadKeywords]) -> int:
        """Count the matches without listing them; keywords and errors as in `run`.

        Returns
        -------
        int
            The exact number, of any size.
        """
        one_each = isinstance(self._tree, SelectQuery) and self._tree.limit == 1
        return self.bound_to(events, read_options(**keywords), "hits" if one_each else "counts").count()

    @spelled(read_options)
    def counts(self, events: Any, **keywords: Unpack[ReadKeywords]) -> pa.Table:
        """Count the matches that end at each position; keywords and errors as in `run`.

        Returns
        -------
        pyarrow.Table
            One row for each position at which a match ends: `position` (int64), the columns of
            PARTITION BY, `time` if `order_by` is given, and `count` (int64; decimal256 beyond 64 bits).
        """
        return self.bound_to(events, read_options(**keywords), "counts").counts()

    @spelled(read_options)
    def hits(self, events: Any, **keywords: Unpack[ReadKeywords]) -> pa.Table:
        """Find the positions at which at least one match ends; keywords and errors as in `run`.

        Returns
        -------
        pyarrow.Table
            One row for each such position: `position` (int64), the columns of PARTITION BY, `time` if
            `order_by` is given, and `latest_start` (int64): the latest start of the matches that end
            there, before a strategy (NEXT, LAST, MAX, ANY), a selector around the whole pattern (`LAST(p)`)
            or LIMIT chooses among them.
        """
        return self.bound_to(events, read_options(**keywords), "hits").hits()

    @spelled(read_options, omit=("sort",))
    def stream(self, state: bytes | None = None, **keywords: Unpack[StreamKeywords]) -> Stream:
        """Run the query over batches as they arrive; keywords as in `run`, without `sort`.

        Parameters
        ----------
        state : bytes, optional
            The bytes that `Stream.snapshot()` returned: the stream continues from there.

        Returns
        -------
        Stream
            `push(batch)` returns the matches that end in the batch; `snapshot()` keeps the state.

        Raises
        ------
        ValueError
            When `sort=True` is given: batches have to come in order.
        DataError
            When `state` is damaged, or was stored with another query, other keywords or another version.
        """
        from cer_gpu.engine.run.stream import Stream
        from cer_gpu.engine.run.stream_identity import about

        given: dict[str, Any] = {**keywords}
        if given.pop("sort", False):
            raise ValueError("a stream cannot be sorted: leave sort out, and push its batches in order")
        asked = read_options(**given)

        def bind(batch: Any) -> BoundQuery:
            return self.bound_to(batch, asked.of_push(batch), "pushes", once=True)

        return Stream(bind, about(self.text, asked), state, asked)

    @spelled(read_options)
    def explain(
        self,
        format: str = "text",
        events: Any = None,
        verbose: bool = False,
        **keywords: Unpack[ReadKeywords],
    ) -> str:
        """Explain how the query is evaluated: which engine runs it, why, and what it costs; or draw it.

        Parameters
        ----------
        format : {"text", "mermaid", "svg"}, default "text"
            "mermaid" gives the text of a Mermaid flowchart, "svg" an SVG document.
        events : object, optional
            The events that the query would run on; they and the other keywords are as in `run`. Without
            events, the types of attributes are guessed from the query, and no device is chosen.
        verbose : bool, default False
            Also say what runs inside: class, automaton, sizes, and the steps of every engine.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            When `format` is none of the three.
        LimitError
            When the automaton has more states than can be drawn.
        CerError
            For "svg", when the package that draws it is not installed.
        """
        from cer_gpu.plan.planning.explain import check_format, drawn, explain

        check_format(format)
        asked = read_options(**keywords)
        found, place = self._plan or self._plan_without_data(), ""
        if events is None and asked.engine != AUTO:
            found = self._plan_without_data(asked.engine)
        if events is not None:
            source = opened(self.names, events, asked)
            found = self._planned_for(source, asked)[0]
            chosen = place_of(asked.device, found.compiled, source.rows, source.device)
            place = f"{chosen.name}: {chosen.reason}"
        if format == "text":
            return explain(found, self._plans.told(asked.params), place, events is not None, verbose)
        return drawn(found, format)

    @spelled(read_options, omit=("limit", "event_id", "memory"))
    def funnel(self, events: Any, **keywords: Unpack[FunnelKeywords]) -> pa.Table:
        """Count how many partial matches reach each step, and what stops the others; keywords as in `run`.

        The outermost `;` and `:` cut the pattern into steps: `A ; B : C` has three. A partial match is one of
        the steps so far. Each step has a row, and one more for each condition, counted without it.

        Returns
        -------
        pyarrow.Table
            `step` (int64, from 1), `pattern` (string: the step as it is written), `without` (string: the
            condition that is left out: a filter, `:`, an interval or the window; null in the row of the step
            itself), `hits` (int64: events at which a match ends), `matches` (int64, or decimal256 beyond 64
            bits: partial matches that reach the step) and `died`: those of the step before that go no
            further; with `without`, those of them that would go on without that condition (null where that
            cannot be told: `note` says why). Strategies, CONSUME BY, SUPPRESS and LIMIT are ignored.

        Raises
        ------
        ValueError
            When the query is a rule, which has no steps.
        DataError
            When the events can be read only once, and the rows need several passes. Else as in `run`.

        Examples
        --------
        >>> cer.compile("SELECT * WHERE (A AS a FILTER a[v > 9]) ; B WITHIN 5 MINUTES").funnel(events)
        """
        from cer_gpu.funnel import counted_table, stages_of  # few calls need it

        asked, stages = read_options(**keywords), stages_of(self._tree)
        if given := {**self.given, **asked.params}:
            from cer_gpu.language.parameters import check_given

            check_given(dict.fromkeys(self.parameters), given, self.text)
        with shown_together():
            return counted_table(stages, Query, opened(self.names, events, asked), asked, given)

    @spelled(read_options)
    def check(self, events: Any = None, **keywords: Unpack[ReadKeywords]) -> tuple[Diagnostic, ...]:
        """List everything that is wrong or odd about the query; keywords as in `run`.

        Parameters
        ----------
        events : object, optional
            The events that the query would run on, as in `run`. Names and types are then checked against
            them, and an event type that no event has is an error (finding this out reads the type column).

        Returns
        -------
        tuple of Diagnostic
            Errors and notes; empty when there are none.

        Raises
        ------
        DataError
            When the events cannot be read, or lack the column of types or streams that the query needs.
        """
        return checked(self._tree, self.text, events, keywords)

    @spelled(read_options)
    def portable(self, schema: pa.Schema, **keywords: Unpack[ReadKeywords]) -> PortableQuery:
        """Plan the query for data with a given schema, to send it to another process; keywords as in `run`.

        Parameters
        ----------
        schema : pyarrow.Schema
            The columns of the data.

        Returns
        -------
        PortableQuery
            A query that can be pickled.

        Raises
        ------
        QueryError, DataError
            When the query does not fit the schema, or its type, stream or time column is not there.
        """
        return self.portable_over(schema.empty_table(), read_options(**keywords))

    def portable_over(self, events: Any, asked: Options, question: Question = MAIN) -> PortableQuery:
        """The query planned for events, to send it to another process; for the package itself."""
        return self.bound_to(events, asked, question, once=True).portable()

    def bound_to(
        self, events: Any, asked: Options, question: Question = MAIN, once: bool = False
    ) -> BoundQuery:
        """The query checked against events and planned for them; for the package itself.

        Parameters
        ----------
        events : object
            As for `run`, or a source that was opened for the `names` of the query.
        asked : Options
        question : Question
            What will be asked of it, which decides the route; it answers any.
        once : bool
            Whether the events are read only once, as in a stream or in one pass for many queries.
        """
        from cer_gpu.engine.run.bound_query import BoundQuery

        with shown_together() if is_shown() else nullcontext():
            source = opened(self.names, events, asked)
            if asked.event_id is not None:
                source.require(asked.event_id, "event_id")
            planned, units, findings = self._planned_for(source, asked, question)
            once = once or not source.repeats
            compiled = planned.compiled
            if once:
                from cer_gpu.engine.run.exact_decimals import exactly  # a run over a table does without it

                compiled = exactly(compiled, source.arrow_schema)
            bound = BoundQuery(compiled, source, units, asked, self._workers, lists=question in LISTING)
        if findings:
            say_findings(findings, bound.notes)
        if self.names:
            bound.value_watch = value_watch(self._plans, asked, source)
            bound.sought = self._plans.sought_values
        if not once:
            bound.instead = lambda error: self.bound_to(source, error.asked(asked), question, once=True)
        return bound

    def _planned_for(
        self, source: Source, asked: Options, question: Question = MAIN
    ) -> tuple[Plan, dict[str, str], Sequence[Diagnostic]]:
        """The query planned for events, the units of columns that it reads, and the notes of the checks."""
        if self._everywhere is not None and source.tells_types and asked.engine == AUTO and not asked.params:
            return self._everywhere[0], {}, self._everywhere[1]
        schema = schema_of(self._tree, source, asked)
        typed = asked.type_column if source.has_type_column else None
        columns = RoleColumns(typed, asked.stream_column, source.type_kind)
        cuda = source.device is not None or any(one.startswith("cuda") for one in asked.device)
        key = (source.arrow_schema, schema, columns, asked.type_column, asked.engine, cuda)

        def make(shape: Outline, question: Question, before: Plan | None) -> Plan:
            check_roles(self._tree, source)
            if before is None and shape is self._outline and asked.engine == AUTO:
                before = self._plan
            return plan(shape, schema, columns, asked.engine, before, question, cuda)

        found, notes = self._plans.planned(key, schema, asked.params, make, question, cuda)
        return found, dict(schema.units), notes

    def _plan_without_data(self, engine: str = AUTO) -> Plan:
        """The query planned for the types that its constants suggest."""
        return plan(self._outline, None, RoleColumns(stream="stream"), engine)

    def __reduce__(self) -> tuple[type[Query], tuple[str, Mapping[str, Any] | None]]:
        # The threads stay behind: a query is its text.
        return Query, (self.text, self._plans.given or None)

    def __repr__(self) -> str:
        return f"<cer_gpu.Query {' '.join(self.text.split())!r}>"
