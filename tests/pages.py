"""The pages of the documentation: what their examples print, written into them or compared with them.

`python tests/pages.py` writes into README.md and every page of `docs` what its examples give, `python
tests/pages.py docs/tutorial.md` into some pages alone; `tests/test_pages.py` asks that this changes nothing.
A page is run from its top to its end in a folder of its own:

- a block with a name, ```` ```csv title="trades.csv" ````, is a file;
- a block `python`, or `sh` of commands that begin with `cer`, prints what the block `text` after it holds;
- a block `sql` is a query. What stands between `<!-- answers -->` and `<!-- end -->` after it are its answers
  over the file above, as a table and as a picture; between `<!-- check -->` and `<!-- end -->`, what
  `cer check` says of it. A statement with MATCH_RECOGNIZE names a file by its stem, and has no picture;
- a block `console` holds commands that no test can run (`pip install`); a block `sql title="DuckDB"` is run
  by DuckDB, and blocks of other languages are read alone.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"

BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"\n]*)\")?\n(?P<code>.*?)^```$"
    r"|^<!-- (?P<asked>answers|check) *(?P<how>[^\n]*?)-->\n(?P<given>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)

ROW_PATTERN = re.compile(r"\bMATCH_RECOGNIZE\s*\(")


class Rewritten(NamedTuple):
    """A page with what its examples give, and the pictures that it shows: name to SVG."""

    text: str
    pictures: dict[str, str]


def pages() -> list[Path]:
    """The pages whose examples are run here; the cookbook has a test of its own."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.name != "COOKBOOK.md")]


def rewritten(page: Path) -> Rewritten:
    """A page with the output of its examples, which are run in a folder that is made for it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run = _Run(page)
            parts = list(run.parts(page.read_text(encoding="utf-8")))
        finally:
            os.chdir(before)
    return Rewritten("".join(parts), run.pictures)


class _Run:
    # The examples of one page, one after another.

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": page.stem}
        self.pictures: dict[str, str] = {}
        self.query = ""
        self.events: str | None = None
        self.printed: str | None = None

    def parts(self, text: str):
        done = 0
        for block in BLOCK.finditer(text):
            yield text[done : block.start()]
            done = block.end()
            if block["asked"]:
                yield f"<!-- {block['asked']} {block['how']}-->\n{self._asked(block)}<!-- end -->"
                continue
            code = block["code"]
            if block["language"] == "text" and self.printed is not None:
                code, self.printed = self.printed, None
            else:
                assert not self.printed, f"{self.page.name} does not show what is printed: {self.printed}"
                self._block(block["language"], block["title"], code)
            title = f' title="{block["title"]}"' if block["title"] else ""
            yield f"```{block['language']}{title}\n{code}```"
        assert not self.printed, f"{self.page.name} does not show what is printed: {self.printed}"
        yield text[done:]

    def _block(self, language: str, title: str | None, code: str) -> None:
        self.printed = None
        if title and re.fullmatch(r"[\w.-]+\.\w+", title):
            Path(title).write_text(code, encoding="utf-8")
            if language in ("csv", "json"):
                self.events = title
        if language == "python" and not title:
            self.printed = _printed(lambda: exec(compile(code, str(self.page), "exec"), self.names))
        elif language == "sh":
            self.printed = _printed(lambda: _commands(code))
        elif language == "sql" and title == "DuckDB":
            self.printed = _printed(lambda: _duckdb(code))
        elif language == "sql" and (title is None or title.endswith(".ceql")):
            self.query = code

    def _asked(self, block: re.Match[str]) -> str:
        import cer_gpu as cer

        query, how = self.query.strip(), dict(one.split("=") for one in block["how"].split())
        if block["asked"] == "check":
            findings = _findings(query, self.events, how)
            return f"\n```text\n{findings}\n```\n\n"
        assert self.events is not None, "answers are asked for before there is a file of events"
        if ROW_PATTERN.search(query):
            return f"\n{_rows(query, how)}\n"
        events, order_by = read(self.events, how)
        compiled = cer.compile(query)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = _table(compiled.run(events, order_by=order_by))
            stem = self.page.relative_to(ROOT).with_suffix("").as_posix().replace("/", "-").lower()
            name = f"{stem.removeprefix('docs-')}-{len(self.pictures) + 1}.svg"
            if how.get("picture") != "no":
                self.pictures[name] = cer.timeline(compiled, events, order_by)
        shown = os.path.relpath(PICTURES / name, self.page.parent)
        said = re.search(r"<title>(.*?)</title>", self.pictures.get(name, "<title></title>"))[1]
        return f"\n{table}" + (f"\n![A timeline: {said}]({shown})\n\n" if name in self.pictures else "\n")


def read(name: str, how: dict[str, str]):
    """The events of a file, and the column that orders them: `ts` unless `how` names another."""
    import pyarrow.csv
    import pyarrow.json

    reader = pyarrow.json.read_json if name.endswith(("json", "jsonl")) else pyarrow.csv.read_csv
    if "zone" in how:
        import pyarrow as pa

        options = pyarrow.csv.ConvertOptions(column_types={"ts": pa.timestamp("s", how["zone"])})
        return pyarrow.csv.read_csv(name, convert_options=options), "ts"
    if name.endswith(".csv"):
        options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
        events = reader(name, convert_options=options)
    else:
        events = reader(name)
    return events, how.get("order", "ts" if "ts" in events.column_names else None)


def answers(matches: Any) -> tuple[list[str], list[list[str]]]:
    """The answers as names of columns and rows of text: the lists of positions are written 0, 2."""
    rows, names = [], ["start", "end"]
    for found in matches:
        row: dict[str, Any] = {"start": found.start, "end": found.end}
        given = {name: at for name, at in found.marks.items() if name[:1].islower()} or dict(found.marks)
        for name, at in given.items():
            row[name] = ", ".join(map(str, at))
        if found.positions is not None:
            row["positions"] = ", ".join(map(str, found.positions))
        row |= dict(zip(matches.to_arrow().column_names[2:], found.partition or ()))
        row |= {**(found.values or {}), **found.measures}
        names += [name for name in row if name not in names]
        rows.append(row)
    return names, [[_cell(row.get(name)) for name in names] for row in rows]


def _table(matches: Any) -> str:
    """The answers as a table of Markdown."""
    names, rows = answers(matches)
    if not rows:
        return "No match.\n"
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(sql: str, how: dict[str, str]) -> str:
    """The rows of a statement with MATCH_RECOGNIZE as a table of Markdown."""
    import cer_gpu as cer

    tables = {path.stem: read(path.name, {})[0] for path in Path().glob("*.csv")}
    rows = cer.match_recognize(sql, dialect=how.get("dialect"), **tables).to_arrow()
    names = rows.column_names
    lines = [names, ["---"] * len(names), *([_cell(row[name]) for name in names] for row in rows.to_pylist())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _findings(query: str, events: str | None, how: dict[str, str]) -> str:
    """What `cer check` says of a query; with `order=no` without a column of time."""
    import cer_gpu as cer
    from cer_gpu.errors import QueryError

    try:
        compiled = cer.compile(query)
        findings = compiled.check()
        if events is not None:
            table, order_by = read(events, how)
            findings = compiled.check(table, order_by=None if order_by == "no" else order_by)
    except QueryError as error:
        return str(error).strip()
    return str(QueryError(findings, query)).strip() if findings else "nothing to say"


def _commands(code: str) -> None:
    from cer_gpu.cli import status_of

    for line in code.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line)
        assert program == "cer", f"a block `sh` runs cer alone: {line}"
        status_of(arguments)


def _duckdb(code: str) -> None:
    import duckdb

    for statement in filter(str.strip, code.split(";")):
        found = duckdb.sql(statement)
        for row in found.fetchall() if found is not None else ():
            print(*row)


def _printed(run: Any) -> str:
    """What is printed while something runs, on standard output and, after it, on standard error."""
    kept = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with (
        contextlib.redirect_stdout(kept[0]),
        contextlib.redirect_stderr(kept[1]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        run()
    return "".join(one.buffer.getvalue().decode() for one in kept)


def write(page: Path) -> None:
    """Write into a page, and into the folder of pictures, what its examples give."""
    found = rewritten(page)
    page.write_text(found.text, encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, picture in found.pictures.items():
        (PICTURES / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for one in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        write(one)
