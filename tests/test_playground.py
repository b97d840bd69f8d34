"""The playground of the documentation: what is recorded is what runs, and the built page shows it."""

import json
import re
import shlex

import pages
import playground
import pytest
from built_site import GROUP, told
from playground_examples import EXAMPLES, STREAMS

from cer_gpu.cli import status_of

FOLDER = playground.RECORDED.parent
BY_KEY = {example.key: example for example in EXAMPLES}


@pytest.fixture(scope="module")
def recorded():
    return playground.read()


def test_a_run_of_all_queries_changes_nothing():
    """The answers and pictures of every choice, and all that the page says of them."""
    given = playground.written(playground.recorded())
    assert given == playground.RECORDED.read_text(encoding="utf-8"), (
        "run `python tests/playground.py` and look"
    )


@pytest.mark.parametrize("key", BY_KEY)
def test_the_command_gives_the_answers(key, recorded, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in STREAMS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = next(one for one in recorded["examples"] if one["key"] == key)
    for one in found["answers"].values():
        program, *arguments = shlex.split(one["command"])
        assert program == "cer"
        assert status_of(arguments) == 0
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        cells = [dict(zip(one["names"], row)) for row in one["rows"]]
        assert [(str(row["start"]), str(row["end"])) for row in told] == [
            (row["start"], row["end"]) for row in cells
        ]
        for row, cell in zip(told, cells):
            assert all(cell[name] == ", ".join(map(str, at)) for name, at in row["marks"].items())


def test_every_option_of_every_place_matters(recorded):
    """Two options of a place differ in their answers, whatever stands in the other places, at least once."""
    for example, found in zip(EXAMPLES, recorded["examples"], strict=True):
        assert len(found["answers"]) == len(list(playground.choices(example)))
        for at, (name, place) in enumerate(example.places.items()):
            pictures = [[] for _ in place.options]
            for chosen, one in found["answers"].items():
                pictures[int(chosen.split(",")[at])].append((one["rows"], one["picture"]))
            for number, some in enumerate(pictures):
                assert some not in pictures[:number], f"{example.key}: {name} {place.options[number]}"


def test_an_example_names_its_page_and_a_small_stream():
    assert len(BY_KEY) == len(EXAMPLES) >= 10
    assert {example.stream for example in EXAMPLES} == STREAMS.keys()
    for example in EXAMPLES:
        assert (pages.DOCS / example.page).exists()
    assert all(5 <= len(text.splitlines()) - 1 <= 8 for text in STREAMS.values())


def test_pictures_have_the_colours_of_the_page(recorded):
    style = (FOLDER / "play.css").read_text(encoding="utf-8")
    used = set(re.findall(r'class="([\w ]+)"', "".join(recorded["pictures"])))
    assert {"bar", "dot", "event", "page"} <= used
    for name in {part for one in used for part in one.split()}:
        assert f"#play svg .{name} {{" in style
    assert not any("<style" in picture for picture in recorded["pictures"])


def test_the_page_needs_no_network():
    for name in ("play.js", "play.css", "recorded.js"):
        text = (FOLDER / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//cdn|@import|url\(|fetch\(", text), name


@pytest.fixture(scope="module")
def built(site):
    """The page as `make docs` builds it."""
    return site / "playground.html"


CHOOSE = """
const change = (select, value) => { select.value = value; select.dispatchEvent(new Event("change")); };
const cells = () => [...document.querySelectorAll("#play-answers td")].map((cell) => cell.textContent);
"""

ALL = """
const found = {};
const see = () => {
  const stream = [...document.querySelectorAll("#play .play-stream tbody tr")].length;
  const svg = document.querySelector("#play-answers svg");
  found[document.getElementById("play").dataset.shown] = {
    cells: cells(), stream, bars: svg.querySelectorAll(".bar").length, labels: labels(),
    command: document.getElementById("play-command").textContent,
    links: [...document.querySelectorAll("#play a:not([download])")].map((one) => one.getAttribute("href")),
  };
};
const selects = () => [...document.querySelectorAll("#play select")];
const labels = () => selects().map((one) => one.labels.length ? one.labels[0].textContent : one.ariaLabel);
const places = () => selects().map((one) => one.dataset.place).filter((name) => name);
const every = (names) => {
  if (names.length === 0) return see();
  const select = () => document.querySelector(`#play select[data-place="${names[0]}"]`);
  for (let at = 0; at < select().options.length; at++) { change(select(), at); every(names.slice(1)); }
};
const example = document.getElementById("play-example");
for (let at = 0; at < example.options.length; at++) { change(example, at); every(places()); }
tell({ found, wrong });
"""


@GROUP
def test_the_page_shows_the_answers_of_every_choice(built, recorded, tmp_path):
    said = told(built, tmp_path, CHOOSE + ALL)
    assert said["wrong"] == []
    shown = said["found"]
    for found in recorded["examples"]:
        for chosen, one in found["answers"].items():
            now = shown.pop(f"{found['key']}={chosen}")
            assert now["cells"] == [cell for row in one["rows"] for cell in row]
            assert now["bars"] == len(one["rows"])
            assert now["command"] == one["command"]
            assert len(now["links"]) == 1
            assert (built.parent / now["links"][0].partition("#")[0]).is_file()
            assert now["stream"] == len(STREAMS[found["stream"]].splitlines()) - 1
            assert len(now["labels"]) == 1 + len(found["places"])
            assert all(now["labels"])
    assert shown == {}


@GROUP
def test_a_choice_changes_the_answers(built, recorded, tmp_path):
    """Of the example that a link names: its window is made longer by a chooser."""
    script = """
      location.hash = "#within=0";
      addEventListener("hashchange", () => setTimeout(() => {
        const before = cells();
        change(document.querySelector('#play select[data-place="window"]'), 1);
        tell({ before, after: cells(), hash: location.hash });
      }));
    """
    said = told(built, tmp_path, CHOOSE + script)
    found = next(one for one in recorded["examples"] if one["key"] == "within")["answers"]
    for when, chosen in (("before", "0"), ("after", "1")):
        assert said[when] == [cell for row in found[chosen]["rows"] for cell in row]
    assert said["before"] != said["after"]
    assert said["hash"] == "#within=1"


@GROUP
@pytest.mark.parametrize("width", [1200, 390])
def test_light_and_dark_narrow_and_wide(built, tmp_path, width):
    """The picture has the colours of the theme, and nothing makes the page wider than its window."""
    script = """
      const colour = (what, name) => getComputedStyle(document.querySelector(what))[name];
      addEventListener("load", () => setTimeout(() => tell({
        bar: colour("#play svg .bar", "stroke"), link: colour("#play a", "color"),
        page: colour("#play svg .page", "fill"), over: document.documentElement.scrollWidth - innerWidth,
      }), 1000));
    """
    size = f"--window-size={width},900"
    light = told(built, tmp_path / "light", script, size)
    dark = told(built, tmp_path / "dark", script, size, "--blink-settings=preferredColorScheme=0")
    for said in (light, dark):
        assert said["bar"] == said["link"]
        assert said["over"] <= 0
    assert light["bar"] != dark["bar"]
    assert light["page"] != dark["page"]
