"""Everything that needs the JVM of a session. Spark Connect has none: functions then return None or ""."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RAPIDS_FACTS = "rapids4spark-version-info.properties"


def session_jvm(spark: SparkSession) -> Any:
    """The view of a session's JVM through which its classes are reached; None under Spark Connect."""
    # Spark Connect raises an AttributeError that says so.
    return getattr(spark, "_jvm", None)


def is_connect(spark: SparkSession) -> bool:
    """Whether a session speaks to its server by Spark Connect."""
    return session_jvm(spark) is None


def java_of(spark: SparkSession) -> str | None:
    """The property `java.version` of the driver's JVM."""
    jvm = session_jvm(spark)
    return None if jvm is None else str(jvm.java.lang.System.getProperty("java.version"))


def has_class(spark: SparkSession, name: str) -> bool | None:
    """Whether the driver's JVM can load a class (of a plugin); None under Spark Connect."""
    return _has_resource(spark, name.replace(".", "/") + ".class")


def rapids_version(spark: SparkSession) -> str | None:
    """The version of the RAPIDS Accelerator on the driver's class path; None where there is none."""
    loader = _loader(spark)
    stream = None if loader is None else loader.getResourceAsStream(_RAPIDS_FACTS)
    if stream is None:
        return None
    facts = session_jvm(spark).java.util.Properties()
    try:
        facts.load(stream)
    finally:
        stream.close()
    return str(facts.getProperty("version"))


def rapids_knows(spark: SparkSession) -> bool | None:
    """Whether the RAPIDS Accelerator on the class path was built for this version of Spark, among others."""
    # Its jar has a folder for each version: spark411 for 4.1.1.
    digits = "".join(spark.version.split("-")[0].split(".")[:3])
    return _has_resource(spark, f"spark{digits}/")


def rapids_explain(df: DataFrame) -> str | None:
    """The RAPIDS Accelerator's report on a plan, operator by operator; it need not be enabled.

    Returns
    -------
    str or None
        A line that begins with `*` is about an operator that runs on a GPU, one with `!` about one that does
        not; None without a JVM or the RAPIDS Accelerator.
    """
    spark = df.sparkSession
    jvm = session_jvm(spark)
    if jvm is None or rapids_version(spark) is None:
        return None
    return str(jvm.com.nvidia.spark.rapids.ExplainPlan.explainPotentialGpuPlan(df._jdf, "ALL"))


def estimated_rows(df: DataFrame) -> int | None:
    """Spark's estimate of the number of rows of a DataFrame; None if it does not know."""
    statistics = _statistics(df)
    if statistics is None or not statistics.rowCount().isDefined():
        return None
    return int(str(statistics.rowCount().get()))


def _statistics(df: DataFrame) -> Any:
    if is_connect(df.sparkSession):
        return None
    return df._jdf.queryExecution().optimizedPlan().stats()


def _loader(spark: SparkSession) -> Any:
    jvm = session_jvm(spark)
    return None if jvm is None else jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()


def _has_resource(spark: SparkSession, name: str) -> bool | None:
    loader = _loader(spark)
    return None if loader is None else loader.getResource(name) is not None
