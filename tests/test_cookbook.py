"""The recipes of the cookbook, run as they stand in the document."""

import re
import shlex
from pathlib import Path

import pytest

import cer_gpu as cer
from cer_gpu.cli import status_of

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "COOKBOOK.md").read_text(encoding="utf-8")

FILES = dict(re.findall(r"`(\w+\.csv)`[^\n]*\n\n```csv\n(.*?)```", TEXT, re.DOTALL))
STEP = re.compile(r"```(python|sh)\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def recipes():
    """Each recipe: its question, and its steps (language, code, what it prints)."""
    for section in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]:
        question, _, rest = section.partition("\n")
        yield question, STEP.findall(rest), rest


RECIPES = {question: steps for question, steps, _ in recipes()}


@pytest.mark.parametrize("question", RECIPES)
def test_recipe(question, tmp_path, monkeypatch, capsys):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="utf-8")
    for language, code, answer in RECIPES[question]:
        if language == "sh":
            program, *arguments = shlex.split(code)
            assert program == "cer"
            assert status_of(arguments) == 0
        else:
            exec(code, {"cer": cer})
        assert capsys.readouterr().out == answer


def test_every_block_of_the_cookbook_is_run():
    for question, steps, rest in recipes():
        assert len(steps) == len(re.findall(r"^```(?:python|sh)$", rest, re.MULTILINE)) > 0, question
        assert all(answer for _, _, answer in steps), question


def test_the_cookbook_has_the_questions_that_people_ask():
    assert len(RECIPES) >= 25
    assert len(FILES) >= 5
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/COOKBOOK.md)" in readme
    assert [word for word in ("sessions", "consecutive", "longest streak") if word not in readme] == []
