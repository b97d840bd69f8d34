"""`configure`: what it sets, where, and that it overrides nobody."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from cer_gpu.spark import configuration as module
from cer_gpu.spark import settings
from cer_gpu.spark.configuration import UserSettings, configure, given, properties, submit_arguments
from cer_gpu.spark.java import JavaError, require_java
from cer_gpu.spark.settings import SettingError
from pyspark.sql import SparkSession

ARROW = {settings.ARROW_RECORDS.key, settings.ARROW_BYTES.key}
RESOURCES = {settings.EXECUTOR_GPUS.key: "1", settings.TASK_GPUS.key: "0.25"}
PROVIDED = ("MASTER", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "PYSPARK_PYTHON", "SPARK_HOME", "SPARK_CONF_DIR")


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch):
    """No session of another test, no variable of this shell, and no GPU."""
    for name in (*PROVIDED, "CUDA_VISIBLE_DEVICES", "PYSPARK_GATEWAY_PORT"):
        # Set first, so that what `configure` puts there is taken back as well.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr("cer_gpu.spark.configuration._active_application", lambda: None)
    monkeypatch.setattr(module, "driver_devices", list)
    monkeypatch.setattr(module, "require_java", lambda: 17)


def builder(master="local[2]", **options):
    made = SparkSession.builder.master(master)
    return made.config(map={key.replace("_", "."): value for key, value in options.items()})


def options(made):
    return {key: value for key, value in made._options.items() if key != "spark.master"}


def test_without_a_gpu_only_arrow_is_set(capsys):
    made = builder()
    assert configure(made) is made
    assert options(made).keys() == ARROW
    told = capsys.readouterr()
    assert told.out == ""
    assert "no GPU is expected" in told.err
    for key in ARROW:
        assert f"cer-gpu: {key}={made._options[key]}\n" in told.err


def test_workers_run_this_python(capsys):
    configure(builder())
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert f"PYSPARK_PYTHON={sys.executable} in the environment" in capsys.readouterr().err


@pytest.mark.parametrize("said", ["python3.13", ""])
def test_the_python_of_the_user_is_kept(monkeypatch, said):
    monkeypatch.setenv("PYSPARK_PYTHON", said)
    configure(builder())
    assert os.environ["PYSPARK_PYTHON"] == said


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "k8s://https://host"])
def test_the_python_of_a_cluster_is_left_alone(master):
    configure(builder(master))
    assert "PYSPARK_PYTHON" not in os.environ


CLUSTERS = {
    "yarn": {
        settings.DISCOVERY.key: "./discover_gpus.sh",
        settings.FILES.key: str(module.DISCOVERY_SCRIPT),
    },
    "k8s://https://host": {
        settings.DISCOVERY.key: str(module.DISCOVERY_SCRIPT),
        settings.VENDOR.key: "nvidia.com",
    },
    "spark://host:7077": {},
    "local-cluster[2,1,1024]": {},
}


@pytest.mark.parametrize(("master", "more"), CLUSTERS.items())
def test_a_required_gpu_on_a_cluster(master, more):
    made = configure(builder(master), gpu="required", rapids=False)
    wanted = {**RESOURCES, **more, settings.GPU.key: "required"}
    assert {key: text for key, text in options(made).items() if key not in ARROW} == wanted


def test_a_discovery_script_of_ones_own():
    made = configure(builder("yarn"), gpu="required", discovery_script="/opt/gpus.sh")
    assert made._options[settings.DISCOVERY.key] == "/opt/gpus.sh"
    assert settings.FILES.key not in made._options


@pytest.mark.parametrize(("cores", "share"), [(1, "1"), (3, "0.3333"), (7, "0.1428"), (16, "0.0625")])
def test_every_core_gets_its_share(cores, share):
    made = configure(builder("yarn", spark_executor_cores=cores), gpu="required")
    assert made._options[settings.TASK_GPUS.key] == share
    assert int(1 / float(share)) == cores


def test_a_share_of_ones_own():
    made = configure(builder("yarn"), gpu="required", task_gpus=0.5)
    assert made._options[settings.TASK_GPUS.key] == "0.5"


def test_auto_sees_a_gpu_of_this_machine(monkeypatch, capsys):
    monkeypatch.setattr(module, "driver_devices", lambda: ["0000:01:00.0"])
    assert options(configure(builder())).keys() == ARROW
    assert "GPU: the NVIDIA driver shows 1 on this machine" in capsys.readouterr().err
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    configure(builder())
    assert "no GPU is expected" in capsys.readouterr().err


def test_auto_does_not_ask_a_cluster_for_the_gpu_of_the_driver(monkeypatch):
    monkeypatch.setattr(module, "driver_devices", lambda: ["0000:01:00.0"])
    assert options(configure(builder("yarn"))).keys() == ARROW


def test_auto_takes_the_word_of_the_settings():
    made = configure(builder("spark://host:7077", **{settings.EXECUTOR_GPUS.key: 2}))
    assert made._options[settings.EXECUTOR_GPUS.key] == "2"
    assert made._options[settings.TASK_GPUS.key] == "0.25"


def test_the_devices_of_a_driver(monkeypatch, tmp_path):
    monkeypatch.undo()
    assert module.driver_devices(tmp_path) == []
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / "proc/driver/nvidia/gpus" / name).mkdir(parents=True)
    assert module.driver_devices(tmp_path) == ["0000:01:00.0", "0000:02:00.0"]


@pytest.mark.parametrize(("printed", "addresses"), [("0\n1\n", ["0", "1"]), ("3 \n", ["3"]), ("", [])])
def test_the_discovery_script(tmp_path, printed, addresses):
    smi = tmp_path / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\nprintf '{printed}'\n")
    smi.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    told = subprocess.run([module.DISCOVERY_SCRIPT], env=environment, capture_output=True, check=True)
    assert json.loads(told.stdout) == {"name": "gpu", "addresses": addresses}


def test_off(monkeypatch):
    monkeypatch.setattr(module, "driver_devices", lambda: ["0000:01:00.0"])
    made = configure(builder("yarn", **{settings.EXECUTOR_GPUS.key: 1}), gpu="off")
    assert options(made).keys() == ARROW | {settings.GPU.key, settings.EXECUTOR_GPUS.key}
    assert made._options[settings.GPU.key] == "off"


@pytest.mark.parametrize(
    ("said", "rapids", "used"),
    [
        ({}, "auto", False),
        ({}, True, True),
        ({settings.JARS.key: "/opt/rapids-4-spark_2.13-26.08.1.jar"}, "auto", True),
        ({settings.JARS.key: "/opt/rapids-4-spark_2.13-26.08.1.jar"}, False, False),
        ({settings.PLUGINS.key: settings.RAPIDS_PLUGIN}, "auto", True),
    ],
)
def test_rapids_is_used_where_it_is_named(said, rapids, used):
    made = configure(builder("yarn", **said), gpu="required", rapids=rapids)
    assert (settings.RAPIDS_MEMORY.key in made._options) == used
    assert (settings.RAPIDS_PLUGIN in made._options.get(settings.PLUGINS.key, "")) == used
    # Half of the memory of the GPU is left to the Python workers, and no pool is made in them.
    if used:
        assert float(made._options[settings.RAPIDS_MEMORY.key]) <= 0.5
        assert made._options[settings.RAPIDS_PYTHON_POOL.key] == "false"
    assert (made._options.get(settings.PACKAGES.key) == settings.RAPIDS_PACKAGE) == (
        rapids is True and not said
    )


def test_the_plugin_beside_rapids():
    made = configure(builder("yarn"), gpu="required", rapids=True, plugin="/opt/cer.jar")
    assert made._options[settings.PLUGINS.key] == f"{settings.RAPIDS_PLUGIN},{settings.CER_PLUGIN}"
    assert made._options[settings.JARS.key] == "/opt/cer.jar"
    assert made._options[settings.VERSION.key]


def everything(made):
    """The keys that a call sets which asks for all there is."""
    return options(configure(made, gpu="required", rapids=True, plugin="/opt/cer.jar"))


SET_ON_YARN = [
    *(setting.key for setting in settings.SETTINGS if setting.owner == "RAPIDS" and "memory" in setting.key),
    *(settings.GPU.key, settings.VERSION.key, settings.ARROW_RECORDS.key, settings.ARROW_BYTES.key),
    *(settings.EXECUTOR_GPUS.key, settings.TASK_GPUS.key, settings.DISCOVERY.key, settings.FILES.key),
    *(settings.PLUGINS.key, settings.PACKAGES.key, settings.JARS.key),
]


def test_all_that_is_set_on_yarn():
    assert sorted(everything(SparkSession.builder.master("yarn"))) == sorted(SET_ON_YARN)


@pytest.mark.crossed
@pytest.mark.parametrize("key", SET_ON_YARN)
@pytest.mark.parametrize("place", ["builder", "arguments", "defaults"])
def test_no_key_is_overridden(monkeypatch, tmp_path, capsys, key, place):
    made = SparkSession.builder
    if place == "builder":
        made.master("yarn").config(key, "mine")
    elif place == "arguments":
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--master yarn --conf {key}=mine pyspark-shell")
    else:
        (tmp_path / "spark-defaults.conf").write_text(f"spark.master yarn\n{key}   mine\n")
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    set_now = everything(made)
    assert set_now.get(key) == ("mine" if place == "builder" else None)
    told = capsys.readouterr().err
    # A discovery script of one's own needs no file; a jar of one's own is no package.
    if key not in (settings.FILES.key, settings.PACKAGES.key):
        assert f"{key}=mine is kept (set in " in told


def test_what_a_list_lacks_is_told(capsys):
    made = builder("yarn", **{settings.PLUGINS.key: "org.example.Plugin"})
    configure(made, gpu="required", rapids=True)
    assert f"=org.example.Plugin is kept (set in the builder); add {settings.RAPIDS_PLUGIN} to it" in (
        capsys.readouterr().err
    )


def test_connect_gets_the_keys_of_run_time_only(capsys):
    made = SparkSession.builder.remote("sc://host:15002")
    configure(made, gpu="required", rapids=True)
    assert set(options(made)) - {"spark.remote"} == ARROW | {
        settings.GPU.key,
        settings.RAPIDS_PYTHON_POOL.key,
    }
    told = capsys.readouterr().err
    assert f"{settings.PLUGINS.key}={settings.RAPIDS_PLUGIN} has to be set where the server" in told
    assert "PYSPARK_PYTHON" not in os.environ


def test_a_running_application_keeps_what_it_has(monkeypatch, capsys):
    running = {"spark.master": "yarn", settings.ARROW_RECORDS.key: "5"}
    monkeypatch.setattr("cer_gpu.spark.configuration._active_application", lambda: running)
    made = configure(SparkSession.builder, gpu="required")
    assert set(options(made)) == {settings.ARROW_BYTES.key, settings.GPU.key}
    told = capsys.readouterr().err
    assert f"{settings.ARROW_RECORDS.key}=5 is kept (set in the running application)" in told
    assert (
        f"{settings.EXECUTOR_GPUS.key}=1 has to be set where the application is started: it runs already"
        in told
    )


def test_a_session_of_this_process_needs_java(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "require_java", require_java)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    configure(SparkSession.builder.remote("sc://host"))
    with pytest.raises(JavaError, match="Spark needs Java 17"):
        configure(builder("yarn"))


@pytest.mark.parametrize("wrong", [{"gpu": "yes"}, {"rapids": "no"}, {"rapids": None}])
def test_wrong_wishes_are_told(wrong):
    with pytest.raises(SettingError):
        configure(builder(), **wrong)


def test_the_stronger_source_wins(monkeypatch, tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        "spark.a 1\nspark.b=1\n# spark.c 1\n\nspark.d: x=y \n"
    )
    said = {"SPARK_HOME": str(tmp_path), "PYSPARK_SUBMIT_ARGS": "--conf spark.b=2 --conf=spark.e=2"}
    found = given(builder(spark_e="3"), said)
    assert {key: found.get(f"spark.{key}") for key in "abcde"} == {
        "a": "1",
        "b": "2",
        "c": "",
        "d": "x=y",
        "e": "3",
    }
    assert found.places["spark.b"] == "PYSPARK_SUBMIT_ARGS"
    assert found.master == "local[2]"
    assert UserSettings().master == "local[*]"


def test_the_options_of_spark_submit(tmp_path):
    file = tmp_path / "p.conf"
    file.write_text("spark.x 1\n")
    text = f"--properties-file {file} --packages a:b:1 -c spark.y=1=2 --name 'a b' pyspark-shell"
    assert dict(submit_arguments(text)) == {"spark.x": "1", "spark.jars.packages": "a:b:1", "spark.y": "1=2"}
    assert properties(tmp_path / "absent") == {}


def test_a_builder_of_connect_is_recognised():
    kind = type("Builder", (SimpleNamespace,), {"__module__": "pyspark.sql.connect.session"})
    assert given(kind(_options={}), {}).connect
    assert not given(kind(_options={"spark.remote": "local[2]"}), {}).connect
    assert not given(builder(), {}).connect
