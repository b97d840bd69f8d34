"""How charts of a backtest look: sizes, colours, axes and legends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cer_gpu.backtesting.chart_page import offline
from cer_gpu.errors import CerError
from cer_gpu.extras import to_install

if TYPE_CHECKING:
    import altair

Given = ParamSpec("Given")
Chart = TypeVar("Chart")

WIDTH = 640
"""Pixels of a chart."""

CELL = 28
"""Pixels of a row of a heat map."""

SMALL = 110
"""Pixels of the height of one of several histograms."""

COLUMNS = 3
"""Histograms side by side."""

MOST_WRITTEN = 12
"""Cells side by side in a heat map that have room for their values."""

FIRST_COLOUR, SECOND_COLOUR = "#4c78a8", "#e4572e"
"""What was found, and what it is compared with."""

SAMPLE_COLOURS = [FIRST_COLOUR, "#59a14f", "#9c6ade"]
"""All hits, those before a split and those after it."""

TIMES = {
    **dict.fromkeys(["year"], "%Y"),
    **dict.fromkeys(["quarter", "month"], "%b %Y"),
    **dict.fromkeys(["week", "date", "day"], "%d %b"),
    **dict.fromkeys(["hours", "minutes"], "%H:%M"),
    "seconds": "%H:%M:%S",
    "milliseconds": "%S.%L",
}
"""How times are written on an axis."""

SHORT = 18
"""The letters of a label of which two have room side by side on a narrow page."""

FLAT = 60
"""The letters of all labels of an axis at most, for them to lie flat."""


def parameter_axis(values: Sequence[Any]) -> altair.Axis:
    """The axis of a parameter: short labels lie flat, others stand."""
    alt = charts()
    flat = sum(len(str(value)) + 2 for value in values) <= FLAT
    return alt.Axis(labelAngle=0) if flat else alt.Axis()


def value_axis() -> altair.Axis:
    """An axis of numbers whose labels do not run into each other on a narrow page."""
    alt = charts()
    found: altair.Axis = alt.Axis(labelOverlap=True, labelSeparation=8, tickCount=6)
    return found


def count_axis(most: int) -> altair.Axis:
    """An axis of numbers of events up to `most`, which has whole numbers alone."""
    alt = charts()
    found: altair.Axis = alt.Axis(
        format=",d", tickCount=max(1, min(most, 10)), labelOverlap=True, labelSeparation=8
    )
    return found


def time_axis(kind: str) -> altair.Axis:
    """An axis of times (`T`) or of numbers (`Q`), in hours from 0 to 24."""
    alt = charts()
    form = {"format": TIMES} if kind == "T" else {}
    found: altair.Axis = alt.Axis(labelOverlap=True, labelSeparation=8, tickCount=8, **form)
    return found


def charts() -> Any:
    """Altair, which draws the charts.

    Raises
    ------
    CerError
        When it is not installed.
    """
    try:
        import altair
    except ImportError as error:
        raise CerError(
            f"charts are drawn by Altair, which is not installed; {to_install('report')}"
        ) from error
    return altair


def legend(shown: Collection[str]) -> altair.Legend | None:
    """The legend of several queries or variants; none for a single one."""
    alt = charts()
    if len(shown) < 2:
        return None
    columns = 2 if max(map(len, shown)) <= SHORT else 1
    found: altair.Legend = alt.Legend(labelLimit=400, orient="bottom", columns=columns)
    return found


def drawn_offline(method: Callable[Given, Chart]) -> Callable[Given, Chart]:
    """A method that makes a chart, which notebooks then draw without a network."""

    @wraps(method)
    def made(*arguments: Given.args, **keywords: Given.kwargs) -> Chart:
        chart: Chart = offline(method(*arguments, **keywords))
        return chart

    return made


def field_name(name: str) -> str:
    """A column's name as Vega-Lite reads it."""
    return (
        name.replace("\\", "\\\\")
        .replace(".", "\\.")
        .replace("[", "\\[")
        .replace("]", "\\]")
        .replace(":", "\\:")
    )
