"""What identifies a stream: a state fits only a stream of the same query that reads its rows alike."""

from __future__ import annotations

from typing import Any

from cer_gpu.engine.run.options import Options
from cer_gpu.engine.versions import own_version
from cer_gpu.errors import DataError
from cer_gpu.printable_text import brief, printable

OF_READING = ("late", "on_late", "until", "ordered")
"""What may differ between a stream and the one that it hands its state over to."""


def about(text: str, asked: Options) -> dict[str, Any]:
    """What identifies a stream: a state fits a stream only if both have the same."""
    return {
        "version": own_version(),  # the one that reads a state must be the one that stored it
        "query": text,
        "order_by": list(asked.order_by),
        "order_unit": asked.order_unit,
        "type_column": asked.type_column,
        "stream_column": asked.stream_column,
        "engine": asked.engine,
        "ordered": asked.ordered,
        "event_id": asked.event_id,
        **{name: repr(own) for name in ("until", "late") if (own := getattr(asked, name)) is not None},
        **({"on_late": asked.on_late} if asked.on_late != "error" else {}),
        **({"nan_is_null": asked.nan_is_null} if asked.nan_is_null is not None else {}),
        **({"params": repr(sorted(asked.params.items()))} if asked.params else {}),
    }


SPELLED = ("until", "late", "params")
"""What is kept as Python writes it."""


class OtherStreamError(DataError):
    """A state was stored by a stream of another query, with other keywords or by another version.

    Parameters
    ----------
    what : str
        Which part of `about` differs.
    stored, own : object
        It in the state, and in the stream that was to continue; None where it was not given.
    """

    def __init__(self, what: str, stored: Any, own: Any) -> None:
        super().__init__(what, stored, own)
        self.what = what
        self.stored, self.own = (
            one if one is None or what in SPELLED else brief(one) for one in (stored, own)
        )

    def __str__(self) -> str:
        stored, own = ("none" if one is None else one for one in (self.stored, self.own))
        return printable(f"the state was stored with another {self.what}: {stored}, and here it is {own}")
