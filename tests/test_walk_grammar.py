"""The walk over the constructs of the language: none is refused for not being built, but for those listed."""

from __future__ import annotations

import pytest
from walk_grammar import CLAUSES, CONDITIONS, INSIDE, WRAPPERS, constructs, listed, pairs, refused_for

from cer_gpu.errors import QueryError

SHARE = 4
"""The suite tries one pair in so many; `python tests/walk_grammar.py` tries all."""


@pytest.mark.parametrize(("name", "text"), list(constructs()), ids=[name for name, _ in constructs()])
def test_no_construct_is_refused_that_is_not_listed(name: str, text: str) -> None:
    assert (refused_for(text) is not None) <= (name in listed()), f"{text} is refused: {refused_for(text)}"


@pytest.mark.draws("block", SHARE)
def test_no_pair_is_refused_that_is_not_listed(block: int) -> None:
    known, wrong, formed = listed(), [], 0
    for one, other, text in list(pairs())[block :: SHARE * SHARE]:
        if one in known or other in known or f"{one} + {other}" in known:
            continue
        try:
            if refused_for(text) is not None:
                wrong.append(text)
            formed += 1
        except QueryError:
            pass  # the two do not go together
    assert not wrong
    assert formed > 20


def test_what_is_listed_exists() -> None:
    names = {name for name, _ in constructs()} | {"", *WRAPPERS, *CONDITIONS, *INSIDE, *CLAUSES}
    assert {part for line in listed() for part in line.split(" + ")} <= names
