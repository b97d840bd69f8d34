"""Finds the Java that Spark's driver needs: its place, its version, and what to install if it is missing.

`python -m cer_gpu.spark.java` prints it, with the compiler that the JVM plugin needs, and fails if one is
missing; with `--install` it first installs them, on Debian and its derivatives, when run as root.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cer_gpu.errors import CerError

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_DEBIAN_COMPILER = "openjdk-17-jdk-headless"
_ADVICE = {
    "debian": "apt-get install openjdk-17-jre-headless",
    "fedora": "dnf install java-21-openjdk-headless",
    "suse": "zypper install java-21-openjdk-headless",
    "alpine": "apk add openjdk17-jre-headless bash",
    "arch": "pacman -S jre17-openjdk-headless",
    "Darwin": "brew install openjdk@17, then set JAVA_HOME to what `brew --prefix openjdk@17` prints",
    "Windows": "winget install EclipseAdoptium.Temurin.17.JRE",
}
_RELATIVES = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "amzn": "fedora", "opensuse": "suse"}


class JavaError(CerError):
    """There is no Java that Spark can run on; the message says what to install."""


def java_command(environment: Mapping[str, str] = os.environ) -> str | None:
    """The `java` that Spark starts: that of `JAVA_HOME` where it is set, else the first of the path."""
    home = environment.get("JAVA_HOME")
    if home:
        return shutil.which(str(Path(home) / "bin" / "java"))
    return shutil.which("java", path=environment.get("PATH"))


def java_version(environment: Mapping[str, str] = os.environ) -> int | None:
    """Feature version (17, 21, ...) of the Java that Spark starts; None where there is none or it fails."""
    command = java_command(environment)
    if command is None:
        return None
    told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    return parse_version(told.stderr + told.stdout) if told.returncode == 0 else None


def parse_version(text: str) -> int | None:
    """Feature version in what `java -version` prints or in the property `java.version`.

    >>> parse_version('openjdk version "17.0.12" 2026-01-20'), parse_version("1.8.0_402")
    (17, 8)
    """
    found = re.search(r"(?:^|version \")(?:1\.)?(\d+)", text, re.MULTILINE)
    return int(found.group(1)) if found else None


def require_java(environment: Mapping[str, str] = os.environ) -> int:
    """Version of the Java that Spark starts.

    Raises
    ------
    JavaError
        When there is none, or it is older than 17; the message says how to install one on this machine.
    """
    version = java_version(environment)
    if version is not None and version >= OLDEST:
        return version
    home = environment.get("JAVA_HOME")
    where = f"JAVA_HOME={home}" if home else "the path"
    found = f"Java {version} was found in {where}" if version else f"no Java was found in {where}"
    raise JavaError(f"Spark needs Java {OLDEST} or newer; {found}.\nTo install it: {advice()}")


def advice(system: str | None = None, release: Mapping[str, str] | None = None) -> str:
    """How to install Java on a machine.

    Parameters
    ----------
    system : str, optional
        `platform.system()` of that machine; this one's by default.
    release : mapping of str to str, optional
        Its `/etc/os-release`, of which `ID` and `ID_LIKE` are read; this one's by default.
    """
    system = platform.system() if system is None else system
    if system == "Linux":
        for family in linux_families(release):
            if family in _ADVICE:
                return _ADVICE[family]
    return _ADVICE.get(system, f"install OpenJDK {OLDEST} (or 21) and set JAVA_HOME to its folder")


def linux_families(release: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """A Linux distribution and those it descends from, the nearest first, as `/etc/os-release` names them."""
    if release is None:
        try:
            release = platform.freedesktop_os_release()
        except OSError:
            return ()
    names = (release.get("ID", ""), *release.get("ID_LIKE", "").split())
    return tuple(_RELATIVES.get(name.partition("-")[0], name.partition("-")[0]) for name in names)


def java_compiler() -> str:
    """The `javac` beside the Java that Spark starts, or of the path.

    Raises
    ------
    JavaError
        There is none.
    """
    java = java_command()
    beside = shutil.which(str(Path(java).resolve().with_name("javac"))) if java else None
    found = beside or shutil.which("javac")
    if found is None:
        raise JavaError(
            f"there is no Java compiler (javac): install a JDK {OLDEST}, not only its runtime; "
            f"on Debian: apt-get install {_DEBIAN_COMPILER}"
        )
    return found


def install() -> None:
    """Install Java and its compiler on Debian or a relative, as root; elsewhere nothing happens.

    Raises
    ------
    JavaError
        When the package manager fails.
    """
    if "debian" not in linux_families() or os.geteuid() != 0:
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", _DEBIAN_COMPILER]):
        done = subprocess.run(["apt-get", "--quiet", *arguments], env=environment, check=False)
        if done.returncode != 0:
            raise JavaError(f"`apt-get {' '.join(arguments)}` failed with status {done.returncode}")


def main(arguments: list[str] | None = None) -> int:
    """Print which Java and which compiler there are; status 1 if one is missing."""
    parser = argparse.ArgumentParser(prog="python -m cer_gpu.spark.java", description=main.__doc__)
    parser.add_argument("--install", action="store_true", help="install them on Debian as root where missing")
    wanted = parser.parse_args(arguments)
    try:
        if wanted.install and not _are_there():
            install()
        sys.stderr.write(f"Java {require_java()}: {java_command()}, {java_compiler()}\n")
    except JavaError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _are_there() -> bool:
    try:
        require_java()
        java_compiler()
    except JavaError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
