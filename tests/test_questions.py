"""Questions that users of other systems ask in public: each is one query, and its answer is known.

A file of `tests/questions` has one block a question: the question, the events, the query, and the rows of its
answer (the key and the measures). The answers were worked out by hand.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import SelectQuery

FOLDER = Path(__file__).resolve().parent / "questions"

OPTIONS: dict[str, Any] = {"order_by": "ts", "order_unit": "s"}

WORD = re.compile(r"'[^']*'|\S+")


class Question(NamedTuple):
    """A question with its events and what is right.

    Attributes
    ----------
    title : str
    events : str
        A table; `-` is a null.
    query : str
    answer : str
        The rows of the answer: the key, then the measures.
    """

    title: str
    events: str
    query: str
    answer: str


def _questions() -> list[Question]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        _, *blocks = re.split(r"^={20,}\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for block in blocks:
            title, events, query, answer = re.split(r"^-{20,}\n", block, flags=re.MULTILINE)
            found.append(Question(title.strip(), events.strip(), query.strip(), answer.strip()))
    return found


QUESTIONS = _questions()


def value(word: str) -> Any:
    """A value as it is written in a question."""
    if word == "-":
        return None
    if word.startswith("'"):
        return word[1:-1]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def table(text: str) -> pa.Table:
    names, *rows = [WORD.findall(line) for line in text.splitlines()]
    columns = zip(*([value(word) for word in row] for row in rows), strict=True)
    return pa.table(
        {
            name: [None if one is None else float(one) for one in column]
            if any(isinstance(one, float) for one in column)
            else list(column)
            for name, column in zip(names, columns, strict=True)
        }
    )


def measured(matches: Any, names: list[str]) -> list[tuple[Any, ...]]:
    found = matches.to_arrow().select(names).to_pylist()
    return [tuple(row.values()) for row in found]


@pytest.mark.parametrize("question", QUESTIONS, ids=[one.title for one in QUESTIONS])
def test_a_question_has_the_answer_that_is_right(question: Question) -> None:
    events = table(question.events)
    asked = parse(question.query)
    assert isinstance(asked, SelectQuery)
    names = [*(part for (part,) in asked.partition), *(measure.name for measure in asked.measures)]
    wanted = [tuple(map(value, WORD.findall(line))) for line in question.answer.splitlines()]
    query = cer.compile(question.query)
    assert measured(query.run(events, **OPTIONS), names) == wanted
    assert query.count(events, **OPTIONS) == len(wanted)
    with query.stream(**OPTIONS) as stream:
        pushed = [
            row for at in range(len(events)) for row in measured(stream.push(events.slice(at, 1)), names)
        ]
        last = stream.close()
        pushed += [] if last is None else measured(last, names)
    assert sorted(pushed) == sorted(wanted)


def test_there_are_forty_questions_and_each_has_answers() -> None:
    assert len({one.title for one in QUESTIONS}) == len(QUESTIONS) >= 40
    assert all(one.answer for one in QUESTIONS)
