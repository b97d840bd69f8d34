"""From the paths that a user passes to data files: directories, globs, suffixes, `key=value` folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from urllib.parse import unquote

from cer_gpu.engine.read.sources.arrow_types import check_encoded
from cer_gpu.engine.read.sources.compression import MAGIC, PACKED, begins, packing
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import name_text

FORMATS: Mapping[str, str] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".feather": "ipc",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
"""The format of a data file by its suffix; after that of a text file a suffix of `PACKED` may follow."""

TEXTS = frozenset({"csv", "json"})
"""The formats that are text."""

LONGEST_PATH = 400
"""Characters that a message shows of a path: what is longer may be the content of a file."""

SUFFIXES = f"{', '.join(FORMATS)}, and text also with {', '.join(PACKED)}"
"""The suffixes of data files, for messages."""

NAMES: Mapping[str, str] = {
    "parquet": "Parquet",
    "ipc": "Arrow IPC",
    "csv": "CSV",
    "json": "JSON lines",
    "gzip": "gzip",
    "bz2": "bzip2",
    "zstd": "Zstandard",
    "xz": "xz",
    "zip": "a ZIP archive",
    "utf-16": "text in UTF-16",
    "json array": "one JSON array",
    "text": "text",
    "binary": "unknown binary data",
}

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file to read.

    Attributes
    ----------
    path : str
    format : {"parquet", "ipc", "csv", "json"}
    keys : mapping of str to str or None
        Columns that the names of its folders give (`day=2024-01-31/part-0.parquet`).
    """

    path: str
    format: str
    keys: Mapping[str, str | None] = field(default_factory=dict)


def find_files(paths: Sequence[str | os.PathLike[str]]) -> list[DataFile]:
    """The data files that some paths name, in order; those of a directory or a glob by name.

    A directory is searched with all folders below it, without hidden files and those whose names begin with
    `_`; `key=value` folders in it become columns.

    Raises
    ------
    DataError
        If nothing exists at a path, there is nothing to read, or the suffix is unknown.
    """
    if not paths:
        raise DataError("the list of files is empty: name at least one file")
    return [file for path in paths for file in _expand(os.fspath(path))]


def path_text(path: str) -> str:
    """A path for a message."""
    return name_text(path, LONGEST_PATH)


def _expand(path: str) -> list[DataFile]:
    if not isinstance(path, str):
        raise DataError(f"a path must be a str, not {type(path).__name__}")
    path = os.path.expanduser(path)
    check_encoded(path, "the path")
    if os.path.isdir(path):
        return _walk(path)
    if os.path.exists(path):
        return [DataFile(path, _format_of(path))]
    if "://" in path:
        return _expand(_local(path))
    if not glob.has_magic(path):
        raise DataError(f"{path_text(path)}: there is no such file or directory{_nearest(path)}")
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise DataError(f"{path}: no file matches")
    return [file for each in found for file in _expand(glob.escape(each) if glob.has_magic(each) else each)]


STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""The stores of files that pyarrow opens by a URL."""


def _local(url: str) -> str:
    """The path that a URL names on this machine.

    Raises
    ------
    DataError
        For a URL of another machine.
    """
    from urllib.parse import urlsplit

    scheme = url.partition("://")[0].lower()
    if scheme == "file":
        return unquote(urlsplit(url).path)
    if scheme in STORES:
        url = path_text(url)
        raise DataError(
            f"{url} is not on this machine: in Python pass `pyarrow.dataset.dataset({url!r})`, which reads "
            "it from there; in the shell copy the files here first"
        )
    url = path_text(url)
    advice = f"download it first: curl -LO '{url}'" if scheme in ("http", "https") else "copy it here first"
    known = ", ".join(STORES)
    raise DataError(f"{url} is not on this machine, and pyarrow reads only URLs of {known}: {advice}")


def _walk(root: str) -> list[DataFile]:
    files: list[DataFile] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        check_encoded(folder, "the path")
        keys = folder_keys(Path(folder).relative_to(root).parts)
        for name in sorted(names):
            if is_data_file(name):
                check_encoded(name, "the path")
                files.append(DataFile(os.path.join(folder, name), _format_of(name), keys))
    if not files:
        raise DataError(f"{root}: the directory has no data file ({SUFFIXES})")
    return files


def is_data_file(name: str) -> bool:
    """Whether a file of a folder is one of events, by its name."""
    return not name.startswith((".", "_")) and _suffix(name) is not None


def is_text_file(name: str) -> bool:
    """Whether a file of events is text, by its name."""
    suffix = _suffix(name)
    return suffix is not None and FORMATS[suffix] in TEXTS


def folder_keys(folders: Sequence[str]) -> dict[str, str | None]:
    """The columns that the names of folders give: `day=2024-01-31`."""
    pairs = [folder.partition("=") for folder in folders if "=" in folder]
    return {unquote(key): None if text == _NULL_FOLDER else unquote(text) for key, _, text in pairs}


def _suffix(path: str) -> str | None:
    name, packed = os.path.basename(path).lower(), packing(path) is not None
    suffix = os.path.splitext(os.path.splitext(name)[0] if packed else name)[1]
    return suffix if suffix in FORMATS and (not packed or FORMATS[suffix] in TEXTS) else None


def _format_of(path: str) -> str:
    suffix = _suffix(path)
    if suffix is None:
        raise DataError(
            f"{path}: the suffix does not say the format of the file; the known ones are {SUFFIXES}"
            + (f" (the content looks like {NAMES[sniff(path)]})" if os.path.isfile(path) else "")
        )
    return FORMATS[suffix]


def _nearest(path: str) -> str:
    import difflib

    parent, name = os.path.split(path)
    try:
        names = os.listdir(parent or ".")
    except OSError:
        return f" (nor a directory {parent})"
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean `{os.path.join(parent, near[0])}`?" if near else ""


def sniff(path: str) -> str:
    """The format of a file by its first bytes: a key of `NAMES`."""
    with open(path, "rb") as file:
        head = file.read(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "ipc"
    for magic, packed in MAGIC.items():
        if head.startswith(magic):
            return packed
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return _sniffed_text(head)


def _sniffed_text(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        return "binary"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "json"
    if text.startswith(b"["):
        return "json array"
    first = text.split(b"\n", 1)[0]
    return "csv" if b"," in first else "text"


def check_content(file: DataFile) -> None:
    """Raise if the content of a file is plainly not of the format that its suffix names.

    Raises
    ------
    DataError
        Naming both formats; also for a file without a byte, and one that cannot be opened.
    """
    try:
        if os.path.getsize(file.path) == 0:
            raise DataError(f"{file.path}: the file is empty (0 bytes)")
        content = sniff(file.path)
    except OSError as error:
        raise DataError(f"{file.path} cannot be opened: {error.strerror or error}") from error
    promised = packing(file.path) or file.format
    if content == promised and promised != file.format:
        promised, content = file.format, _sniffed_text(begins(file.path, 4096)) or "text"
    if content == promised or (promised == "csv" and content == "text"):
        return
    advice = "give it the suffix of its format"
    if file.format == "json" and content == "json array":
        advice = "write one object on each line, as `jq -c '.[]' in.json > out.jsonl` does"
    elif content == "utf-16":
        advice = "convert it: iconv -f UTF-16 -t UTF-8"
    elif content == "zip":
        advice = "unpack it"
    raise DataError(
        f"{file.path}: the suffix says {NAMES[promised]}, the content looks like {NAMES[content]}; {advice}"
    )
