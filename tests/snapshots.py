"""Snapshots at random moments of a stream."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cer_gpu.engine.run.stream import Stream


def stored(stream: Stream, restored: Callable[[bytes], Stream], rng: Random, often: float = 0.25) -> Stream:
    """The stream to go on with, after no snapshot, one, or several in a row.

    A snapshot lets go of what the stream needs no longer, so taking one must change nothing, whether the
    stream goes on itself or another one continues from the state.

    Parameters
    ----------
    stream : Stream
    restored : callable
        Continues from a state.
    rng : Random
    often : float, optional
        How likely each snapshot is.
    """
    own = Random(rng.random())  # one draw, whatever happens: what is drawn later does not depend on it
    while own.random() < often:
        state = stream.snapshot()
        if own.random() < 0.5:
            stream = restored(state)
    return stream
