"""What workers send to the JVM plugin, and the Java that is needed; test_spark_clusters runs the plugin."""

import socket

import pytest
from cer_gpu.spark import java
from cer_gpu.spark.java import JavaError
from cer_gpu.spark.metrics import FILE, publish


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
