"""How charts of a backtest look, and pages of them that carry their own script, for notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cer_gpu.errors import CerError
from cer_gpu.extras import to_install
from cer_gpu.notebook import HTML

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


CHART = """<!doctype html><html><head><meta charset="utf-8"><style>
:root {{ color-scheme: light dark }} body {{ margin: 0; font: 13px system-ui, sans-serif }}
h4 {{ margin: 4px 0 }} #chart {{ width: 100% }}
</style></head><body><h4></h4><div id="chart"></div><script>{library}</script><script>
const spec = {spec};
const heading = document.querySelector("h4");
heading.textContent = spec.title || "";
delete spec.title;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const ink = dark ? "#e6e8ea" : "#1c1e21", line = dark ? "#343a41" : "#d8dce1";
heading.style.color = ink;
const told = {{ labelColor: ink, titleColor: ink }};
const axis = {{ ...told, gridColor: line, domainColor: line, tickColor: line }};
vegaEmbed("#chart", spec, {{ config: {{ axis, legend: told, header: told, text: {{ color: ink }},
  view: {{ stroke: line }}, background: "transparent" }}, actions: false }}).then(() => {{
  if (frameElement) frameElement.style.height = document.body.scrollHeight + 12 + "px";
  document.body.dataset.drawn = 1;
}});
</script></body></html>"""


def chart_page(spec: dict[str, Any]) -> str:
    """A page with one chart and the script that draws it.

    Raises
    ------
    CerError
        When the package that has the script is not installed.
    """
    text = json.dumps(spec).replace("</", "<\\/")
    return CHART.format(library=drawing_script(), spec=text)


def bundler() -> Callable[[str], str]:
    """What makes the script, of the package vl-convert-python.

    Raises
    ------
    CerError
        When it is not installed.
    """
    try:
        from vl_convert import javascript_bundle
    except ImportError as error:
        what = "pages with charts need vl-convert-python, which is not installed"
        raise CerError(f"{what}; {to_install('report')}") from error
    made: Callable[[str], str] = javascript_bundle
    return made


def drawing_script() -> str:
    """What draws charts, as one script."""
    bundle: str = bundler()("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def offline(chart: Any) -> Any:
    """A chart of Altair that notebooks draw without a network, in a frame of its own."""
    kind = type(chart)

    def bundle(self: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = escape(chart_page(self.to_dict()), quote=True)
        frame = f"<iframe srcdoc='{page}' style='width: 100%; height: 420px; border: 0'></iframe>"
        return {"text/plain": f"<{kind.__name__}>", HTML: frame}

    members = {"_repr_mimebundle_": bundle, "__module__": kind.__module__}
    # An attribute that is set as usual becomes a field of the chart.
    object.__setattr__(chart, "__class__", type(kind.__name__, (kind,), members))
    return chart
