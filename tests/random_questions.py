"""Random questions as people ask them, over streams of any length: a few steps, a window, perhaps a key."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa

from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse

TYPES = "ABCDEFGH"
NAMES = "abc"
KEY = "k"


def question(rng: Random) -> t.SelectQuery:
    """Two or three steps within a window, with filters, a comparison, a key or a strategy now and then.

    Some steps have a bound of time between them, and some patterns something that must or must not be beside.
    """
    steps, names = [], NAMES[: rng.choice((2, 2, 3))]
    for place, name in enumerate(names):
        types = rng.sample(TYPES, rng.choice((1, 1, 1, 2)))
        step = f"({' OR '.join(types)}) AS {name}"
        if rng.random() < 0.5:
            step = " OR ".join(f"{one} AS {name}" for one in types)
            step = f"({step})" if len(types) > 1 else step
        if rng.random() < 0.3:
            step = f"({step} FILTER {name}[v > {rng.randrange(1, 60)}])"
        if place and rng.random() < 0.1:
            step = f"({step}) ?" if place < len(names) - 1 else step
        elif rng.random() < 0.12:
            step = f"({step}) {rng.choice(('{2}', '{1,2}'))}"
        steps.append(step)
    pattern = steps[0]
    for step in steps[1:]:
        pattern += f" ;{rng.choice(('',) * 7 + ('[<= 2 s]',))} {step}"
    if rng.random() < 0.25:
        sign, more = rng.choice("<>"), rng.choice(("", " + 20"))
        one, other = names[0], names[-1]
        compared = rng.choice((f"{other}.v {sign} {one}.v{more}",) * 4 + (f"{other}.{KEY} = {one}.{KEY}",))
        pattern = f"({pattern}) FILTER {compared}"
    if rng.random() < 0.25:
        one, other = rng.sample(names, 2)
        pattern = (
            f"({pattern}) FILTER {one}[v > {rng.randrange(50)}] AND {other}[v < {rng.randrange(50, 100)}]"
        )
    if rng.random() < 0.12:
        beside = rng.choice(
            ("UNLESS", "FOLLOWED BY [<= 2 s]", "NOT FOLLOWED BY [<= 2 s]", "PRECEDED BY [<= 2 s]")
        )
        pattern = f"({pattern}) {beside} {rng.choice(TYPES)}"
    strategy = rng.choice(("", "", "", "", "LAST", "NEXT", "MAX"))
    key = f" PARTITION BY {KEY}" if rng.random() < 0.4 else ""
    window = rng.choice(("20 EVENTS", "2 s", "5 s", "20 s", "1 min"))
    text = f"SELECT {strategy} * WHERE {pattern}{key} WITHIN {window}"
    own = Random(text)  # what is drawn later does not depend on it
    if own.random() < 0.12:
        text = f"SELECT {strategy} * WHERE {_neighbours(own)}{key} WITHIN {window}"
    query = parse(text)
    assert isinstance(query, t.SelectQuery)
    return query


def _neighbours(rng: Random) -> str:
    """Two steps right after one another that are compared, or between which there is little time."""
    steps = [f"({' OR '.join(rng.sample(TYPES, rng.choice((1, 2, 6))))}) AS {name}" for name in "ab"]
    if rng.random() < 0.5:
        steps = [f"{rng.choice(TYPES)} AS {name}" for name in "ab"]
    if rng.random() < 0.4:
        return f"{steps[0]} :[<= {rng.choice((100, 500))} ms] {steps[1]}"
    compared = rng.choice(("b.v > a.v", "b.v - a.v > 20", "b.ts - a.ts > 100 ms", f"b.{KEY} = a.{KEY}"))
    return f"({' : '.join(steps)}) FILTER {compared}"


def events(seed: int, count: int) -> pa.Table:
    """So many events, ten a second; every type is about as frequent as any other, and there are 50 keys."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.array(np.array(list(TYPES))[rng.integers(0, len(TYPES), count)]).dictionary_encode(),
            "ts": pa.array(np.cumsum(rng.integers(0, 200, count)), pa.timestamp("ms")),
            KEY: rng.integers(0, 50, count),
            "v": rng.integers(0, 100, count),
        }
    )
