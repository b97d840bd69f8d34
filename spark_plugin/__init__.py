"""The same queries on Spark: over DataFrames, over files and in SQL, on CPU and GPU clusters.

>>> from cer_gpu import spark as cer_spark
>>> spark = cer_spark.configure().getOrCreate()
>>> cer_spark.run(df, "SELECT * FROM S WHERE A ; B WITHIN 5 MINUTES", order_by="ts", event_id="id")

    configure()                  sets what a session needs; check(spark) says what keeps it off the GPU
    run, count, counts, hits     over a DataFrame; explain says how a query is evaluated there
    run_files, count_files, ...  over Parquet files, which the workers read themselves
    backtest, backtest_files     many queries in few readings of the events
    match_recognize(sql)         SQL's MATCH_RECOGNIZE over tables, views and files
    register(spark)              the table function `cer_match` for SQL
    prepare(df, path, ...)       writes Parquet files in the layout that is read fastest
    stream(df, ...)              a query on Structured Streaming; stream_metrics what it does
    maintain(rule, folder)       the answers of a join, kept up to date by streams
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if __name__ != "cer_gpu.spark":
    raise ImportError("this folder is installed as `cer_gpu.spark`; write `import cer_gpu.spark`")

if TYPE_CHECKING:
    from cer_gpu.spark.backtests import backtest, backtest_files
    from cer_gpu.spark.checks import check
    from cer_gpu.spark.configuration import configure
    from cer_gpu.spark.files import count_files, counts_files, hits_files, run_files
    from cer_gpu.spark.layout import prepare
    from cer_gpu.spark.live_metrics import stream_metrics
    from cer_gpu.spark.operators import count, counts, explain, hits, run
    from cer_gpu.spark.row_patterns import match_recognize
    from cer_gpu.spark.sql import register
    from cer_gpu.spark.streams import stream
    from cer_gpu.spark.views import maintain

_HOME = {
    "backtest": "backtests",
    "backtest_files": "backtests",
    "prepare": "layout",
    "run_files": "files",
    "hits_files": "files",
    "counts_files": "files",
    "count_files": "files",
    "check": "checks",
    "configure": "configuration",
    "count": "operators",
    "counts": "operators",
    "explain": "operators",
    "hits": "operators",
    "maintain": "views",
    "match_recognize": "row_patterns",
    "register": "sql",
    "run": "operators",
    "stream": "streams",
    "stream_metrics": "live_metrics",
}

__all__ = [
    "backtest",
    "backtest_files",
    "check",
    "configure",
    "count",
    "count_files",
    "counts",
    "counts_files",
    "explain",
    "hits",
    "hits_files",
    "maintain",
    "match_recognize",
    "prepare",
    "register",
    "run",
    "run_files",
    "stream",
    "stream_metrics",
]


def __getattr__(name: str) -> Any:
    # PySpark takes a while to import: nobody pays for it before it is needed.
    if name not in _HOME:
        raise AttributeError(f"module 'cer_gpu.spark' has no attribute {name!r}")
    return getattr(import_module(f"cer_gpu.spark.{_HOME[name]}"), name)
