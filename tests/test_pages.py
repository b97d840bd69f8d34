"""The pages of the documentation: every example gives what stands under it, every picture is its own."""

import re
import tomllib

import pages
import pytest

from cer_gpu.diagnostics import CODES

PAGES = pages.pages()


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(pages.ROOT)) for page in PAGES])
def test_examples_give_what_the_page_says(page):
    for name in re.findall(r"^from (chdb)\b", page.read_text(encoding="utf-8"), re.MULTILINE):
        pytest.importorskip(name, reason=f"{name} is in the extra `test`")
    found = pages.rewritten(page)
    assert found.text == page.read_text(encoding="utf-8"), f"run `python tests/pages.py {page}` and look"
    for name, picture in found.pictures.items():
        assert (pages.PICTURES / name).read_text(encoding="utf-8") == picture


def links(page):
    """The files that a page links to or shows, and the parts of pages."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(pages.ROOT)) for page in PAGES])
def test_links_lead_somewhere(page):
    for link in links(page):
        file, _, part = link.partition("#")
        target = (page.parent / file) if file else page
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in {anchor(heading) for heading in headings}, link


def anchor(heading):
    """The name of a heading in a link."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip()
    return re.sub(r"[\s]+", "-", plain)


def test_every_picture_is_shown():
    shown = {link.rpartition("/")[2] for page in PAGES for link in links(page) if link.endswith(".svg")}
    assert {path.name for path in pages.PICTURES.glob("*.svg")} == shown


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name == "language" and page.name != "index.md"],
    ids=lambda page: page.name,
)
def test_a_page_of_the_language_has_a_stream_its_answers_and_a_picture(page):
    text = page.read_text(encoding="utf-8")
    stream = re.search(r"^```csv title=[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert stream is not None
    assert len(stream[1].splitlines()) == 6  # the header, and five events
    assert "<!-- answers -->" in text
    assert f"pictures/language-{page.stem}-1.svg" in text


def test_every_page_is_in_the_navigation():
    text = (pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE))
    assert named == {path.relative_to(pages.DOCS).as_posix() for path in pages.DOCS.rglob("*.md")}


def test_the_readme_is_short():
    lines = (pages.ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) < 1000


def test_a_release_has_sixty_lines_of_changes_at_most():
    text = (pages.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for release in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in release.splitlines()[1:] if line]
        assert len(lines) <= 60
        assert max(map(len, lines)) <= 240


def test_the_navigation_has_five_groups_of_nine_entries_at_most():
    text = (pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    indents = [len(line) - len(line.lstrip()) for line in text.partition("\nnav:")[2].splitlines()[1:]]
    assert indents.count(2) == 5
    open_groups: dict[int, int] = {}
    for indent in indents:
        open_groups = {level: count for level, count in open_groups.items() if level <= indent}
        open_groups[indent] = open_groups.get(indent, 0) + 1
        assert open_groups[indent] <= 9


def test_the_documentation_is_of_this_version():
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]
    assert "docs" in project["optional-dependencies"]


def test_every_code_of_an_error_has_its_section():
    """Every code that the package uses is in the table, and every one of the table on the page."""
    used = {
        code
        for path in (pages.ROOT / "cer_gpu").rglob("*.py")
        for code in re.findall(r"\bCER\d{3}\b", path.read_text(encoding="utf-8"))
    }
    assert used == CODES.keys()
    page = (pages.DOCS / "errors.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (CER\d{3}): (.*)$", page, re.MULTILINE))
    assert sections == dict(CODES)
    for code, shown in re.findall(r"^## (CER\d{3}):(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL):
        assert "```sql" not in shown or f"[{code}]" in shown, code


def test_a_release_has_one_version():
    version = tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (pages.ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (pages.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", changes, re.MULTILINE)[0] == version
    clusters = (pages.DOCS / "howto" / "spark-clusters.md").read_text(encoding="utf-8")
    assert f"cer-gpu-spark-{version}.jar" in clusters
