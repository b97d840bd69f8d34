"""What a run has noticed: `Notes`. A note is shown once, as a warning, and kept for `Matches.notes`."""

from __future__ import annotations

from cer_gpu.caller_warnings import warn
from cer_gpu.printable_text import printable


class Notes:
    """The notes of the runs of one query over some events.

    Parameters
    ----------
    aloud : bool, optional
        Whether notes are also warnings: not in a process that does part of another one's work.
    """

    def __init__(self, aloud: bool = True) -> None:
        self._said: dict[str, None] = {}
        self._aloud = aloud

    def say(self, text: str, aloud: bool = True) -> None:
        """Add a note and, if `aloud`, warn of it, unless it is there already."""
        text = printable(text)
        if text not in self._said:
            self._said[text] = None
            if aloud and self._aloud:
                warn(text)

    def copy(self) -> Notes:
        """The same notes, to which more can be added."""
        other = Notes(self._aloud)
        other._said = dict(self._said)
        return other

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes, in the order in which they were made."""
        return tuple(self._said)
