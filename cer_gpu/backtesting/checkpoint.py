"""Keeps in a file how far a backtest over files has come; after an interruption it continues from there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import takewhile
from typing import Any

import pyarrow as pa

from cer_gpu.backtesting.queries import AskedQuery
from cer_gpu.backtesting.seams import More
from cer_gpu.caller_warnings import warn
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.passes import PassKeeper, PassState
from cer_gpu.engine.run.snapshot import StoredState, from_bytes, to_bytes, unshared
from cer_gpu.engine.versions import own_version
from cer_gpu.errors import DataError
from cer_gpu.output import output_file

SHARE = 10
"""The state is kept after a file only if writing it takes at most 1 / SHARE of the time since it was kept."""


GoOn = Callable[[dict[str, Any] | None, int], tuple[list[pa.Table], dict[str, Any]]]
"""Given the state that was kept after the first files and the number of these files, reads the others.

Returns the tables of all files, and the new state."""

READING = ("order_by", "order_unit", "type_column", "stream_column", "ordered", "engine", "nan_is_null")
"""The keywords by which events are read."""


class BacktestCheckpoint:
    """Keeps what a backtest over files needs to continue after an interruption.

    Parameters
    ----------
    path : str
        The file that holds it; it need not exist yet.
    asked : sequence of AskedQuery
    by : object
        As for `backtest`.
    groups : sequence of sequence of int
        The queries that are read together.
    source : Source
        The events of all files.
    options : Options

    Attributes
    ----------
    seconds_before : float
        How long the backtest had run before it was interrupted.

    Raises
    ------
    DataError
        When the events are not in files, or the file belongs to another backtest.
    """

    def __init__(
        self,
        path: str,
        asked: Sequence[AskedQuery],
        by: Any,
        groups: Sequence[Sequence[int]],
        source: Source,
        options: Options,
    ) -> None:
        self._path = path
        stamps = [part.stamp for part in source.parts()]
        self._files = [list(stamp) for stamp in stamps if stamp is not None]
        """Path, size and time of change of each file."""
        if not self._files or None in stamps:
            raise DataError(
                f"resume saves the progress after each file, and {source.where} is not read file by file: "
                "pass the paths of files, without sort=True and late, or leave resume out"
            )
        self._about = _about(asked, by, groups, source, options)
        self._state: dict[str, Any] = {
            "pass": None,
            "files": [],
            "beside": {},
            "made": {},
            "made_of": [],
            "spans": [],
            "seconds": 0.0,
        }
        self._begun_at = self._kept_at = time.perf_counter()
        self._cost, self._behind = 0.0, False
        if os.path.exists(path):
            self._state |= self._read()
        self.seconds_before: float = self._state["seconds"]

    def begun(self) -> PassState | None:
        """See `PassKeeper.begun`."""
        state = self._state["pass"]
        return None if state is None else PassState(**state)

    def keep(self, files: int, state: Callable[[], PassState]) -> None:
        """See `PassKeeper.keep`: after the last file the state is always kept."""
        last = files == len(self._files)
        if last or not self.hurried:
            self._state |= {"pass": _as_kept(state(), last), "files": self._files[:files]}
            self._write(time.perf_counter())

    @property
    def hurried(self) -> bool:
        """Whether too little time has passed since the state was kept for keeping it again."""
        return time.perf_counter() - self._kept_at < SHARE * self._cost

    @property
    def spans(self) -> list[Any]:
        """The list that `Seams` takes; what is added to it is kept."""
        found: list[Any] = self._state["spans"]
        return found

    def beside(self, name: str) -> PassKeeper:
        """Keeps the state of a further pass over the files, under a name."""
        return _SeparateRunKeeper(self, self._state["beside"], self._files, name)

    def going_on(self, name: str, go: GoOn) -> list[pa.Table]:
        """The tables that `go` makes of all these files; they and its state are kept under a name.

        Parameters
        ----------
        name : str
        go : callable
            Given the state after the first files and the number of these files (None and 0 at first), it
            reads the other files, and returns the tables of all files and the new state.
        """
        count, before = len(self._files), self._state["made"].get(name)
        if before is None or before["files"] != count:
            state, files = (None, 0) if before is None else (before["state"], before["files"])
            tables, state = go(state, files)
            self._state["made"][name] = {"files": count, "tables": tables, "state": state}
            self.note()
        own: list[pa.Table] = self._state["made"][name]["tables"]
        return own

    def made(
        self,
        name: str,
        make: Callable[[], list[pa.Table]],
        more: More | None = None,
        told: str = "",
    ) -> list[pa.Table]:
        """The tables that are made of all these files; they are kept under a name, and not made twice.

        Parameters
        ----------
        name : str
        make : callable
            Makes the tables from all files.
        more : callable, optional
            Makes them from the tables of the first files and from the other files.
        told : str, optional
            What is made, in words for a warning: that all files have to be read again for it.
        """
        count, before = len(self._files), self._state["made"].get(name)
        if before is None or before["files"] != count:
            found = None
            if before is not None and more is not None:
                found = more(before["tables"], before["files"])
            if before is not None and found is None and told:
                warn(f"{told} from the first file on again: they depend on all events")
            self._state["made"][name] = {"files": count, "tables": make() if found is None else found}
            self.note()
        own: list[pa.Table] = self._state["made"][name]["tables"]
        return own

    def note(self) -> None:
        """Write the state, with what has just been noted in it; if that is too early, it is written later."""
        now = time.perf_counter()
        self._behind = now - self._kept_at < SHARE * self._cost
        if not self._behind:
            self._write(now)

    def finish(self) -> None:
        """Write what `made` made last."""
        if self._behind:
            self._write(time.perf_counter())

    def _write(self, now: float) -> None:
        self._state["made_of"] = self._files
        self._state["seconds"] = self.seconds_before + time.perf_counter() - self._begun_at
        with output_file(self._path) as sink:
            sink.write(to_bytes(StoredState(self._about, self._state)))
        self._kept_at, self._behind = time.perf_counter(), False
        self._cost = self._kept_at - now

    def _read(self) -> dict[str, Any]:
        """What the file holds, which must be of this backtest."""
        with open(self._path, "rb") as file:
            data = file.read()
        remedy = "remove the file to start again, or name another one with resume"
        try:
            stored = from_bytes(data)
        except DataError as error:
            raise DataError(
                f"{self._path} is not a file that a backtest has kept: {error}; {remedy}"
            ) from None
        other = [what for what in self._about if stored.about.get(what) != self._about[what]]
        if other:
            raise DataError(
                f"{self._path} was kept by a backtest with another {' and another '.join(other)}: {remedy}"
            )
        state: dict[str, Any] = stored.state
        files = self._files
        for place, before in enumerate(state["files"]):
            if place == len(files) or files[place] != before:
                now = (
                    "is missing now"
                    if place == len(files)
                    else f"has changed, or comes after {files[place][0]} now"
                )
                raise DataError(
                    f"{self._path} was kept after reading {before[0]}, which {now}; new files must come "
                    f"after the old ones: {remedy}"
                )
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(state["made_of"], files)))
        made = state["made"].items()
        state["made"] = {name: one for name, one in made if one["files"] <= same}
        state["spans"] = state["spans"][:same]
        return state


class _SeparateRunKeeper:
    """See `BacktestCheckpoint.beside`: a `PassKeeper`."""

    def __init__(
        self, whole: BacktestCheckpoint, states: dict[str, Any], files: Sequence[Any], name: str
    ) -> None:
        self._whole, self._states, self._files, self._name = whole, states, files, name

    def begun(self) -> PassState | None:
        """See `PassKeeper.begun`; None where the files that were read have changed, too."""
        found = self._states.get(self._name)
        if found is None or self._files[: len(found["files"])] != found["files"]:
            return None
        return PassState(**found["pass"])

    def keep(self, files: int, state: Callable[[], PassState]) -> None:
        """See `PassKeeper.keep`."""
        last = files == len(self._files)
        if last or not self._whole.hurried:
            self._states[self._name] = {"pass": _as_kept(state(), last), "files": self._files[:files]}
            self._whole.note()


def _as_kept(state: PassState, last: bool) -> dict[str, Any]:
    """The state of a pass, which may be written again later: at the end of the events the pass changes it."""
    found = state._asdict()
    return unshared(found) if last else found


def made_now(
    name: str, make: Callable[[], list[pa.Table]], more: More | None = None, told: str = ""
) -> list[pa.Table]:
    """As `BacktestCheckpoint.made`, where nothing is kept."""
    return make()


def _about(
    asked: Sequence[AskedQuery],
    by: Any,
    groups: Sequence[Sequence[int]],
    source: Source,
    options: Options,
) -> dict[str, Any]:
    """What tells a backtest from others, each part in a few characters."""
    read = [getattr(options, name) for name in READING]
    text = options.text
    read += [text.delimiter, text.types, text.decimal_point, text.date_formats]
    return {
        "version of cer-gpu": own_version(),
        "set of queries": digest([(one.name, one.query.text, sorted(one.values.items())) for one in asked]),
        "params": digest(sorted(options.params.items())),
        "by": digest(by),
        "keyword": digest(read),
        "schema of the events": digest(str(source.arrow_schema)),
        "way of reading queries together": digest([list(group) for group in groups]),
    }


def digest(value: Any) -> str:
    """A short text that differs for different values (a hash)."""
    return blake2b(repr(value).encode(), digest_size=16).hexdigest()
