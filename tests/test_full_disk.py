"""What the disk refuses: the error names the file and says what to do, and no half of a file is left."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import cer_gpu as cer
from cer_gpu.compiling.store import Store
from cer_gpu.engine.read import spill_files
from cer_gpu.errors import LimitError
from cer_gpu.whole_file import NamedSink, named, whole_file

resource = pytest.importorskip("resource")

QUERY = "SELECT * WHERE A ; B WITHIN 40 EVENTS"
FULL = Path("/dev/full")
REMEDY = "make room there, or write to another disk"

LIMITED = """
import resource, sys
from cer_gpu.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
main()
"""
"""The command, where no file can have more than 1,000 bytes; the system refuses more as on a full disk."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events")
    events = pa.table({"type": ["A", "B"] * 3000, "x": list(range(6000)), "ts": list(range(6000))})
    pyarrow.csv.write_csv(events, path / "events.csv")
    return path / "events.csv"


def shell(*arguments: object, **options: object) -> tuple[int, str]:
    """The exit status of the command, and its last line of standard error."""
    command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    return done.returncode, done.stderr.strip().rpartition("\n")[2]


WRITERS = {
    "run": lambda data, path: ["run", QUERY, data, "--format", "jsonl", "-o", path],
    "rows": lambda data, path: ["run", QUERY, data, "--events", "--format", "csv", "-o", path],
    "hits": lambda data, path: ["hits", QUERY, data, "--format", "parquet", "-o", path],
    "table": lambda data, path: [
        *("run", QUERY, data, "--format", "table", "--limit", 2000, "-o", path),
    ],
    "explain": lambda data, path: ["explain", QUERY, "--format", "svg", "-o", path],
    "report": lambda data, path: ["backtest", QUERY, data, "--order-by", "ts", "--report", path],
    "resume": lambda data, path: ["backtest", QUERY, data, "--order-by", "ts", "--resume", path],
    "snapshot": lambda data, path: [
        *("maintain", "Q(x) <- R(x = x)", "--insert", f"R={data}", "--snapshot", path),
    ],
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_has_no_room_is_named_and_the_older_one_stays(
    writer: str, data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    if writer not in ("resume", "snapshot"):  # these read the older file
        path.write_bytes(b"older")
    before = os.listdir(tmp_path)
    status, said = shell(*WRITERS[writer](data, path))
    assert (status, said) == (4, f"error: [Errno 27] File too large: {REMEDY}: '{path}'")
    assert os.listdir(tmp_path) == before
    assert not before or path.read_bytes() == b"older"


def test_a_copy_of_standard_input_that_has_no_room_is_named(data: Path, tmp_path: Path) -> None:
    with data.open("rb") as events:
        status, said = shell("count", QUERY, "-", stdin=events, env=os.environ | {"TMPDIR": str(tmp_path)})
    assert status == 4
    assert said.startswith("error: [Errno 27] File too large: make room there, or name another folder with")
    assert str(tmp_path) in said
    assert os.listdir(tmp_path) == []


@pytest.mark.crossed
@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize("asked", ["run", "count", "explain", "hits", "backtest", "--help"])
def test_standard_output_that_has_no_room_is_named(asked: str, unbuffered: bool, data: Path) -> None:
    given = {"--help": [], "explain": [QUERY, "--format", "svg"]}.get(asked, [QUERY, str(data)])
    order = ["--order-by", "ts"] if asked == "backtest" else []
    command = [sys.executable, *(["-u"] if unbuffered else []), "-m", "cer_gpu", asked, *given, *order]
    with FULL.open("wb") as sink:
        done = subprocess.run(command, stdout=sink, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == f"error: [Errno 28] No space left on device: {REMEDY}: 'standard output'\n"
    assert done.returncode == 4


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
def test_a_device_is_written_as_it_is() -> None:
    with pytest.raises(OSError, match=f"{REMEDY}: '/dev/full'"):
        cer.maintain("Q(x) <- R(x)").snapshot(FULL)
    assert FULL.exists()


class Full(io.BytesIO):
    """A file on a full disk, which takes what a buffer holds and nothing when it is to be written."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_refused_late_is_named_too() -> None:
    with pytest.raises(OSError, match=r"No space left on device: .*: 'a file'") as refused:
        NamedSink(Full(), "a file").flush()
    assert refused.value.errno == errno.ENOSPC


def test_errors_of_what_is_read_are_not_those_of_the_file_that_is_written(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match=r"^\[Errno 5\] of another file$"),
        whole_file(tmp_path / "out"),
    ):
        raise OSError(errno.EIO, "of another file")
    with pytest.raises(OSError, match=r"^\[Errno 5\] elsewhere: 'other'$"), named("a file"):
        raise OSError(errno.EIO, "elsewhere", "other")
    with pytest.raises(BrokenPipeError, match=r"^\[Errno 32\] closed$"), named("a pipe"):
        raise BrokenPipeError(errno.EPIPE, "closed")
    assert os.listdir(tmp_path) == []


def test_kernels_that_have_no_room_are_not_kept_and_the_folder_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("cer_gpu.compiling.store.tempfile.mkstemp", full)
    Store(tmp_path, tmp_path / "shipped").write("name", {}, b"code")
    said = capsys.readouterr().err
    assert f"are not kept ({tmp_path}" in said
    assert "No space left on device): each process compiles its own; make room there, or" in said
    with pytest.raises(OSError, match=f"{REMEDY}: '{tmp_path / 'shipped'}"):
        Store(tmp_path, tmp_path / "shipped").ship("name", {}, b"code")


def test_partitions_that_have_no_room_anywhere_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:  # as `tempfile` does where no folder can be written
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(spill_files.tempfile, "gettempdir", none)
    monkeypatch.setattr(spill_files.tempfile, "TemporaryFile", lambda **_: none())
    with pytest.raises(LimitError, match=r"the folder for temporary files: No usable .*TMPDIR"):
        spill_files._Writer().write(pa.table({"x": [1]}))
