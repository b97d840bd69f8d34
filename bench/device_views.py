"""A view that is kept on a device: batches are inserted, some deleted again, and its answers are listed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

import cer_gpu as cer

RULE = "Q(a, b, c, d) <- R(a, b), S(b, c), T(b, d), a < c, a < d, c != d"
"""Three relations by one key: two are compared by the order of a value, and two values have to differ."""

PAIR = "Q(a, b, c) <- R(a, b), S(b, c), a < c"
"""Two relations: the answers of a row lie side by side."""

BATCHES = 4
"""How many batches each relation gets; the first is deleted again at the end."""

FEW = 12
"""Rows of a batch that are enough for every kernel, if runs of one row or more are kept on the device."""


class Kept(NamedTuple):
    """The results of a view: how many answers it has, how many were listed on the way, and their sum."""

    answers: int
    listed: int
    total: int


def kept(rule: str, rows: int, device: str) -> Kept:
    """Keep the view of a rule over batches of `rows` rows.

    Parameters
    ----------
    rule : str
    rows : int
        Rows of a batch; half as many keys are drawn.
    device : str
    """
    rng = np.random.default_rng(20_261_123)
    view = cer.maintain(rule, device=device)
    relations = [name for name in "RST" if f"{name}(" in rule]
    first, listed, total = {}, 0, 0
    for batch in range(BATCHES):
        for name in relations:
            key, value = rng.integers(0, max(rows // 2, 1), rows), rng.integers(0, 1000, rows)
            table = pa.table({"x": value, "y": key} if name == "R" else {"x": key, "y": value})
            first.setdefault(name, table)
            view.insert(name, table)
            if batch:
                for part in view.enumerate().batches():
                    listed += len(part)
                    total += int(part.column(0).to_numpy().sum())
    for name in relations:
        view.delete(name, first[name])
    return Kept(view.count(), listed, total)
