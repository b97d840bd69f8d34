"""A live query in a process of its own, which a test kills: `live_app.py FOLDER QUERY once|on [MASTER]`."""

from __future__ import annotations

import sys

from spark_sessions import local_builder

from cer_gpu import spark as cer_spark

COLUMNS = "type string, ts timestamp, k long, x double, id long"


def main(folder: str, query: str, how: str, master: str = "local[2]") -> None:
    spark = local_builder(master).config("spark.local.dir", f"{folder}/scratch").getOrCreate()
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    found = cer_spark.stream(
        reader.parquet(f"{folder}/in"), query, order_by=["ts", "id"], event_id="id", late="100 ms"
    )
    writer = found.writeStream.format("parquet").option("checkpointLocation", f"{folder}/state")
    writer = writer.option("path", f"{folder}/out")
    trigger = (
        writer.trigger(availableNow=True) if how == "once" else writer.trigger(processingTime="0 seconds")
    )
    trigger.start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
