"""The built site, opened from a disk without a network: links lead to files, and the search finds."""

import inspect
import json
import pkgutil
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from built_site import GROUP, told

import cer_gpu
from cer_gpu import spark

pytestmark = GROUP

# Places outside the site that a page may link to; it loads nothing from them.
ELSEWHERE = {"cer-gpu.example", "zensical.org", "optuna.org"}


class _Links(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        loaded = given.get("src") if tag in ("script", "img", "iframe") else None
        if tag == "link" and given.get("rel") in ("stylesheet", "icon"):
            loaded = given.get("href")
        if loaded and not loaded.startswith("data:"):
            self.loads.append(loaded)


def _read(page):
    found = _Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def _leads(page, link, anchors):
    """Whether a link of a page leads to a file, and to a part that is there."""
    parts = urlsplit(link)
    if parts.scheme:
        return parts.hostname in ELSEWHERE
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return target.is_file() and (not parts.fragment or unquote(parts.fragment) in anchors(target))


def test_links_lead_to_files(site):
    pages = {path: _read(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 60

    def anchors(path):
        return pages[path].anchors if path in pages else set()

    lost = [
        (path.name, link)
        for path, page in pages.items()
        for link in page.links
        if not _leads(path, link, anchors)
    ]
    assert lost == []


def test_pages_load_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        if path.name == "404.html":  # of a server, which knows where the site stands
            continue
        for loaded in _read(path).loads:
            assert not urlsplit(loaded).scheme, (path.name, loaded)
            assert (path.parent / unquote(urlsplit(loaded).path)).is_file(), (path.name, loaded)


def test_the_api_has_every_public_name(site):
    page = (site / "api.html").read_text(encoding="utf-8")
    headings = set(re.findall(r'<h[23] id="([\w.]+)"', page))
    assert {f"cer_gpu.{name}" for name in cer_gpu.__all__} <= headings
    assert set(spark.__all__) <= {
        name.rpartition(".")[2] for name in headings if name.startswith("spark_plugin.")
    }


def _required(page):
    """Each name of the API whose table of parameters calls some of them required, with these."""
    for part in re.split(r'(?=<h[2-4] id=")', page):
        heading = re.match(r'<h[2-4] id="([\w.]+)"', part)
        rows = re.findall(r'<tr class="doc-section-item">(.*?)</tr>', part, re.DOTALL)
        told = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
        required = {row.split()[0] for row in told if row.endswith("required")}
        if heading is not None and required:
            yield heading[1], required


def test_the_api_calls_no_parameter_required_that_has_a_default(site):
    """Those that stand for `**keywords` have their default from the docstring alone: `default None`."""
    needed = {"spark_plugin.operators.run": {"order_by"}, "spark_plugin.streams.stream": {"order_by"}}
    seen = 0
    for name, required in _required((site / "api.html").read_text(encoding="utf-8")):
        found = pkgutil.resolve_name(re.sub("^spark_plugin", "cer_gpu.spark", name))
        if inspect.isroutine(found):
            given = inspect.signature(found).parameters.values()
            without = {one.name for one in given if one.default is one.empty}
            assert required <= without | needed.get(name, set()), name
            seen += 1
    assert seen > 20


def test_the_api_shows_examples_as_code(site):
    """A line of a session that stands in the text of a docstring would be a quotation of a quotation."""
    page = (site / "api.html").read_text(encoding="utf-8")
    assert page.count('<span class="gp">&gt;&gt;&gt; </span>') >= 10
    assert "<blockquote>" not in page


SEARCH = """
  addEventListener("load", async () => {
    const pause = () => new Promise((go) => setTimeout(go, 500));
    const until = async (what) => { for (let n = 0; n < 20 && !what(); n++) await pause(); return what(); };
    const root = [...document.querySelectorAll("body > div")].map((one) => one.shadowRoot).find((one) => one);
    document.querySelector(".md-search__button").click();
    const input = await until(() => root.querySelector("input"));
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, WORDS);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => root.querySelector("a"));
    tell({ found: [...root.querySelectorAll("a")].map((one) => one.href), wrong });
  });
"""


@pytest.mark.parametrize(
    ("start", "words", "page"),
    [
        ("index.html", "sessions", "COOKBOOK.html"),
        ("language/sequence.html", "silent sensor", "COOKBOOK.html"),
        ("errors.html", "brute force", "COOKBOOK.html"),
        ("know/pandas.html", "tumbling window", "words.html"),
    ],
)
def test_the_search_finds(site, tmp_path, start, words, page):
    said = told(site / start, tmp_path, SEARCH.replace("WORDS", json.dumps(words)))
    assert said["wrong"] == []
    assert any(re.search(f"site/{page}", link) for link in said["found"][:3]), said["found"]


@pytest.mark.parametrize(
    "page", ["index.html", "language/comparisons.html", "errors.html", "api.html", "words.html"]
)
def test_no_page_is_wider_than_a_telephone(site, tmp_path, page):
    script = """
      addEventListener("load", () => setTimeout(() => tell({
        over: document.documentElement.scrollWidth - innerWidth, width: innerWidth,
      }), 1000));
    """
    said = told(site / page, tmp_path, script, "--window-size=390,900")
    assert said["over"] <= 0
