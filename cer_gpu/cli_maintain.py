"""`cer maintain`: inserts and deletes rows of relations, and prints the answers of a rule over them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cer_gpu.cli_outputs import Output, OutputFormat, result_format

if TYPE_CHECKING:
    from cer_gpu.views import JoinView

RuleText = Annotated[
    str, typer.Argument(metavar="RULE", help="The rule, or @FILE, or @- for standard input.")
]
Inserted = Annotated[
    list[str] | None,
    typer.Option(
        "--insert",
        metavar="RELATION=FILE",
        help="Insert the rows of a file (Parquet, Arrow IPC, CSV, JSON lines) into a relation; repeat it.",
    ),
]
Deleted = Annotated[
    list[str] | None,
    typer.Option(
        "--delete",
        metavar="RELATION=FILE",
        help="Delete the rows of a file from a relation, one row for each; repeat it.",
    ),
]
Kept = Annotated[
    str | None,
    typer.Option(
        "--snapshot",
        metavar="FILE",
        help="Begin with the rows in this file, if it exists, and write all rows to it at the end.",
    ),
]
Delta = Annotated[
    bool,
    typer.Option("--delta", help="Print only the rows that were added (multiplicity > 0) or removed (< 0)."),
]
Counted = Annotated[bool, typer.Option("--count", help="Print only the number of rows.")]
Explained = Annotated[
    bool, typer.Option("--explain", help="Print how the result is kept, instead of its rows.")
]


def maintain(
    rule: RuleText,
    insert: Inserted = None,
    delete: Deleted = None,
    snapshot: Kept = None,
    delta: Delta = False,
    count: Counted = False,
    explain: Explained = False,
    form: OutputFormat = None,
    output: Output = None,
) -> int:
    """Insert and delete rows of relations, and print the result of a rule."""
    from cer_gpu.cli_inputs import query_text
    from cer_gpu.output import output_file, write_rows

    if delta + count + explain > 1:
        raise typer.BadParameter("--delta, --count and --explain cannot be combined: pass one of them")
    chosen = result_format(form, output)
    view = _begun(query_text(rule), snapshot)
    given = _named("--insert", insert), _named("--delete", delete)
    if any(given):
        view.update(inserts=given[0], deletes=given[1])
    if explain:
        print(view.explain())
    elif count:
        print(view.count())
    else:
        rows = (view.delta() if delta else view.enumerate()).batches()
        with output_file(output) as sink:
            write_rows(rows, chosen, sink)
    if snapshot is not None:
        view.snapshot(snapshot)
    return 0


def _begun(rule: str, snapshot: str | None) -> JoinView:
    from cer_gpu.errors import DataError
    from cer_gpu.views import JoinView

    if snapshot is None or not os.path.exists(snapshot):
        return JoinView(rule)
    view = JoinView.restore(snapshot)
    if view.rule != rule:
        raise DataError(f"{snapshot} was written for another rule: {view.rule}")
    return view


def _named(option: str, given: Sequence[str] | None) -> dict[str, list[str]]:
    """The files of each relation."""
    found: dict[str, list[str]] = {}
    for one in given or ():
        name, there, path = one.partition("=")
        if not there or not name or not path:
            raise typer.BadParameter(f"{option} takes RELATION=FILE, such as R=r.parquet, not `{one}`")
        found.setdefault(name, []).append(path)
    return found
