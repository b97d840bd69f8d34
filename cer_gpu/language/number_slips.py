"""Hints about numbers that are written as elsewhere: `0.5%`, and `1,005` with a comma."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from cer_gpu.language.slip import Slip


def _percent(slip: Slip) -> str | None:
    """`0.5%`: percent, where `%` is the remainder of a division."""
    if slip.before() != "PERCENT" or slip.before(2) != "NUMBER" or "NUMBER" not in slip.expected:
        return None
    number = Decimal(str(slip.tokens[slip.index - 2]))
    part = number / 100
    less = f", less `{_plain(1 - part)} * x.price`" if part < 1 else ""
    return (
        f"`%` is the remainder of a division: {number} percent is {_plain(part)}, {number} percent more "
        f"`{_plain(1 + part)} * x.price`{less}"
    )


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _comma_in_a_number(slip: Slip) -> str | None:
    """`1,005`: a decimal comma, or one between thousands."""
    after = slip.tokens[slip.index + 1 : slip.index + 2]
    if slip.kind != "COMMA" or slip.before() != "NUMBER" or not after or after[0].type != "NUMBER":
        return None
    first, last = slip.tokens[slip.index - 1], after[0]
    if first.end_pos != slip.span.start or last.start_pos != slip.span.end or "." in first + last:
        return None
    whole = f", and `{first}{last}` for thousands" if len(last) == 3 else ""
    return f"numbers have a decimal point and no commas: write `{first}.{last}`{whole}"


NUMBER_SLIPS: tuple[Callable[[Slip], str | None], ...] = (_percent, _comma_in_a_number)
