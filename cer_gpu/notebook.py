"""Notebooks: whether this is one, and the texts and drawings that it shows."""

from __future__ import annotations

import sys
from base64 import b64encode
from html import escape
from typing import Any, Protocol

SVG, MERMAID, HTML = "image/svg+xml", "text/vnd.mermaid", "text/html"
"""Types of what notebooks show."""


class DisplayedPage(Protocol):
    """A piece of HTML below a cell."""

    def update(self, page: str) -> None:
        """Show another piece in its place."""


class _PageText(str):
    # HTML as IPython displays it.
    def _repr_html_(self) -> str:
        return str(self)


class _CellPage:
    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def update(self, page: str) -> None:
        self._handle.update(_PageText(page))


def shell() -> Any:
    """The IPython that runs the cells of a notebook; None elsewhere, also in a terminal."""
    ipython = sys.modules.get("IPython")  # whoever runs in a notebook has imported it
    found = None if ipython is None else ipython.get_ipython()
    return found if found is not None and hasattr(found, "kernel") else None


def displayed(page: str) -> DisplayedPage:
    """Show HTML below the cell that runs."""
    from IPython.display import display

    return _CellPage(display(_PageText(page), display_id=True))


class RenderedText(str):
    """A text that notebooks show as what it is: a drawing, a diagram, or lines of text."""

    mime = ""

    @classmethod
    def of(cls, text: str, mime: str = HTML) -> RenderedText:
        """The text, to be shown as `mime`; as lines for HTML."""
        made = cls(text)
        made.mime = mime
        return made

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = str(self)
        if self.mime == HTML:
            return {"text/plain": text, HTML: f"<pre>{escape(text)}</pre>"}
        shown = {"text/plain": text, self.mime: text}
        return shown | {HTML: _picture(text)} if self.mime == SVG else shown

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return RenderedText.of, (str(self), self.mime)


def _picture(svg: str) -> str:
    """A drawing as HTML: its styles are its own, and a dark page does not hide dark lines."""
    data = b64encode(svg.encode()).decode()
    style = "background: #fff; border-radius: 6px; max-width: 100%"
    return f'<img src="data:{SVG};base64,{data}" style="{style}">'
