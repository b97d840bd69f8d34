"""A figure of the table: what was measured, the target, and whether it was reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.measure import Times

if TYPE_CHECKING:
    from rich.table import Table


class WrongAnswerError(Exception):
    """Two methods disagree: no time is reported."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a figure.

    Attributes
    ----------
    bound : float
        In the unit of the figure.
    most : bool
        True: the figure has to stay below the bound (a time, a size); False: it has to reach it (a rate, a
        ratio).
    """

    bound: float
    most: bool = False

    def reached(self, value: float) -> bool:
        """Whether a figure meets the target."""
        return value < self.bound if self.most else value >= self.bound

    def __str__(self) -> str:
        return f"{'<' if self.most else '≥'} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes
    ----------
    section, case : str
    value : float or None
        None if there is nothing to report; `note` says why.
    unit : str
    low, high : float or None
        The same figure from the worst and the best run.
    target : Target or None
    note : str
        How the answer was checked, or how the figure is made.
    seconds : dict of str to Times
        The times from which the figure was computed.
    """

    section: str
    case: str
    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    target: Target | None = None
    note: str = ""
    seconds: tuple[tuple[str, Times], ...] = ()

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None if there is no target, or no figure."""
        if self.target is None or self.value is None:
            return None
        return self.target.reached(self.value)

    def to_json(self) -> dict[str, Any]:
        """The figure as plain values."""
        record = {name: value for name, value in asdict(self).items() if name != "seconds"}
        record["reached"] = self.reached
        record["seconds"] = {
            name: {
                "median": times.median,
                "min": times.least,
                "max": times.most,
                "runs": list(times.seconds),
            }
            for name, times in self.seconds
        }
        return record


def rate(
    section: str, case: str, what: str, amount: int, times: Times, target: float | None = None, note: str = ""
) -> Figure:
    """A figure of millions of something a second."""
    return Figure(
        section,
        case,
        amount / times.median / 1e6,
        f"M {what}/s",
        amount / times.most / 1e6,
        amount / times.least / 1e6,
        Target(target) if target is not None else None,
        note,
        ((case, times),),
    )


def ratio(
    section: str,
    case: str,
    ours: tuple[str, Times],
    theirs: tuple[str, Times],
    target: float | None = None,
    note: str = "",
) -> Figure:
    """How many times our time the other takes; the spread is that of the fastest and slowest runs."""
    return Figure(
        section,
        case,
        theirs[1].median / ours[1].median,
        "times",
        theirs[1].least / ours[1].most,
        theirs[1].most / ours[1].least,
        Target(target) if target is not None else None,
        note,
        (ours, theirs),
    )


def duration(section: str, case: str, times: Times, most: float | None = None, note: str = "") -> Figure:
    """A figure of seconds."""
    return Figure(
        section,
        case,
        times.median,
        "s",
        times.least,
        times.most,
        Target(most, most=True) if most is not None else None,
        note,
        ((case, times),),
    )


def table(figures: Iterable[Figure], caption: str) -> Table:
    """The figures as one table, section by section."""
    # Here, since a machine with a GPU, which draws no table, need not have it.
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(caption=caption, caption_justify="left")
    drawn.add_column("benchmark")
    for name in ("figure", "of the runs", "target"):
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("reached")
    before = None
    for figure in figures:
        if figure.section != before:
            drawn.add_section()
            drawn.add_row(f"[bold]{figure.section}")
            before = figure.section
        drawn.add_row(
            f"  {figure.case}" + (f" [dim]({escape(figure.note)})[/]" if figure.note else ""),
            f"{_short(figure.value)} {figure.unit}" if figure.value is not None else "-",
            "" if figure.low is None else f"{_short(figure.low)} .. {_short(figure.high)}",
            str(figure.target or ""),
            {None: "", True: "[green]yes[/]", False: "[bold red]no[/]"}[figure.reached],
        )
    return drawn


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
