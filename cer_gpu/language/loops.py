"""The iterations around a place of a pattern, for PRIOR and BEFORE (section 4)."""

from __future__ import annotations

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.mark_counts import count_marked
from cer_gpu.language.scope import Marks
from cer_gpu.language.words import written_variable


@dataclass(frozen=True, slots=True)
class Loops:
    """The iterations around a place, and the operators between them that PRIOR and BEFORE do not cross.

    Attributes
    ----------
    marks : Marks or None
        The marks of the pattern that the innermost iteration repeats; None if this is an operator.
    repeated : Pattern or None
        This pattern.
    barrier : str
        The operator, if this is one.
    around : Loops or None
        What is around it; None at the top.
    """

    marks: Marks | None = None
    repeated: t.Pattern | None = None
    barrier: str = ""
    around: Loops | None = None

    def inside(self, repeated: t.Pattern, marks: Marks) -> Loops:
        """A place inside an iteration of a pattern with these marks."""
        return Loops(marks, repeated, "", self)

    def beyond(self, operator: str) -> Loops:
        """A place inside an operator that PRIOR and BEFORE do not cross."""
        return Loops(None, None, operator, self)

    def types(self, variable: str) -> frozenset[t.EventType]:
        """The event types that a variable marks in the smallest iteration that defines it, if any."""
        found = self._defining(variable)[0]
        return frozenset() if found is None or found.marks is None else found.marks[variable]

    def once(self, variable: str) -> bool:
        """Whether a variable marks one event at most in each repetition of the iteration right around."""
        return self.repeated is not None and count_marked(self.repeated, frozenset((variable,))).most == 1

    def check(self, variable: str, word: t.Earlier, place: Span | None, findings: Findings) -> None:
        """Report PRIOR or BEFORE of a variable where there is no repetition before."""
        found, barriers = self._defining(variable)
        shown = written_variable(variable)
        if found is None:
            message = f"{word} needs an iteration around it that repeats `{shown}`, and there is none"
            hint = (
                f"write the filter inside the iteration: `(A AS {shown} FILTER {shown}.v > "
                f"{word}({shown}).v)+`"
            )
            findings.error("CER027", message, place, hint)
        elif barriers:
            message = f"`{barriers[0]}` stands between {word} and the iteration that repeats `{shown}`"
            findings.error(
                "CER027",
                message,
                place,
                f"write {word} directly inside the iteration, not inside `{barriers[0]}`",
            )

    def _defining(self, variable: str) -> tuple[Loops | None, list[str]]:
        barriers: list[str] = []
        loop: Loops | None = self
        while loop is not None:
            if loop.marks is not None and variable in loop.marks:
                return loop, barriers
            if loop.barrier:
                barriers.append(loop.barrier)
            loop = loop.around
        return None, barriers
