"""Scalar expressions over Arrow arrays: by hand, and against the same row by row in Python."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
from random_scalars import KINDS, ScalarDraft

from cer_gpu.engine.rows.expressions import evaluate, type_of
from cer_gpu.errors import DataError, QueryError, Span
from cer_gpu.patterns.tree import OPERATIONS, Field, Operation, ScalarConstant
from cer_gpu.reference.row_expressions import value_of

COLUMNS = {
    "int": [0, 1, 2, 3, -4, None],
    "float": [0.0, 0.5, -1.5, 2.0, 2.5, None],
    "decimal": [Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("3.00"), None],
    "text": ["", "a", "ab", "b a", " é", "x%y", None],
    "timestamp": [
        datetime(2024, 1, 31, 12, 30, 1, 250_000),
        datetime(2023, 12, 31, 23, 59, 59),
        datetime(2024, 2, 29),
        datetime(1969, 12, 31, 1),
        None,
    ],
    "date": [date(2024, 1, 31), date(2024, 2, 29), date(2023, 12, 31), None],
    "duration": [timedelta(0), timedelta(hours=25, seconds=1), timedelta(seconds=-90), None],
    "bool": [True, False, None],
}
TYPES = {
    "int": (pa.int64(), pa.int16(), pa.uint32()),
    "float": (pa.float64(), pa.float32()),
    "decimal": (pa.decimal128(6, 2), pa.decimal128(30, 2)),
    "text": (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())),
    "timestamp": (pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")),
    "date": (pa.date32(), pa.date64()),
    "duration": (pa.duration("s"), pa.duration("us")),
    "bool": (pa.bool_(),),
}


def of(name, *operands, detail=None):
    """An operation; a text that begins with a colon names a column."""
    return Operation(name, tuple(map(_operand, operands)), detail)


def _operand(value):
    if isinstance(value, Operation):
        return value
    return Field(value[1:]) if isinstance(value, str) and value.startswith(":") else ScalarConstant(value)


def computed(expression, **columns):
    """The values of an expression over columns, whose type is checked."""
    arrays = {
        name: values if isinstance(values, pa.Array) else pa.array(values) for name, values in columns.items()
    }
    length = len(next(iter(arrays.values())))
    kind = type_of(expression, lambda node: arrays[node.name].type)
    found = evaluate(expression, lambda node: arrays[node.name], length)
    found.validate(full=True)
    assert (found.type, len(found)) == (kind, length)
    return found.to_pylist()


def refused(expression, text="", **columns):
    arrays = {name: pa.array(values) for name, values in columns.items()}
    with pytest.raises(QueryError) as caught:
        type_of(expression, lambda node: arrays[node.name].type, text)
    return str(caught.value)


def test_logic_has_three_values():
    both = [True, True, True, False, False, False, None, None, None]
    other = [True, False, None] * 3
    table = {
        "and": [True, False, None, False, False, False, None, False, None],
        "or": [True, True, True, True, False, None, True, None, None],
        "distinct from": [False, True, True, True, False, True, True, True, False],
        "=": [True, False, None, False, True, None, None, None, None],
    }
    for name, answer in table.items():
        assert computed(of(name, ":a", ":b"), a=both, b=other) == answer
    assert computed(of("not", ":a"), a=[True, False, None]) == [False, True, None]
    assert computed(of("is true", ":a"), a=[True, False, None]) == [True, False, False]
    assert computed(of("in", ":a", 1, None), a=[1, 2, None]) == [True, None, None]


def test_numbers_are_compared_exactly():
    far = 2**53
    assert computed(of("<", ":i", Decimal("2.5")), i=[2, 3, None]) == [True, False, None]
    assert computed(of("=", ":i", Decimal("2.5")), i=[2, 3, None]) == [False, False, None]
    assert computed(of("<>", ":i", 10**30), i=[2, None]) == [True, None]
    assert computed(of("<", ":i", 10**30), i=[2, None]) == [True, None]
    assert computed(of("=", ":i", ":f"), i=[far, far + 1, 1], f=[2.0**53, 2.0**53, math.nan]) == [
        True,
        False,
        False,
    ]
    assert computed(of(">", ":i", ":f"), i=[far, far + 1, 1], f=[2.0**53, 2.0**53, math.inf]) == [
        False,
        True,
        False,
    ]
    assert computed(of("<", ":f", ":i"), i=[far + 1, 1, None], f=[2.0**53, -math.inf, 0.0]) == [
        True,
        True,
        None,
    ]
    assert computed(of("=", ":f", Decimal("0.1")), f=[0.1, 0.5]) == [True, False]
    hundredths = pa.array([Decimal("1.25"), Decimal("1.26")])
    assert computed(of("<", ":d", Decimal("1.255")), d=hundredths) == [True, False]
    assert computed(of("=", ":d", ":i"), d=hundredths, i=[1, 2]) == [False, False]


def test_no_number_is_equal_to_nothing():
    values = [math.nan, 1.0]
    assert computed(of("=", ":f", ":f"), f=values) == [False, True]
    assert computed(of("<", ":f", 2), f=values) == [False, True]
    assert computed(of("<>", ":f", 1), f=values) == [True, False]
    assert math.isnan(computed(of("greatest", ":f", 0.0), f=values)[0])


def test_texts_are_read_as_times():
    moments = pa.array([datetime(2024, 1, 31, 12), datetime(2024, 2, 1)], pa.timestamp("ns"))
    assert computed(of("<", ":t", "2024-02-01"), t=moments) == [True, False]
    assert computed(of(">", ":t", "3000-01-01"), t=moments) == [False, False]  # no ns can say it
    assert computed(of("=", ":d", "2024-01-31 12:00"), d=[date(2024, 1, 31)]) == [False]
    assert computed(of("<", ":d", "2024-01-31 12:00"), d=[date(2024, 1, 31)]) == [True]
    assert computed(of("in", ":d", "2024-01-31"), d=[date(2024, 1, 31), None]) == [True, None]
    zoned = pa.array([datetime(2024, 3, 10, 6, 30)], pa.timestamp("s", "America/New_York"))
    for text in ("2024-03-10 01:30", "2024-03-10 06:30+00:00"):
        assert computed(of("=", ":t", text), t=zoned) == [True]
    assert computed(of("=", ":t", datetime(2024, 3, 10, 1, 30)), t=zoned) == [True]
    assert "'soon' is not a timestamp" in refused(of("<", ":t", "soon"), t=[datetime(2024, 1, 1)])


def test_arithmetic():
    assert computed(of("/", ":i", 2), i=[3, None]) == [1.5, None]
    assert computed(of("//", ":i", 2), i=[3, -3]) == [1, -1]
    assert computed(of("//", ":f", 2), f=[3.0]) == [1.5]
    assert computed(of("%", ":i", 3), i=[7, -7]) == [1, -1]
    assert computed(of("*", ":i", Decimal("1.05")), i=[3]) == [Decimal("3.15")]
    assert computed(of("/", ":f", 0), f=[1.0, -1.0]) == [math.inf, -math.inf]
    assert computed(of("-", ":t", ":t"), t=[datetime(2024, 1, 1)]) == [timedelta(0)]
    assert computed(of("+", ":d", 1), d=[date(2024, 2, 28)]) == [date(2024, 2, 29)]
    assert computed(of("+", ":d", timedelta(hours=1)), d=[date(2024, 2, 28)]) == [datetime(2024, 2, 28, 1)]
    assert computed(of("sqrt", ":f"), f=[4.0, None]) == [2.0, None]


def test_a_quotient_by_zero_is_null():
    for name in ("/", "//", "%", "mod"):
        assert computed(of(name, 1, ":i"), i=[0, 1])[0] is None
        assert computed(of(name, Decimal("1.5"), ":i"), i=[0, 1])[0] is None
    assert computed(of("/", 1.0, ":i"), i=[0]) == [math.inf]
    assert computed(of("/", timedelta(1), ":i"), i=[0]) == [None]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (of("*", of("+", ":i", 2**62), 4), "`*`: a result does not fit 64 bits"),
        (of("cast", ":s", detail=pa.int64()), "`CAST`: a value cannot become a whole number"),
        (of("cast", of("+", ":i", 300), detail=pa.int8()), "TRY_CAST makes it null"),
    ],
)
def test_errors_of_the_data_say_what_to_do(expression, said):
    with pytest.raises(DataError) as caught:
        computed(expression, i=[0, 1], s=["1", "x"])
    assert said in str(caught.value)


def test_unsigned_numbers_beyond_64_bits_are_an_error():
    with pytest.raises(DataError, match="the column u holds a number beyond 64 bits"):
        computed(of("+", ":u", 1), u=pa.array([2**63], pa.uint64()))


def test_operands_are_computed_where_they_are_asked_for():
    i = [2**62, 4, None]
    small, times = of("<", ":i", 9), of("*", 4, ":i")
    assert computed(of("and", small, of(">", times, 1)), i=i) == [False, True, None]
    assert computed(of("or", of("not", small), of(">", times, 1)), i=i) == [True, True, None]
    assert computed(of("case", of("not", small), -1, times), i=i) == [-1, 16, None]
    assert computed(of("coalesce", of("nullif", ":i", 4), times), i=[2**62, 4]) == [2**62, 16]
    with pytest.raises(DataError):
        computed(of("and", of(">", times, 1), small), i=i)


def test_a_text_of_the_dictionary_that_is_in_no_row_is_no_error():
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0, None, 0], pa.int8()), pa.array(["7", "x"]))
    assert computed(of("cast", ":k", detail=pa.int64()), k=codes) == [7, 7, 7, None, 7]
    assert computed(of("is null", ":k"), k=codes) == [False, False, False, True, False]
    assert computed(of("distinct from", ":k", "7"), k=codes) == [False, False, False, True, False]
    assert computed(of("=", of("upper", ":k"), of("lower", ":k")), k=codes) == [True, True, True, None, True]


def test_chunks_and_scalars():
    chunked = pa.chunked_array([["a"], [], ["b", None]])
    found = evaluate(of("=", ":s", ":one"), lambda node: {"s": chunked, "one": pa.scalar("b")}[node.name], 3)
    assert found.to_pylist() == [False, True, None]
    assert evaluate(Field("one"), lambda node: pa.scalar(1, pa.int8()), 2) == pa.array([1, 1], pa.int8())
    assert evaluate(of("+", 1, 2), lambda node: None, 2).to_pylist() == [3, 3]
    assert evaluate(of("+", ":x", 2), lambda node: pa.array([], pa.int64()), 0).to_pylist() == []
    coded = pa.chunked_array(
        [pa.array(["a"] * 5).dictionary_encode(), pa.array(["b"] * 5).dictionary_encode()]
    )
    assert evaluate(of("=", ":k", "b"), lambda node: coded, 10).to_pylist() == [False] * 5 + [True] * 5


def test_like():
    texts = ["a%b", "ab", "A_b", "a\nb", "é", ""]
    patterns = {
        "a%b": [True, True, False, True, False, False],
        "a!%b": [True, False, False, False, False, False],
        "_": [False, False, False, False, True, False],
        "": [False, False, False, False, False, True],
        "%": [True] * 6,
        "%!_%": [False, False, True, False, False, False],
        "a__": [True, False, False, True, False, False],
    }
    for pattern, answer in patterns.items():
        assert computed(of("like", ":s", pattern, detail="!"), s=texts) == answer, pattern
    assert computed(of("ilike", ":s", "a_B"), s=texts) == [True, False, True, True, False, False]
    assert computed(of("like", ":s", ":p"), s=["ab", "ab", None], p=["a%", "b%", "%"]) == [True, False, None]
    assert "not a pattern of `LIKE`: `!x` has no meaning" in refused(
        of("like", ":s", "!x", detail="!"), s=["a"]
    )
    assert "not a pattern of `REGEXP`: missing )" in refused(of("regexp", ":s", "("), s=["a"])


def test_times():
    moments = [datetime(2024, 1, 31, 12, 30), datetime(2023, 3, 31)]
    assert computed(of("add_months", ":t", 1), t=moments) == [
        datetime(2024, 2, 29, 12, 30),
        datetime(2023, 4, 30),
    ]
    assert computed(of("date_diff", ":t", datetime(2024, 2, 29), detail="month"), t=moments) == [0, 10]
    assert computed(of("extract", ":t", detail="dow"), t=moments) == [3, 5]
    assert computed(of("date_trunc", ":t", detail="week"), t=moments) == [
        datetime(2024, 1, 29),
        datetime(2023, 3, 27),
    ]
    zoned = pa.array([datetime(2024, 3, 10, 6, 30)], pa.timestamp("ms", "America/New_York"))
    assert computed(of("extract", ":t", detail="hour"), t=zoned) == [1]
    (later,) = computed(of("add_months", ":t", 1), t=zoned)
    assert later.isoformat() == "2024-04-10T01:30:00-04:00"


def test_what_does_not_fit_together_is_refused_with_a_caret():
    text = "DEFINE a AS price + name > 1"
    sum_ = Operation("+", (Field("price"), Field("name")), at=Span(12, 24))
    assert refused(Operation(">", (sum_, ScalarConstant(1))), text, price=[1.5], name=["x"]) == (
        "error[CER030]: `+` cannot be applied to a float and a text\n"
        " --> query:1:13\n"
        "  |\n"
        "1 | DEFINE a AS price + name > 1\n"
        "  |             ^^^^^^^^^^^^\n"
        "  = help: CAST a text that holds a number or a time, as in `CAST(x AS DOUBLE)`"
    )
    assert "A whole number and a text cannot be compared" in refused(of("=", ":i", "1"), i=[1])
    assert "write the number without quotes" in refused(of("=", ":i", "1"), i=[1])
    assert "`AND` takes conditions, and this is a float" in refused(of("and", ":f", True), f=[1.0])
    assert "write the length with its unit" in refused(
        of("<", of("-", ":t", ":t"), 5), t=[datetime(2024, 1, 1)]
    )
    assert "`CASE` cannot give a text in one row" in refused(of("case", ":b", "x", 1), b=[True])
    assert "`LIKE` takes texts, and this is a whole number" in refused(of("like", ":i", "1%"), i=[1])


def same(one, two):
    if isinstance(one, float) and two is not None:
        two = float(two)
        return one == two or (one != one and two != two) or math.isclose(one, two, rel_tol=1e-12)
    return one == two and (one is None) == (two is None)


def python_values(array):
    """The values of a column; times of nanoseconds as those of microseconds, which Python has."""
    if array.type == pa.timestamp("ns"):
        array = array.cast(pa.timestamp("us"))
    return array.to_pylist()


@pytest.mark.draws("seed", 3000)
def test_rows_one_by_one(seed):
    """Random expressions give what Python computes for each row; an error where it has one in a row."""
    rng = Random(seed)
    count = rng.choice((0, 1, 6, 12))
    arrays = {}

    def leaf(kind):
        name = f"{kind}{rng.randrange(2)}"
        if name not in arrays:
            type_ = rng.choice(TYPES[kind])
            values = [rng.choice(COLUMNS[kind]) for _ in range(count)]
            if type_ == pa.uint32():
                values = [None if value is None else abs(value) for value in values]
            arrays[name] = pa.array(values, type_)
        return Field(name)

    expression = ScalarDraft(rng, leaf, safe=rng.random() < 0.5).draw(
        rng.choice(KINDS), rng.choice((1, 2, 3))
    )
    rows = [dict(zip(arrays, row)) for row in zip(*(python_values(array) for array in arrays.values()))]
    rows = rows or [{}] * count
    try:
        expected = [value_of(expression, lambda node, row=row: row[node.name]) for row in rows]
    except DataError:
        expected = None
    try:
        type_of(expression, lambda node: arrays[node.name].type)
    except QueryError as error:
        if "more than 76 digits" not in str(error):
            raise
        return
    try:
        found = python_values(evaluate(expression, lambda node: arrays[node.name], count))
    except DataError:
        found = None
    assert (found is None) == (expected is None), (expression, rows, found, expected)
    if found is not None:
        assert all(map(same, found, expected)), (expression, rows, found, expected)


def test_every_operation_is_drawn():
    drawn = set()

    def names(node):
        if isinstance(node, Operation):
            drawn.add(node.name)
            for operand in node.operands:
                names(operand)

    for seed in range(2000):
        rng = Random(seed)
        names(ScalarDraft(rng, lambda kind: None, safe=False).draw(rng.choice(KINDS), 3))
    assert drawn == OPERATIONS.keys() - {"exp", "ln", "log10", "power"}
