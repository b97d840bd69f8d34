"""The playground of the documentation: small streams, queries with places to choose at, and every answer.

`python tests/playground.py` runs every query that a reader can choose and writes what it gives into
`docs/playground/recorded.js`, which the page `docs/playground.md` shows; `tests/test_playground.py` asks that
this changes nothing. The examples stand in `tests/playground_examples.py`.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages
from playground_examples import EXAMPLES, STREAMS, Example

RECORDED = pages.DOCS / "playground" / "recorded.js"

HEAD = "// What `python tests/playground.py` recorded: every query of the playground and its answers.\n"

PLACE = re.compile(r"<<(\w+)>>")


def choices(example: Example) -> Iterator[tuple[int, ...]]:
    """Every way to choose: for each place of the example the number of an option."""
    return itertools.product(*(range(len(place.options)) for place in example.places.values()))


def filled(example: Example, text: str, chosen: tuple[int, ...]) -> str:
    """A text of the example with the chosen options in its places."""
    at = {name: place.options[number] for (name, place), number in zip(example.places.items(), chosen)}
    return PLACE.sub(lambda found: at[found[1]], text).strip()


def command(example: Example, chosen: tuple[int, ...]) -> str:
    """The command that gives the answers in a shell."""
    words = ["cer", "run", filled(example, example.query, chosen), example.stream, "--order-by", "ts"]
    for name, value in example.params.items():
        words += ["--param", f"{name}={filled(example, value, chosen)}"]
    return shlex.join(words)


def recorded() -> dict[str, Any]:
    """What the page shows: the streams, the examples, and the answers and pictures of every choice."""
    pictures: list[str] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in STREAMS.items():
                Path(name).write_text(text, encoding="utf-8")
            examples = [_example(example, pictures) for example in EXAMPLES]
        finally:
            os.chdir(before)
    return {"streams": STREAMS, "examples": examples, "pictures": pictures}


def _example(example: Example, pictures: list[str]) -> dict[str, Any]:
    return {
        "key": example.key,
        "title": example.title,
        "page": example.page,
        "said": example.said,
        "stream": example.stream,
        "query": PLACE.split(example.query),
        "params": {name: PLACE.split(value) for name, value in example.params.items()},
        "places": {
            name: {"label": place.label, "options": place.options} for name, place in example.places.items()
        },
        "answers": {
            ",".join(map(str, chosen)): _answers(example, chosen, pictures) for chosen in choices(example)
        },
    }


def _answers(example: Example, chosen: tuple[int, ...], pictures: list[str]) -> dict[str, Any]:
    import cer_gpu as cer

    events, order_by = pages.read(example.stream, {})
    given = {name: filled(example, value, chosen) for name, value in example.params.items()}
    query = cer.compile(
        filled(example, example.query, chosen), {name: _value(v) for name, v in given.items()}
    )
    names, rows = pages.answers(query.run(events, order_by=order_by))
    # The page has the colours of a picture, so that they turn with the others.
    picture = re.sub(r"<style>.*?</style>\n", "", cer.timeline(query, events, order_by), flags=re.DOTALL)
    if picture not in pictures:
        pictures.append(picture)
    return {
        "command": command(example, chosen),
        "names": names,
        "rows": rows,
        "picture": pictures.index(picture),
    }


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def written(found: dict[str, Any]) -> str:
    """The file that the page reads: a script, since a page that is opened as a file may read no other."""
    return f"{HEAD}const RECORDED = {json.dumps(found, indent=0, ensure_ascii=True)};\n"


def read() -> dict[str, Any]:
    """What is recorded."""
    text = RECORDED.read_text(encoding="utf-8")
    return json.loads(text.removeprefix(f"{HEAD}const RECORDED = ").removesuffix(";\n"))


if __name__ == "__main__":
    sys.path.insert(0, str(pages.ROOT))
    RECORDED.write_text(written(recorded()), encoding="utf-8")
