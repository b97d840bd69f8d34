"""Files that are damaged, cut short or changed while they are read are errors, and never another answer."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import cer_gpu
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.errors import DataError

N = 400


def events(count=N):
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "type": pa.array(rng.choice(["A", "B", "C"], count)).dictionary_encode(),
            "ts": pa.array(np.arange(count)),
            "price": pa.array([None if i % 7 == 0 else i / 4 for i in range(count)]),
            "name": pa.array([None if i % 11 == 0 else f"name{i % 13}" for i in range(count)]),
            "flag": pa.array(rng.random(count) < 0.5),
        }
    )


def rows_of(path):
    source = open_source(path)
    return [row for batch in source.batches(source.arrow_schema.names, 64) for row in batch.to_pylist()]


def read_on(path, change, rows=64):
    """Open a file, read its first batch, change it, and read the rest."""
    source = open_source(path)
    batches = source.batches(source.arrow_schema.names, rows)
    next(batches)
    change(path)
    return sum(batch.num_rows for batch in batches)


# ------------------------------------------------------------------------------------------- Parquet


def varint(number):
    """A number as the footers of Parquet files have it (Thrift's compact protocol)."""
    number, out = number << 1, b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def promising(path, changes):
    """Change numbers in the footer of a Parquet file: each where it stands last."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[-8:-4], "little")
    body, footer = raw[: -8 - length], raw[-8 - length : -8]
    for before, after in changes:
        at = footer.rindex(varint(before))
        footer = footer[:at] + varint(after) + footer[at + len(varint(before)) :]
    path.write_bytes(body + footer + len(footer).to_bytes(4, "little") + b"PAR1")


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"type": ["A"] * 1000, "ts": range(1000)}), path, row_group_size=900)
    return path


def test_row_groups_with_fewer_rows_than_the_footer_promises(parquet):
    promising(parquet, [(900, 950), (1000, 1050)])
    with pytest.raises(DataError, match=r"events\.parquet is damaged: .* 1,050 rows, and 1,000 were read"):
        rows_of(parquet)
    query = cer_gpu.compile("SELECT * WHERE A")
    with pytest.raises(DataError, match="is damaged"):
        query.count(parquet)
    with pytest.raises(DataError, match=r"of the dataset says 1,050 rows, and 1,000 were read"):
        query.count(pads.dataset(parquet))


def test_a_footer_that_contradicts_itself(parquet):
    promising(parquet, [(1000, 1050)])
    with pytest.raises(DataError, match="footer says 1,050 rows, and its row groups have 1,000"):
        open_source(parquet)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def rewritten(path):
    """Other events in as many bytes, a second later."""
    before = os.stat(path)
    raw = path.read_bytes()
    path.write_bytes(raw)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))


@pytest.mark.crossed
@pytest.mark.parametrize("form", ["parquet", "arrow", "stream.arrow", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cut, "went from .* to .* bytes after it was opened|cannot be read"),
        (rewritten, "was changed after it was opened"),
        (os.unlink, "was removed after it was opened"),
    ],
)
def test_a_file_that_changes_while_it_is_read(form, change, message, tmp_path):
    path = tmp_path / f"events.{form}"
    table = pa.table({"type": ["A"] * 1000, "ts": range(1000)})
    if form == "parquet":
        pq.write_table(table, path, row_group_size=100)
    elif form.endswith("arrow"):
        write_ipc(path, table, pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream)
    elif form == "csv":
        path.write_text("type,ts\n" + "".join(f"A,{n}\n" for n in range(1000)))
    else:
        path.write_text("".join(f'{{"type": "A", "ts": {n}}}\n' for n in range(1000)))
    with pytest.raises(DataError, match=message):
        read_on(path, change)


def test_a_file_that_was_rewritten_before_it_is_read(parquet):
    matches = cer_gpu.compile("SELECT * WHERE A").run(parquet)
    rewritten(parquet)
    with pytest.raises(DataError, match="was changed after it was opened: wait until"):
        matches.to_arrow()


# ----------------------------------------------------------------------------------------- Arrow IPC


def write_ipc(path, table, opened, **options):
    with opened(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=100)


def test_a_stream_without_an_end_mark(tmp_path):
    path = tmp_path / "events.arrow"
    write_ipc(path, events(), pa.ipc.new_stream)
    path.write_bytes(path.read_bytes()[:-8])  # as a writer leaves it that was ended between two batches
    with pytest.raises(DataError, match=r"its stream has no end mark.*pyarrow\.ipc\.open_stream"):
        open_source(path)
    assert open_source(pa.ipc.open_stream(str(path))).rows is None


def test_two_streams_in_one_file(tmp_path):
    path = tmp_path / "events.arrow"
    write_ipc(path, events(), pa.ipc.new_stream)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(DataError, match=r"its stream ends at byte .* of "):
        open_source(path)


def test_a_footer_that_leaves_a_batch_out(tmp_path):
    path = tmp_path / "events.arrow"
    write_ipc(path, pa.table({"ts": range(400)}), pa.ipc.new_file)
    raw = path.read_bytes()
    length = int.from_bytes(raw[-10:-6], "little")
    footer = bytearray(raw[-10 - length : -10])
    table = int.from_bytes(footer[:4], "little")
    vtable = table - int.from_bytes(footer[table : table + 4], "little", signed=True)
    at = table + int.from_bytes(footer[vtable + 10 : vtable + 12], "little")
    vector = at + int.from_bytes(footer[at : at + 4], "little")
    assert footer[vector] == 4  # record batches
    footer[vector] = 3
    path.write_bytes(raw[: -10 - length] + footer + raw[-10:])
    assert pa.ipc.open_file(str(path)).num_record_batches == 3
    with pytest.raises(DataError, match="its footer names other record batches than there are"):
        open_source(path)


def test_the_number_of_rows_is_known(tmp_path):
    for opened in (pa.ipc.new_file, pa.ipc.new_stream):
        write_ipc(tmp_path / "events.arrow", events(), opened)
        assert open_source(tmp_path / "events.arrow").rows == N


def test_a_code_beyond_its_dictionary(tmp_path):
    codes = pa.array(np.array([0, 1, 2, 9], np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["A", "B", "C"]), safe=False)
    write_ipc(tmp_path / "events.arrow", pa.table({"type": column}), pa.ipc.new_file)
    with pytest.raises(DataError, match=r"events\.arrow cannot be read: .*out of bounds"):
        rows_of(tmp_path / "events.arrow")
    with pytest.raises(DataError, match=r"the dataset cannot be read: .*out of bounds"):
        rows_of(pads.dataset(tmp_path / "events.arrow", format="ipc"))


FUZZ = """
import json, os, sys
import numpy as np
from test_source_damage import N, rows_of
from cer_gpu.errors import CerError

whole, seeds = open(sys.argv[1], "rb").read(), int(sys.argv[2])
good, found = rows_of(sys.argv[1]), {"cut": [], "error": 0, "same": 0, "values": 0, "rows": 0}
for seed in range(seeds):
    rng = np.random.default_rng(seed)
    at = int(rng.integers(len(whole)))
    damaged = bytearray(whole)
    if seed % 3 == 0:
        del damaged[at:]
    elif seed % 3 == 1:
        damaged[at] ^= 1 << int(rng.integers(8))
    else:
        damaged[at : at + 8] = rng.bytes(8)[: len(whole) - at]
    with open(sys.argv[1], "wb") as file:
        file.write(damaged)
    try:
        rows = rows_of(sys.argv[1])
    except CerError:
        found["error"] += 1
        continue
    if seed % 3 == 0:
        found["cut"].append(seed)
    kind = "same" if rows == good else "values" if len(rows) == N else "rows"
    found[kind] += 1
print(json.dumps(found))
"""


@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize("opened", [pa.ipc.new_file, pa.ipc.new_stream])
def test_damaged_arrow_files_neither_crash_nor_lose_rows(opened, compression, tmp_path):
    path = tmp_path / "events.arrow"
    write_ipc(path, events(), opened, compression=compression)
    here = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    # In a process of its own, which a damaged file may end.
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(path), "90"], env=here, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["cut"] == []
    assert found["rows"] == 0
    assert found["error"] > 30
