"""Plain questions: every form of every tool has the same answer, and the tables say who is first."""

import json

import pyarrow.parquet as pq
import pytest

from bench.answers import must
from bench.figures import WrongAnswerError
from bench.fresh import ChildError
from bench.rivals.one import answered
from bench.rivals.plain import section, shown
from bench.rivals.plain.engines import OPENERS, PlainForm, forms_of, opened, read, written
from bench.rivals.plain.events import made
from bench.rivals.plain.questions import COUNT, MANY, ONE, VARIANTS, Plain, questions, variants
from bench.rivals.plain.sql import statements
from bench.sizes import Sizes

TOOLS = [name for name in OPENERS if name != "chdb"]
"""chdb is asked when the section runs, as in the tests of the other rivals."""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("plain") / "events.parquet"
    pq.write_table(made(20_000, 0.02), file)
    return str(file)


@pytest.mark.parametrize("question", questions()[:-1], ids=lambda one: one.name)
def test_all_forms_have_the_same_answer(question, path):
    asked = [(tool, PlainForm(question, form)) for tool in TOOLS for form in forms_of(tool, question)]
    found = {(tool, one.form): one.digest(opened(tool, path)(one)) for tool, one in asked}
    assert len(set(found.values())) == 1, found
    [number] = {number for number, _ in found.values()}
    assert number > 0


def test_all_variants_are_the_sum_of_each(path):
    many = opened("cer-gpu", path)(PlainForm(variants(), MANY))
    assert many > opened("cer-gpu", path)(PlainForm(variants(), ONE)) >= 0
    assert forms_of("duckdb", variants()) == []


def test_a_question_is_a_line_of_text():
    for question in questions():
        for tool in OPENERS:
            for form in forms_of(tool, question):
                asked = PlainForm(question, form)
                assert read(written(asked)) == asked


def test_each_tool_has_words_for_each_question():
    names = {one.name for one in questions()} - {VARIANTS}
    assert set(statements("duckdb")) == set(statements("chdb")) == names
    assert "maxIf(t, type = 'view') OVER (PARTITION BY user_id" in statements("chdb")["funnel"][0]


def test_the_process_of_a_tool_answers_with_sums(path):
    question = next(one for one in questions() if one.name == "funnel")
    loaded, said = answered("polars", written(PlainForm(question, "funnel_asof, streaming")), path, 2)
    assert loaded["load"] >= 0
    assert said["number"] > 0
    assert len(said["sums"]) == 1
    assert len(said["seconds"]) == len(said["processor"]) == 2


class _Workers:
    """Tools that answer at once; `counts` says how many rows each finds."""

    counts: dict[str, int | Exception]

    def __init__(self, *kept):
        self.kept = kept

    def __enter__(self):
        return self

    def __exit__(self, *about):
        pass

    def ask(self, engine, asked, path, runs, patience):
        number = self.counts.get(engine, 7)
        if isinstance(number, Exception):
            raise number
        spent = {"cer-gpu": 2.0, "polars": 1.0}.get(engine, 8.0)
        if asked.endswith(MANY):
            spent = 60.0
        spent += asked.endswith("|1")  # the second form of a question takes longer
        return {
            "number": number,
            "sums": [1],
            "seconds": [spent, 99.0],
            "processor": [spent / 2, 99.0],
            "peak": 1e6,
        }


FEW = (Plain("first", "first of each", COUNT, ("A", "B")), variants())


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(section, "Workers", _Workers)
    monkeypatch.setattr(section, "questions", lambda: FEW)
    _Workers.counts = {}
    return lambda: list(section.plain(Sizes(asked=(2000,))))


def test_the_fastest_form_counts(asked):
    figures = {one.case: one for one in asked()}
    assert figures["cer-gpu"].value == 1.0
    assert "7 matches; form 0; 2.0000 s by the clock" in figures["cer-gpu"].note
    assert figures["duckdb / ours"].value == figures["duckdb / ours, by the clock"].value == 4.0
    assert figures["polars / ours"].value == 0.5
    assert [name for name, _ in figures["cer-gpu"].seconds][:2] == ["0, processor", "1, processor"]
    assert figures["all / one"].value == 30.0
    assert not figures["all / one"].reached


def test_a_tool_with_another_answer_ends_the_table(asked):
    _Workers.counts = {"chdb": 8}
    with pytest.raises(WrongAnswerError, match="first of each, 2k events: chdb: form 0 answers"):
        asked()


def test_a_tool_that_fails_or_is_late_has_no_figure(asked):
    _Workers.counts = {"duckdb": TimeoutError("more than 3 s"), "chdb": ChildError("Error:\nno memory\n--")}
    figures = {one.case: one for one in asked()}
    assert (figures["duckdb"].value, figures["duckdb"].note) == (None, "form 0: more than 3 s")
    assert figures["chdb"].note.endswith("no memory")
    assert "chdb / ours" not in figures
    _Workers.counts = {"cer-gpu": TimeoutError("more than 3 s")}
    figures = {one.case: one for one in asked()}
    assert (
        figures["all / one"].case == "all / one"
        if "all / one" in figures
        else figures["cer-gpu"].value is None
    )
    assert "duckdb / ours" not in figures


def test_the_tables_are_shown(asked, tmp_path):
    record = {
        "environment": {"cores": 2, "processor": "P", "memory_gib": 8.0, "load": 0.1, "python": "3.11.7"}
        | {"duckdb": "2.0.0", "chdb": "4", "polars": "2.1", "commit": "abc"},
        "sizes": {"runs": 3, "asked": [2000]},
        "figures": [one.to_json() for one in asked()],
    }
    larger = json.loads(json.dumps(record).replace("2k events", "20M events").replace("abc", "def"))
    larger["sizes"]["asked"] = [20_000_000]
    must(bool(record["figures"]), "there are figures")
    (tmp_path / "bench" / "results").mkdir(parents=True)
    stored = [tmp_path / "larger.json", tmp_path / "stored.json"]
    for path, one in zip(stored, (larger, record), strict=True):
        path.write_text(json.dumps(one))
    shown.write(stored, tmp_path)
    text = (tmp_path / "bench" / "PLAIN.md").read_text()
    assert text.startswith(shown.HEADING)
    assert "## 2k events\n\n| question | answers | cer-gpu, ms | duckdb | chdb | polars |\n" in text
    assert "| first of each | 7 matches | 1,000 (2,000) | 4 (4) | 4 (4) | 0.5 (0.5) |\n" in text
    assert "least processor time in 0 of 1 rows" in text
    assert "Where another tool takes less:\n\n- first of each: polars, 0.5\n" in text
    assert "1,000 variants of view, cart, buy of a user over 2k events take 30 times as long as one" in text
    assert "over 20M events take 30 times as long as one" in text
    assert "the figures of 2k events (`bench/results/stored.json`)" in text
    assert text.index("## 2k events") < text.index("## 20M events")
    for size in ("2k", "20M"):
        assert "first of each" in (tmp_path / "bench" / "results" / f"plain-{size}.svg").read_text()
