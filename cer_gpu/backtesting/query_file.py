"""Files of named queries: `.ceql`."""

from __future__ import annotations

import re

from cer_gpu.errors import DataError

_NAME = re.compile(r"--\s*name\s*:\s*(.*?)\s*")
_COMMENT = re.compile(r"\s*(--.*)?")

UNNAMED = "query"
"""What a query without a name is called."""


def named_queries(text: str, where: str) -> dict[str, str]:
    """The queries of a file, by their names.

    A line `-- name: spike` begins a query, which ends where the next one begins:

        -- name: spike
        SELECT * WHERE Trade AS t FILTER t[price > 1.05 * PREV(price)]   -- a comment
        PARTITION BY symbol

        -- name: dip
        SELECT * WHERE Trade AS t FILTER t[price < 0.95 * PREV(price)]
        PARTITION BY symbol

    A file without such a line is one query, which is called `query`.

    Parameters
    ----------
    text : str
        Of the file.
    where : str
        The file, as errors name it.

    Returns
    -------
    dict of str to str
        In the order of the file. Each text has as many lines before it as in the file, so that an error names
        the line of the file.

    Raises
    ------
    DataError
        When a name is given twice, is empty or has no query, or when there is text before the first name.
    """
    found: dict[str, tuple[int, list[str]]] = {}
    name = ""
    before: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines()):
        match = _NAME.fullmatch(line.strip())
        if match is None:
            if name:
                found[name][1].append(line)
            else:
                before.append((number, line))
            continue
        name = match[1]
        if not name:
            raise DataError(f"{where}, line {number + 1}: a query has no name: write `-- name: spike`")
        if name in found:
            first = found[name][0] + 1
            raise DataError(
                f"{where}, line {number + 1}: line {first} has a query `{name}` already: give each its own "
                "name"
            )
        found[name] = number, []
    if not found:
        return {UNNAMED: text}
    for number, line in before:
        if _COMMENT.fullmatch(line) is None:
            raise DataError(
                f"{where}, line {number + 1}: this text belongs to no query: begin with `-- name: spike`"
            )
    for name, (number, lines) in found.items():
        if all(_COMMENT.fullmatch(line) for line in lines):
            raise DataError(f"{where}, line {number + 1}: the name `{name}` has no query after it")
    return {name: "\n" * (number + 1) + "\n".join(lines) for name, (number, lines) in found.items()}
