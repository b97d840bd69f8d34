"""Charts as pages that carry their own script, for notebooks: `offline`."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any

from cer_gpu.errors import CerError
from cer_gpu.extras import to_install
from cer_gpu.notebook import HTML

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
