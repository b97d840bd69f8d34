"""A live query in a process of its own, which a test kills.

`live_app.py FOLDER QUERY once|on [MASTER [NUMBER PARTITIONS]]`: the stream of a number, from 0, has its own
events, state and matches, `in0`, `state0` and `out0`; from 1 on it goes on after the one before, with its
events in `history1`.
"""

from __future__ import annotations

import sys
from typing import Any

from spark_sessions import local_builder

from cer_gpu import spark as cer_spark

COLUMNS = "type string, ts timestamp, k long, x double, id long"


def main(
    folder: str, query: str, how: str, master: str = "local[2]", number: str = "0", partitions: str = "4"
) -> None:
    builder = local_builder(master).config("spark.local.dir", f"{folder}/scratch")
    spark = builder.config("spark.sql.shuffle.partitions", partitions).getOrCreate()
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    options: dict[str, Any] = {"order_by": ["ts", "id"], "event_id": "id", "late": "100 ms"}
    if number != "0":
        options["after"] = f"{folder}/state{int(number) - 1}"
        options["initial"] = spark.read.schema(COLUMNS).parquet(f"{folder}/history{number}")
        options["buckets"] = 3 * int(partitions)
    found = cer_spark.stream(reader.parquet(f"{folder}/in{number}"), query, **options)
    writer = found.writeStream.format("parquet").option("checkpointLocation", f"{folder}/state{number}")
    writer = writer.option("path", f"{folder}/out{number}")
    trigger = (
        writer.trigger(availableNow=True) if how == "once" else writer.trigger(processingTime="0 seconds")
    )
    trigger.start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
