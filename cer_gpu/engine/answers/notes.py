"""What a run has noticed: `Notes`. A note is shown once, as a warning, and kept for `Matches.notes`."""

from __future__ import annotations

from dataclasses import dataclass, field

from cer_gpu.caller_warnings import CallerLine, caller_line
from cer_gpu.printable_text import printable


@dataclass(slots=True)
class Notes:
    """The notes of the runs of one query over some events.

    Attributes
    ----------
    aloud : bool
        Whether notes are also warnings: not in a process that does part of another one's work.
    line : CallerLine or None
        The line to warn at; None: the one that calls into the package when a note is made.
    """

    aloud: bool = True
    line: CallerLine | None = None
    _said: dict[str, None] = field(default_factory=dict)

    def say(self, text: str, aloud: bool = True) -> None:
        """Add a note and, if `aloud`, warn of it, unless it is there already."""
        text = printable(text)
        if text not in self._said:
            self._said[text] = None
            if aloud and self.aloud:
                (self.line or caller_line()).warn(text)

    def copy(self) -> Notes:
        """The same notes, to which more can be added."""
        return Notes(self.aloud, self.line, dict(self._said))

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes, in the order in which they were made."""
        return tuple(self._said)
