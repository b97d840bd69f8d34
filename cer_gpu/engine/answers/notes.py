"""What a run has noticed, `Notes`: said once, as a warning, and kept for `Matches.notes`."""

from __future__ import annotations

from cer_gpu.printable import printable
from cer_gpu.warned import warn


class Notes:
    """The notes of the runs of one query over some events.

    Parameters
    ----------
    aloud : bool, optional
        Whether they are warnings, too: not in a process that does a part of somebody's work.
    """

    def __init__(self, aloud: bool = True) -> None:
        self._said: dict[str, None] = {}
        self._aloud = aloud

    def say(self, text: str, aloud: bool = True) -> None:
        """Note something and, `aloud`, warn of it, unless it has been noted already."""
        text = printable(text)
        if text not in self._said:
            self._said[text] = None
            if aloud and self._aloud:
                warn(text)

    def copy(self) -> Notes:
        """The same notes, to go on with."""
        other = Notes(self._aloud)
        other._said = dict(self._said)
        return other

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes, in the order in which they were made."""
        return tuple(self._said)
