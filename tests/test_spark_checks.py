"""`check`: the reasons of a session without a GPU, and what of the JVM it looks at."""

import platform
from types import SimpleNamespace

import pyspark
import pytest
import spark_sessions
from cer_gpu.spark import checks as module
from cer_gpu.spark import jvm, settings
from cer_gpu.spark.checks import check
from cer_gpu.spark.settings import SettingError

pytestmark = spark_sessions.GROUP


class Session:
    """A session of Spark Connect, as far as a check without a job sees it: it has no JVM."""

    def __init__(self, version="4.1.1", **keys):
        self.version = version
        self.keys = {key.replace("_", "."): value for key, value in keys.items()}
        self.conf = SimpleNamespace(get=lambda key, default=None: self.keys.get(key, default))


def found(reasons):
    return [(reason.what, reason.reason) for reason in reasons]


def test_a_plain_session(spark):
    table = check(spark)
    assert table.columns == ["what", "reason", "remedy"]
    rows = [tuple(row) for row in table.collect()]
    assert ("rapids", f"spark.plugins does not name {settings.RAPIDS_PLUGIN}") in [row[:2] for row in rows]
    assert [row for row in rows if "not on the driver's class path" in row[1]]
    assert all(what in ("rapids", "executors") for what, _, _ in rows)
    assert all(remedy for _, _, remedy in rows)


def test_the_executors_are_asked(spark):
    (told,) = spark.range(5).coalesce(1).mapInArrow(module.report, module._REPORT).collect()
    assert told["host"] == platform.node()
    assert told["spark"] == pyspark.__version__
    assert (told["device"] == "cpu") == bool(told["reason"])
    cpu = [reason for reason in module.executors(spark) if "on the CPU" in reason.reason]
    assert bool(cpu) == (told["device"] == "cpu")


def test_executors_without_the_package_are_told(spark, monkeypatch):
    def absent(batches):
        raise ModuleNotFoundError("No module named 'cer_gpu'")

    monkeypatch.setattr(module, "report", absent)
    (reason,) = module.executors(spark)
    assert reason.reason.endswith("ModuleNotFoundError: No module named 'cer_gpu'")
    assert "install cer-gpu" in reason.remedy


def test_gpu_off_is_a_reason(spark):
    spark.conf.set(settings.GPU.key, "off")
    try:
        rows = check(spark, ask_executors=False).collect()
    finally:
        spark.conf.unset(settings.GPU.key)
    assert ("settings", "spark.cer.gpu=off") in [tuple(row)[:2] for row in rows]


def test_a_wrong_value_is_an_error(spark):
    spark.conf.set(settings.GPU.key, "maybe")
    try:
        with pytest.raises(SettingError):
            check(spark, ask_executors=False)
    finally:
        spark.conf.unset(settings.GPU.key)


@pytest.mark.parametrize(
    ("master", "missing"),
    [
        ("local[4]", []),
        ("spark://host:7077", [settings.EXECUTOR_GPUS, settings.TASK_GPUS]),
        ("yarn", [settings.EXECUTOR_GPUS, settings.TASK_GPUS, settings.DISCOVERY]),
        ("k8s://host", [settings.EXECUTOR_GPUS, settings.TASK_GPUS, settings.DISCOVERY, settings.VENDOR]),
    ],
)
def test_the_settings_of_a_cluster(master, missing):
    session = Session(spark_master=master)
    reasons = list(module.wishes(session))
    assert [reason.reason.split(" ")[0] for reason in reasons] == [setting.key for setting in missing]
    session.keys |= {setting.key: "1" for setting in missing}
    assert list(module.wishes(session)) == []


def test_the_settings_of_rapids():
    session = Session(**{settings.PLUGINS.key: settings.RAPIDS_PLUGIN})
    assert list(module.rapids(session)) == []
    session.keys |= {settings.RAPIDS_ENABLED.key: "false", settings.RAPIDS_MODE.key: "explainOnly"}
    assert [reason for _, reason in found(module.rapids(session))] == [
        "spark.rapids.sql.enabled=false",
        "spark.rapids.sql.mode=explainOnly",
    ]


def test_the_python_workers_of_rapids():
    session = Session(**{settings.PLUGINS.key: settings.RAPIDS_PLUGIN, settings.RAPIDS_PYTHON.key: "true"})
    (reason,) = module.rapids(session)
    assert reason.remedy == "set spark.rapids.python.memory.gpu.pooling.enabled=false"
    session.keys |= {settings.RAPIDS_PYTHON_POOL.key: "false", settings.PYTHON_DAEMON.key: "pyspark.daemon"}
    (reason,) = module.rapids(session)
    assert reason.reason == "spark.python.daemon.module=pyspark.daemon"


@pytest.mark.parametrize(("version", "told"), [("4.0.2", 1), ("3.5.1", 2), ("5.0.0-SNAPSHOT", 2)])
def test_versions_that_do_not_fit(version, told):
    assert len(list(module.versions(Session(version)))) == told
    assert list(module.versions(Session(pyspark.__version__))) == []


def test_a_plan_without_rapids_has_no_reasons(spark):
    assert module.plan(spark.range(3)) == []


def test_what_rapids_leaves_on_the_cpu(monkeypatch):
    text = "!Exec <SortExec> cannot run on GPU because of x\n  *Exec <B> will run on GPU\n    ! <A> y\n"
    monkeypatch.setattr(jvm, "rapids_explain", lambda df: text)
    assert found(module.plan(None)) == [
        ("plan", "Exec <SortExec> cannot run on GPU because of x"),
        ("plan", "<A> y"),
    ]


def test_the_jvm_of_a_session(spark, tmp_path):
    assert not jvm.is_connect(spark)
    assert jvm.java_of(spark).split(".")[0].isdecimal()
    assert jvm.has_class(spark, "org.apache.spark.SparkContext")
    assert not jvm.has_class(spark, settings.RAPIDS_PLUGIN)
    assert jvm.rapids_version(spark) is None
    assert not jvm.rapids_knows(spark)
    assert jvm.rapids_explain(spark.range(3)) is None
    assert jvm.estimated_rows(spark.range(1000)) == 1000
    path = str(tmp_path / "rows")
    spark.range(1000).selectExpr("id", "id AS other").write.parquet(path)
    rows = spark.read.parquet(path)
    assert jvm.estimated_rows(rows) is None


def test_connect_has_no_jvm(connect):
    frame = connect.range(3)
    assert jvm.is_connect(connect)
    for function in (jvm.java_of, jvm.rapids_version, jvm.rapids_knows):
        assert function(connect) is None
    assert jvm.has_class(connect, "java.lang.String") is None
    for function in (jvm.estimated_rows, jvm.rapids_explain):
        assert function(frame) is None


def test_connect_is_told_what_can_be_known(spark, connect):
    def rows(session):
        return {tuple(row) for row in check(session, session.range(3)).collect()}

    unseen = rows(spark) - rows(connect)
    assert ["class path" in reason for _, reason, _ in unseen] == [True]
    assert rows(connect) < rows(spark)
