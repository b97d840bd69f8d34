"""The JVM plugin on executors of their own, the metrics that workers send it, and the Java that is needed."""

import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spark_sessions
from cer_gpu.spark import java
from cer_gpu.spark.build_plugin import build_plugin
from cer_gpu.spark.java import JavaError
from cer_gpu.spark.metrics import FILE, publish

APPLICATION = Path(__file__).with_name("spark_plugin_app.py")
pytestmark = [spark_sessions.GROUP, spark_sessions.APPLICATION]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    return build_plugin(tmp_path_factory.mktemp("plugin"))


def application(plugin, folder, *arguments):
    """Run the application in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(APPLICATION.parent)}
    return subprocess.run(
        [sys.executable, str(APPLICATION), str(plugin), str(folder), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
    )


def last_value(folder, executor, metric):
    """What an executor's metric came to."""
    (path,) = folder.glob(f"*.{executor}.plugin.org.cergpu.spark.CerPlugin.{metric}.csv")
    return path.read_text().splitlines()[-1].split(",")[1]


def test_metrics_and_gpus_of_tasks(plugin, tmp_path):
    done = application(plugin, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [{"gpu": "5", "sent": True, "mode": "0o600"}] * 2
    for executor in (0, 1):
        assert last_value(tmp_path, executor, "events") == "1000"
        assert last_value(tmp_path, executor, "hits") == "3"
        assert last_value(tmp_path, executor, "tasks") == "1"
        assert last_value(tmp_path, executor, "device") == "cuda:5"
        assert float(last_value(tmp_path, executor, "eventsPerBusySecond")) == 2000


def test_another_version_ends_the_job(plugin, tmp_path):
    done = application(plugin, tmp_path, "99.0")
    assert done.returncode != 0
    message = "has cer-gpu .* in .*; the driver has 99.0: install cer-gpu==99.0 for it"
    wanted = rf"Job 0 cancelled cer-gpu: executor \d+ on \S+ {message}"
    assert re.search(wanted, done.stderr), done.stderr[-3000:]


def test_the_jar_is_the_same_each_time(plugin, tmp_path):
    again = build_plugin(tmp_path / "made")
    assert again.name == plugin.name
    assert again.read_bytes() == plugin.read_bytes()
    with zipfile.ZipFile(again) as archive:
        assert "org/cergpu/spark/CerPlugin.class" in archive.namelist()
        assert b"Implementation-Version: " in archive.read("META-INF/MANIFEST.MF")


def test_nothing_is_sent_without_the_plugin(tmp_path):
    assert not publish(1, 1, 1.0, "cpu", {})
    assert not publish(1, 1, 1.0, "cpu", {"SPARK_LOCAL_DIRS": str(tmp_path)})
    (tmp_path / FILE).write_text("not a port")
    assert not publish(1, 1, 1.0, "cpu", {"SPARK_LOCAL_DIRS": str(tmp_path)})


def test_a_report_is_one_datagram(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(10)
        (tmp_path / FILE).write_text(f"{listener.getsockname()[1]} secret")
        assert publish(12, 3, 0.25, "cuda:1", {"SPARK_LOCAL_DIRS": f"{tmp_path},/elsewhere"})
        assert listener.recv(512) == b"secret 12 3 250000000 cuda:1"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.12" 2026-01-20\n', 17),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version "21" 2023-09-19 LTS\n', 21),
        ('openjdk version "1.8.0_402"', 8),
        ("17.0.12+7", 17),
        ("no java here", None),
    ],
)
def test_the_version_of_java(text, version):
    assert java.parse_version(text) == version


def test_a_machine_with_java(capsys):
    assert java.require_java() >= java.OLDEST
    assert java.main([]) == 0
    assert java.java_compiler() in capsys.readouterr().err


def test_a_machine_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(JavaError, match="openjdk-17-jdk-headless"):
        java.java_compiler()
    assert java.main([]) == 1


@pytest.mark.parametrize("version", ["none", "11.0.2"])
def test_a_machine_without_java_is_told_what_to_install(tmp_path, version):
    (tmp_path / "bin").mkdir()
    if version != "none":
        (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        (tmp_path / "bin" / "java").chmod(0o755)
    with pytest.raises(JavaError, match="Spark needs Java 17 or newer") as caught:
        java.require_java({"JAVA_HOME": str(tmp_path)})
    assert java.advice() in str(caught.value)
    assert ("Java 11 was found" in str(caught.value)) == (version != "none")


@pytest.mark.parametrize(
    ("system", "release", "told"),
    [
        ("Linux", {"ID": "debian"}, "apt-get install openjdk-17-jre-headless"),
        ("Linux", {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt-get install openjdk-17-jre-headless"),
        ("Linux", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install"),
        ("Linux", {"ID": "opensuse-leap", "ID_LIKE": "suse"}, "zypper install"),
        ("Linux", {"ID": "unheard-of"}, "install OpenJDK 17"),
        ("Darwin", {}, "brew install openjdk@17"),
        ("Windows", {}, "winget install"),
    ],
)
def test_the_advice_of_each_platform(system, release, told):
    assert java.advice(system, release).startswith(told)
