"""The folder of a view on Spark: snapshots of the parts of the view, and commits.

A commit names the snapshots that belong together, the rows of the last micro-batch, and the last micro-batch
of each stream.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.whole_file import named

COMMITS = "commits"


@dataclass(frozen=True, slots=True)
class LastBatch:
    """The rows of a micro-batch, and the snapshots before it.

    Attributes
    ----------
    relation : str
    sign : int
        1 inserts, -1 deletes.
    rows : mapping of int to str
        For each part that got rows, the file of these rows.
    before : mapping of int to str
        The snapshots of these parts before; a part without rows has none.
    """

    relation: str
    sign: int
    rows: Mapping[int, str]
    before: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class ViewCommit:
    """The state of a view after a micro-batch.

    Attributes
    ----------
    version : int
        Grows by 1 with each micro-batch; 0 before the first.
    streams : mapping of str to int
        The last micro-batch of each stream.
    files : mapping of int to str
        The snapshots of the parts that have rows.
    answers : mapping of int to int
        The number of answers of each part.
    columns : str
        The Arrow schema of the answers, in base 64; empty until it is known.
    rule : str
    parts : int
        How many tasks share the view.
    last : LastBatch or None
        The last micro-batch.
    """

    version: int
    streams: Mapping[str, int]
    files: Mapping[int, str]
    answers: Mapping[int, int]
    columns: str
    rule: str
    parts: int
    last: LastBatch | None = None


_PLAIN = ("version", "streams", "columns", "rule", "parts")
"""What a commit's file holds as it is."""


class ViewFolder:
    """The files of a view.

    Parameters
    ----------
    folder : str
        A path, or the URI of one.
    """

    def __init__(self, folder: str) -> None:
        from pyarrow import fs

        if "://" in folder:
            self._system, self._root = fs.FileSystem.from_uri(folder)
        else:
            self._system, self._root = fs.LocalFileSystem(), os.path.abspath(folder)

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        with self._system.open_input_stream(posixpath.join(self._root, name)) as file:
            found: bytes = file.read()
        return found

    def write(self, name: str, data: bytes) -> None:
        """Write a file as a whole: it is missing or complete."""
        path = posixpath.join(self._root, name)
        self._system.create_dir(posixpath.dirname(path), recursive=True)
        part = f"{path}.{uuid4().hex}.part"
        try:
            with named(path), self._system.open_output_stream(part) as file:
                file.write(data)
            self._system.move(part, path)
        except BaseException:
            with suppress(OSError):  # it was not made
                self._system.delete_file(part)
            raise

    def names(self, below: str = "") -> list[str]:
        """The names of the files of a folder."""
        from pyarrow import fs

        chosen = fs.FileSelector(posixpath.join(self._root, below), allow_not_found=True)
        return sorted(info.base_name for info in self._system.get_file_info(chosen) if info.is_file)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._system.delete_file(posixpath.join(self._root, name))

    def commit(self) -> ViewCommit:
        """The last commit."""
        named = [name for name in self.names(COMMITS) if name.endswith(".json")]
        if not named:
            return ViewCommit(0, {}, {}, {}, "", "", 0)
        found = json.loads(self.read(posixpath.join(COMMITS, named[-1])))
        files, answers = _by_part(found["files"]), _by_part(found["answers"])
        plain = {name: found[name] for name in _PLAIN}
        last = found.get("last")
        if last is not None:
            last = LastBatch(last["relation"], last["sign"], _by_part(last["rows"]), _by_part(last["before"]))
        return ViewCommit(files=files, answers=answers, last=last, **plain)

    def put(self, commit: ViewCommit) -> None:
        """Write a commit, and remove what neither it nor the one before it names."""
        named = {name: getattr(commit, name) for name in _PLAIN}
        named |= {"files": dict(commit.files), "answers": dict(commit.answers)}
        rows: set[str] = set()
        if commit.last is not None:
            last = commit.last
            rows.update(last.rows.values())
            named["last"] = {
                "relation": last.relation,
                "sign": last.sign,
                "rows": dict(last.rows),
                "before": dict(last.before),
            }
        before = self.commit()
        self.write(posixpath.join(COMMITS, f"{commit.version:012d}.json"), json.dumps(named).encode())
        kept = {*commit.files.values(), *before.files.values(), *rows}
        for name in self.names():
            ours = name.endswith((".view", ".rows"))
            if ours and name not in kept and int(name.split("-")[0]) < commit.version:
                self.remove(name)
        for name in self.names(COMMITS)[:-2]:
            self.remove(posixpath.join(COMMITS, name))


def _by_part(found: Mapping[str, Any]) -> dict[int, Any]:
    return {int(part): value for part, value in found.items()}
