"""Pictures of results, and that the documents name them and the figures that the results have."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.figures import Figure, duration, rate
from bench.measure import Times
from bench.pictures import RATES, SECONDS, main

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
RIVALS = (ROOT / "bench" / "RIVALS.md").read_text(encoding="utf-8")
README = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")


def test_rates_of_timed_patterns_are_drawn(tmp_path: Path) -> None:
    figures = [Figure(section, f"{section}, a case", 12.5, "M events/s") for section in RATES]
    figures.append(Figure("clock: update", "no rate", 1.1, "times"))
    record = {"figures": [asdict(one) for one in figures]}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    main(str(path))
    assert sorted(one.name for one in tmp_path.glob("*.svg")) == sorted(RATES.values())
    for section, name in RATES.items():
        drawn = (tmp_path / name).read_text(encoding="utf-8")
        assert f"{section}, a case" in drawn
        assert "no rate" not in drawn


def test_seconds_of_ours_are_drawn_beside_those_of_rivals(tmp_path: Path) -> None:
    figures = []
    for section in ("apart: window 10,000, 1M events", "join star, uniform keys"):
        figures += [
            rate(section, "what rivals are asked", "events", 1000, Times((2.0, 3.0, 4.0))),
            rate(section, "ours alone", "events", 1000, Times((5.0,))),
            duration(section, "chdb, hash", Times((7.0,))),
            Figure(section, "chdb, join", None, "s", note="it was stopped"),
        ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"figures": [one.to_json() for one in figures]}), encoding="utf-8")
    main(str(path))
    assert sorted(one.name for one in tmp_path.glob("*.svg")) == sorted(SECONDS.values())
    for name in SECONDS.values():
        drawn = (tmp_path / name).read_text(encoding="utf-8")
        assert "seconds: 3; system: ours" in drawn
        assert "seconds: 7; system: chdb, hash" in drawn
        assert "chdb, join" not in drawn
        assert "seconds: 5" not in drawn


@pytest.mark.parametrize("picture", [*RATES.values(), *SECONDS.values()])
def test_the_documents_name_the_pictures(picture: str) -> None:
    assert f"bench/results/{picture}" in README
    assert "python -m bench.pictures RESULTS.json" in README


@pytest.mark.parametrize("text", [README, RIVALS], ids=["README.md", "RIVALS.md"])
def test_results_that_are_named_are_there(text: str) -> None:
    named = set(re.findall(r"results/([\w.-]+\.json)", text)) | set(
        re.findall(r"\]\(results/([\w.-]+)\)", text)
    )
    missing = [
        name for name in named if not re.match("[A-Z]|device-COMMIT", name) and not (RESULTS / name).exists()
    ]
    assert len(named) >= (1 if text is RIVALS else 2)
    assert not missing


PARAGRAPHS = [
    one
    for one in README.split("\n\n")
    if re.search(r"python -m bench (timed|clocked)", one) and re.search(r"bench/results/[\w.-]+\.json", one)
]


@pytest.mark.parametrize("paragraph", PARAGRAPHS, ids=[one.split(" (", 1)[0] for one in PARAGRAPHS])
def test_figures_are_those_of_the_results(paragraph: str) -> None:
    """Each decimal of a paragraph is a figure of the files that it names, rounded as it is there."""
    values = [
        float(figure["value"])
        for name in re.findall(r"bench/results/([\w.-]+\.json)", paragraph)
        for figure in json.loads((RESULTS / name).read_text(encoding="utf-8"))["figures"]
        if figure["value"] is not None
    ]
    numbers = re.findall(r"\d+\.\d+", re.sub(r"`[^`]*`", "", paragraph))
    assert numbers
    for number in numbers:
        places = len(number.split(".")[1])
        assert any(f"{value:.{places}f}" == number for value in values), number
