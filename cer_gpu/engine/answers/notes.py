"""What a run has noticed: `Notes`. A note is shown once, as a warning, and kept for `Matches.notes`."""

from __future__ import annotations

from dataclasses import dataclass, field

from cer_gpu.caller_warnings import warn
from cer_gpu.printable_text import printable


@dataclass(slots=True)
class Notes:
    """The notes of the runs of one query over some events.

    Attributes
    ----------
    aloud : bool
        Whether notes are also warnings: not in a process that does part of another one's work.
    """

    aloud: bool = True
    _said: dict[str, None] = field(default_factory=dict)

    def say(self, text: str, aloud: bool = True) -> None:
        """Add a note and, if `aloud`, warn of it, unless it is there already."""
        text = printable(text)
        if text not in self._said:
            self._said[text] = None
            if aloud and self.aloud:
                warn(text)

    def copy(self) -> Notes:
        """The same notes, to which more can be added."""
        return Notes(self.aloud, dict(self._said))

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes, in the order in which they were made."""
        return tuple(self._said)
