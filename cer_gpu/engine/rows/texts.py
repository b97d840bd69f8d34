"""Functions of texts. Patterns and places are mostly constants; where they are not, rows with equal ones are
computed together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.calls import ScalarCall, ScalarStep
from cer_gpu.engine.rows.casts import caster
from cer_gpu.engine.rows.value_types import BOOL, INT, TEXT, Values, converted, described, kind_of
from cer_gpu.lazy_modules import compute as pc


def _texts(call: ScalarCall) -> pa.DataType:
    """Check that all operands are texts; the type of a text that is made of them."""
    for operand in call.operands:
        if kind_of(operand.type) not in ("text", "null"):
            code = "CER033" if call.node.name in ("like", "ilike", "regexp") else "CER029"
            message = f"`{call.name}` takes texts, and this is {described(operand.type)}"
            raise call.refusal(code, message, "CAST it: `CAST(x AS VARCHAR)`", at=operand)
    return pa.large_string() if pa.large_string() in call.types else TEXT


# Patterns


def pattern(call: ScalarCall) -> ScalarStep:
    """`LIKE`, `ILIKE` and `REGEXP`."""
    _texts(call)
    name, escape = call.node.name, call.node.detail

    def matcher(text: str) -> Callable[[Values], Values]:
        if name == "regexp":
            return lambda values: pc.match_substring_regex(values, pattern=text)
        return _like(text, escape, name == "ilike")

    given = call.operands[1]
    if given.constant is not None and given.constant.is_valid:
        try:
            match = matcher(given.constant.as_py())
            match(pa.array([""], TEXT))
        except ValueError as error:  # of Arrow, too
            code, hint = "CER033", "the character of ESCAPE must be followed by `%`, `_` or itself"
            if name == "regexp":
                code, hint = "CER034", "write a `\\` before each special character that is meant as itself"
            said = str(error).removeprefix("Invalid regular expression: ")
            raise call.refusal(code, f"not a pattern of `{call.name}`: {said}", hint, at=given) from None
    return call.step(BOOL, lambda values, given: _grouped(_matching(matcher), BOOL, values, given))


def _matching(matcher: Callable[[str], Callable[[Values], Values]]) -> Callable[..., Values]:
    """A function of texts and a pattern."""
    return lambda values, text: matcher(text)(values)


def _like(text: str, escape: str | None, any_case: bool) -> Callable[[Values], Values]:
    """The test of LIKE: by a prefix, a suffix or a part where that is all that the pattern says."""
    parts = _like_parts(text, escape)
    words = [part for part in parts if part not in (ANY, ONE)]
    shape = "".join("%" if part is ANY else "_" if part is ONE else "x" for part in parts)
    if not any_case:
        if shape in ("", "x"):
            whole = pa.scalar("".join(words))
            return lambda values: pc.equal(values, converted(whole, values.type))
        tests = {"x%": pc.starts_with, "%x": pc.ends_with, "%x%": pc.match_substring}
        if shape in tests:
            return lambda values: tests[shape](values, pattern=words[0])
    marks = {ANY: ".*", ONE: "."}
    regex = "".join(marks[part] if part in marks else re.escape(part) for part in parts)
    flags = "(?is)" if any_case else "(?s)"
    return lambda values: pc.match_substring_regex(values, pattern=rf"{flags}\A(?:{regex})\z")


ANY, ONE = "\0%", "\0_"


def _like_parts(text: str, escape: str | None) -> list[str]:
    """A pattern of LIKE as words, `ANY` and `ONE`.

    Raises
    ------
    ValueError
        The escape character stands before something that it does not escape.
    """
    parts: list[str] = []
    characters = iter(text)
    plain = False
    for character in characters:
        if escape is not None and character == escape:
            character = next(characters, "")
            if character not in ("%", "_", escape):
                raise ValueError(f"`{escape}{character}` has no meaning")
        elif character in "%_":
            mark = ANY if character == "%" else ONE
            if not (mark is ANY and parts and parts[-1] is ANY):
                parts.append(mark)
            plain = False
            continue
        if plain:
            parts[-1] += character
        else:
            parts.append(character)
        plain = True
    return parts


def found(call: ScalarCall) -> ScalarStep:
    """`STARTS_WITH`, `ENDS_WITH` and `CONTAINS`."""
    _texts(call)
    functions = {"starts_with": pc.starts_with, "ends_with": pc.ends_with, "contains": pc.match_substring}
    function = functions[call.node.name]
    return call.step(
        BOOL,
        lambda values, part: _grouped(lambda texts, one: function(texts, pattern=one), BOOL, values, part),
    )


def position(call: ScalarCall) -> ScalarStep:
    """`POSITION(part IN text)`: counted in characters from 1."""
    _texts(call)
    return call.step(INT, lambda part, values: _grouped(_position, INT, values, part))


def _position(values: Values, part: str) -> Values:
    if part == "":
        return pc.if_else(pc.is_valid(values), pa.scalar(1, INT), pa.scalar(None, INT))
    at = pc.find_substring(values, pattern=part)
    if pc.all(pc.string_is_ascii(values)).as_py() is False:
        # Arrow counts bytes: what stands before the part is measured in characters.
        before = pc.utf8_length(pc.list_element(pc.split_pattern(values, pattern=part, max_splits=1), 0))
        at = pc.if_else(pc.less(at, 0), -1, before)
    return pc.add(pc.cast(at, INT), pa.scalar(1, INT))


# Texts from texts


def simple(call: ScalarCall) -> ScalarStep:
    """`UPPER`, `LOWER`, `TRIM`, `LTRIM`, `RTRIM` and `LENGTH`."""
    type_ = _texts(call)
    match call.node.name:
        case "upper" | "lower" as name:
            return call.step(type_, getattr(pc, f"utf8_{name}"))
        case "length":
            return call.step(INT, lambda values: pc.cast(pc.utf8_length(values), INT))
        case name:
            function = getattr(pc, f"utf8_{name}")
            return call.step(type_, lambda values: function(values, characters=" "))


def joined(call: ScalarCall) -> ScalarStep:
    """`||`: numbers, times and booleans become texts as CAST makes them."""
    kinds = {kind_of(type_) for type_ in call.types}
    if not kinds <= {"text", "null", "int", "float", "decimal", "bool", "date", "timestamp", "time"}:
        raise call.type_refusal("CER029", "it joins texts; CAST the others: `CAST(x AS VARCHAR)`")
    if "text" not in kinds:
        raise call.type_refusal("CER029", "at least one side must be a text; write a sum with `+`")
    type_ = pa.large_string() if pa.large_string() in call.types else TEXT

    forms = [caster(one, type_) for one in call.types]

    def compute(*values: Values) -> Values:
        texts = [form(one) for form, one in zip(forms, values)]
        return pc.binary_join_element_wise(*texts, pa.scalar("", type_), null_handling="emit_null")

    return call.step(type_, compute)


def replaced(call: ScalarCall) -> ScalarStep:
    """`REPLACE`: an empty text is not looked for."""
    type_ = _texts(call)

    def compute(values: Values, what: str, other: str) -> Values:
        # Arrow would look for an empty text without end.
        return pc.replace_substring(values, pattern=what, replacement=other) if what else values

    return call.step(type_, lambda values, *given: _grouped(compute, type_, values, *given))


def substring(call: ScalarCall) -> ScalarStep:
    """`SUBSTRING(text, start, length)`: a start below zero counts from the end, 0 is as 1."""
    text, *numbers = call.operands
    if kind_of(text.type) not in ("text", "null"):
        message = f"`SUBSTRING` takes a text, and this is {described(text.type)}"
        raise call.refusal("CER029", message, "CAST it: `CAST(x AS VARCHAR)`", at=text)
    for number in numbers:
        if kind_of(number.type) not in ("int", "null"):
            message = f"`SUBSTRING` starts at a whole number, and this is {described(number.type)}"
            raise call.refusal("CER029", message, "as in `SUBSTRING(x, 2, 3)`", at=number)
    if kind_of(text.type) == "null":
        return call.null(TEXT)
    type_ = text.type

    def compute(values: Values, start: int, length: int | None = None) -> Values:
        begin = max(start - 1, 0) if start >= 0 else start
        if length is None:
            return pc.utf8_slice_codeunits(values, start=begin)
        end: int | None = begin + max(length, 0)
        if length <= 0:
            end = begin
        elif start < 0 and end is not None and end >= 0:
            end = None
        return pc.utf8_slice_codeunits(values, start=begin, stop=end)

    return call.step(type_, lambda values, *given: _grouped(compute, type_, values, *given))


# Operands that differ from row to row


def _grouped(function: Callable[..., Values], type_: pa.DataType, values: Values, *given: Values) -> Values:
    """A function of texts and of Python values: called once for each combination of the latter.

    Parameters
    ----------
    function : callable
    type_ : pyarrow.DataType
        Of the result.
    values : pyarrow.Array or pyarrow.Scalar
    *given : pyarrow.Array or pyarrow.Scalar
        What is no text to be computed on at once.
    """
    if all(isinstance(one, pa.Scalar) for one in given):
        if all(one.is_valid for one in given):
            return function(values, *(one.as_py() for one in given))
        return pa.scalar(None, type_)
    length = next(len(one) for one in given if isinstance(one, pa.Array))
    columns = [pa.repeat(one, length) if isinstance(one, pa.Scalar) else one for one in (values, *given)]
    known = columns[1].is_valid()
    for one in columns[2:]:
        known = pc.and_(known, one.is_valid())
    codes = np.zeros(length, np.int64)
    kept: list[pa.Array] = []
    for one in columns[1:]:
        encoded = one.dictionary_encode()
        kept.append(encoded.dictionary)
        # Numbered anew each time, so that the numbers stay below the number of rows.
        place = np.asarray(pc.fill_null(encoded.indices, 0)).astype(np.int64)
        codes = np.unique(codes * max(len(encoded.dictionary), 1) + place, return_inverse=True)[1]
    rows = np.flatnonzero(np.asarray(known))
    order = rows[np.argsort(codes[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    pieces = []
    for group in np.split(order, cuts) if len(order) else []:
        own: list[Any] = [one[int(group[0])].as_py() for one in columns[1:]]
        pieces.append(function(columns[0].take(pa.array(group)), *own))
    back = np.full(length, -1, np.int64)
    back[order] = np.arange(len(order))
    places = pa.array(back, mask=back < 0)
    return pa.concat_arrays([pa.array([], type_), *(pc.cast(piece, type_) for piece in pieces)]).take(places)
