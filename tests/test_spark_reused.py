"""A worker process that is used again: what it forgets between tasks, and what it does not."""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import zipfile

import pytest
from cer_gpu.spark import worker_reuse


@pytest.fixture
def archive_of(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_reuse, "_settled", lambda modules: None)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def made(name):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for module in ("first", "second"):
                archive.writestr(f"{path.stem.replace('-', '_').replace('.', '_')}_{module}.py", "VALUE = 1")
        sys.path.insert(0, str(path))
        return str(path), path.stem.replace("-", "_").replace(".", "_")

    return made


@pytest.mark.parametrize("name", ["pyspark.zip", "py4j-0.10.9.9-src.zip", "spark-core_2.13-4.1.1.jar"])
def test_the_archives_of_spark_are_not_read_again(name, archive_of):
    path, stem = archive_of(name)
    assert importlib.import_module(f"{stem}_first").VALUE == 1
    assert path in sys.path_importer_cache
    worker_reuse.settle()
    assert path not in sys.path_importer_cache
    importlib.invalidate_caches()
    assert importlib.import_module(f"{stem}_second").VALUE == 1


@pytest.mark.parametrize("name", ["mine.zip", "mypyspark.zip", "pyspark.zip.zip"])
def test_other_archives_are(name, archive_of):
    path, stem = archive_of(name)
    importlib.import_module(f"{stem}_first")
    worker_reuse.settle()
    assert path in sys.path_importer_cache


def test_what_lives_after_the_first_task_is_not_searched():
    text = (
        "import gc; from cer_gpu.spark.worker_reuse import settle; settle(); first = gc.get_freeze_count(); "
        "kept = [[] for _ in range(1000)]; settle(); print(first, gc.get_freeze_count())"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    first, second = map(int, done.stdout.split())
    assert first > 1000
    assert second <= first
    assert gc.get_freeze_count() == 0


def test_what_a_later_task_imports_is_not_searched_either():
    text = (
        "import gc; from cer_gpu.spark.worker_reuse import settle; settle(); first = gc.get_freeze_count(); "
        "import xml.dom.minidom; settle(); print(first, gc.get_freeze_count())"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    first, second = map(int, done.stdout.split())
    assert second > first + 100
