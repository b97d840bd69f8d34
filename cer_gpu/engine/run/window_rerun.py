"""What a stream keeps whose machine runs the open window again with each push."""

from __future__ import annotations

from typing import Any

from cer_gpu.engine.machines.open_runs import PushResult
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of
from cer_gpu.engine.run.run_parts import Run


class WindowRerun:
    """A machine that runs the open window again with each push.

    Parameters
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def push(self, new: EventArrays) -> PushResult | None:
        """Add further events, at least one; as `StreamState.push`."""
        runner = self._run.runner
        chunk = self._run.chunker.chunk([new])
        return PushResult(chunk.events, runner.ends(chunk), lambda some: runner.answers(chunk, some))

    def relieve(self, rows: int | None = None) -> None:
        """Drop what is no longer needed; as `StreamState.relieve`."""
        self._run.chunker.relieve([])

    @property
    def count(self) -> int:
        """How many events are kept."""
        held = self._run.chunker.held()
        return 0 if held is None else len(held)

    @property
    def nbytes(self) -> int:
        """About how many bytes are kept."""
        held = self._run.chunker.held()
        kept: int = self._run.intake.nbytes + (0 if held is None else held.nbytes)
        return kept

    def state(self) -> dict[str, Any]:
        """All that is kept; as `StreamState.state`."""
        held = self._run.chunker.held()
        return {"events": None if held is None else state_of(held)}

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        if state["events"] is not None:
            self._run.chunker.resume(relevant_of(state["events"], self._run.intake.lane_keys))


def open_part_of(run: Run) -> StreamState | WindowRerun:
    """What the stream of a run keeps between pushes."""
    runs = run.runner.open_runs()
    return WindowRerun(run) if runs is None else StreamState(run.query, run.intake, runs, run.memory)
