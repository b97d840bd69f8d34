"""Compiles the JVM plugin against the jars of pyspark: `python -m cer_gpu.spark.build_plugin DIR`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from cer_gpu.spark.java import JavaError, java_compiler

SOURCES = Path(__file__).with_name("jvm_plugin")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build_plugin(folder: str | Path) -> Path:
    """Compile the plugin.

    Parameters
    ----------
    folder : path
        The folder for the jar; it is made if it is missing.

    Returns
    -------
    Path
        `cer-gpu-spark-VERSION.jar` in that folder, the same bytes for the same sources and compiler.

    Raises
    ------
    JavaError
        When there is no Java compiler, or it refuses the sources.
    """
    import pyspark

    from cer_gpu import __version__

    jars = Path(pyspark.__file__).parent / "jars"
    with tempfile.TemporaryDirectory() as classes:
        _compile(jars, Path(classes))
        jar = Path(folder) / f"cer-gpu-spark-{__version__}.jar"
        jar.parent.mkdir(parents=True, exist_ok=True)
        _pack(Path(classes), jar, __version__)
    return jar


def _compile(jars: Path, classes: Path) -> None:
    sources = [str(path) for path in sorted(SOURCES.glob("*.java"))]
    command = [java_compiler(), "--release", "17", "-Xlint:all,-processing", "-proc:none"]
    command += ["-cp", f"{jars}/*", "-d", str(classes), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise JavaError(f"javac refused the plugin:\n{done.stdout}{done.stderr}")


def _pack(classes: Path, jar: Path, version: str) -> None:
    manifest = f"Manifest-Version: 1.0\r\nImplementation-Version: {version}\r\n\r\n"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", _EPOCH), manifest)
        for path in sorted(classes.rglob("*.class")):
            name = path.relative_to(classes).as_posix()
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), path.read_bytes())


def main(arguments: list[str] | None = None) -> int:
    """Compile the plugin and print the path of its jar."""
    parser = argparse.ArgumentParser(prog="python -m cer_gpu.spark.build_plugin", description=main.__doc__)
    parser.add_argument("folder", help="where the jar goes")
    try:
        sys.stdout.write(f"{build_plugin(parser.parse_args(arguments).folder)}\n")
    except JavaError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
