"""cer-gpu finds patterns in the order of events.

A query is a pattern of events. Its result is exact: every match in the data, each once. (The literature calls
a match a complex event.)

>>> import cer_gpu as cer
>>> q = cer.compile("SELECT b[price], s[price] FROM Trades WHERE Buy AS b ; Sell AS s WITHIN 5 MINUTES")
>>> m = q.run("trades.parquet", order_by="ts")     # lazy: nothing is listed until it is asked for
>>> for ce in m.head(3):
...     ce.start, ce.end, ce.marks["b"], ce["s"], ce.duration

What to ask of a query, from the cheapest to the fullest:

    q.hits(events)      where matches end: a pyarrow.Table
    q.counts(events)    how many end at each position: a pyarrow.Table
    q.count(events)     how many there are: an int
    q.run(events)       the matches: to_arrow(), to_pandas(), to_polars(), events(), head(), batches()
    q.stream()          the same, batch after batch: push(batch)
    q.check(events)     what is wrong or odd about the query; q.explain() says how it is evaluated
    q.funnel(events)    how many matches reach each step, and which condition stops the others

`events` are a pyarrow Table, a pandas or polars DataFrame, a DuckDB relation, paths to Parquet, Arrow IPC,
CSV or JSON lines, or a dict of event type to any of these. `order_by="ts"` names the column of time,
`type_column="type"` the column of the event type, and `device="cpu"` or `"cuda"` the device (a GPU);
`help(cer.Query.run)` explains every keyword. On Spark: `from cer_gpu import spark`. In a shell: `cer --help`.

`cer.backtest` runs many queries in one pass, `cer.maintain` updates the result of a join as rows come and go,
`cer.timeline` draws a few events and their matches, and `cer.device_report()` checks the GPUs.
`cer.match_recognize` runs SQL's MATCH_RECOGNIZE.

An error about a query, data, a limit or a device is a CerError (QueryError, DataError, LimitError or
DeviceError) and says what to change. A wrong argument is a TypeError or a ValueError.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what reads types takes it for true; `typing` itself takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from cer_gpu.api import Query, compile
    from cer_gpu.backtesting.result import Backtest
    from cer_gpu.backtesting.run import backtest
    from cer_gpu.backtesting.sweep import Variants, sweep
    from cer_gpu.engine.answers.matches import Matches
    from cer_gpu.engine.answers.values import ComplexEvent
    from cer_gpu.engine.run.device_report import DeviceReport, device_report
    from cer_gpu.errors import CerError, DataError, DeviceError, Diagnostic, LimitError, QueryError
    from cer_gpu.row_pattern_query import RowPatternQuery
    from cer_gpu.row_patterns import RowPatternResult, RowPatternVariants, match_recognize
    from cer_gpu.timelines import timeline
    from cer_gpu.views import JoinView, maintain

    __version__: str

_LATE = {
    "CerError": "cer_gpu.errors",
    "DataError": "cer_gpu.errors",
    "DeviceError": "cer_gpu.errors",
    "Diagnostic": "cer_gpu.errors",
    "LimitError": "cer_gpu.errors",
    "QueryError": "cer_gpu.errors",
    "Query": "cer_gpu.api",
    "compile": "cer_gpu.api",
    "Backtest": "cer_gpu.backtesting.result",
    "backtest": "cer_gpu.backtesting.run",
    "RowPatternQuery": "cer_gpu.row_pattern_query",
    "Variants": "cer_gpu.backtesting.sweep",
    "sweep": "cer_gpu.backtesting.sweep",
    "DeviceReport": "cer_gpu.engine.run.device_report",
    "device_report": "cer_gpu.engine.run.device_report",
    "ComplexEvent": "cer_gpu.engine.answers.values",
    "Matches": "cer_gpu.engine.answers.matches",
    "RowPatternResult": "cer_gpu.row_patterns",
    "RowPatternVariants": "cer_gpu.row_patterns",
    "match_recognize": "cer_gpu.row_patterns",
    "timeline": "cer_gpu.timelines",
    "JoinView": "cer_gpu.views",
    "maintain": "cer_gpu.views",
}

__all__ = [
    "Backtest",
    "CerError",
    "ComplexEvent",
    "DataError",
    "DeviceError",
    "DeviceReport",
    "Diagnostic",
    "JoinView",
    "LimitError",
    "Matches",
    "Query",
    "QueryError",
    "RowPatternQuery",
    "RowPatternResult",
    "RowPatternVariants",
    "Variants",
    "backtest",
    "compile",
    "device_report",
    "maintain",
    "match_recognize",
    "sweep",
    "timeline",
]


if not TYPE_CHECKING:
    # Where types are checked, a name that does not exist is an error, and not `Any`.

    def __getattr__(name: str) -> Any:
        # Importing the package stays cheap: modules are loaded when they are first used. The shell's `cer`
        # can be interrupted from its first millisecond on.
        if name == "__version__":
            from cer_gpu.engine.versions import own_version

            return own_version()
        if name in _LATE:
            from importlib import import_module

            return getattr(import_module(_LATE[name]), name)
        if name == "errors":
            from importlib import import_module

            return import_module("cer_gpu.errors")
        raise AttributeError(f"module 'cer_gpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
