"""Pictures of a few events and of what is found among them."""

import re
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer

TRADES = pa.table({"type": ["Buy", "<News", "Sell", "Buy", "Sell"], "price": [1.5, None, 3.0, 2.0, 4.0]})


def lines(svg, kind):
    """The elements of a class: their ends, or their places, from left to right as they are drawn."""
    found = ElementTree.fromstring(svg).iter()
    return [one.attrib for one in found if one.get("class") == kind]


def test_an_answer_is_a_line_from_its_start_to_its_end():
    query = cer.compile("SELECT b, s WHERE Buy AS b ; Sell AS s")
    svg = cer.timeline(query, TRADES)
    events = [one["cx"] for one in lines(svg, "event")]
    bars = [(events.index(one["x1"]), events.index(one["x2"])) for one in lines(svg, "bar")]
    assert bars == [(found.start, found.end) for found in query.run(TRADES)] == [(0, 2), (0, 4), (3, 4)]
    dots = [events.index(one["cx"]) for one in lines(svg, "dot")]
    assert dots == [0, 2, 0, 4, 3, 4]


def test_a_picture_says_how_many_there_are():
    query = cer.compile("SELECT * WHERE Buy ; Sell")
    assert "<title>3 matches</title>" in cer.timeline(query, TRADES)
    few = cer.timeline(query, TRADES, shown=1)
    assert "3 matches, of which the first 1 are drawn" in few
    assert len(lines(few, "bar")) == 1
    assert "no match" in cer.timeline(cer.compile("SELECT * WHERE Sell ; Sell ; Sell"), TRADES)


def test_text_of_events_is_text():
    svg = cer.timeline(cer.compile("SELECT x, x.price AS p WHERE `<News` AS x"), TRADES)
    texts = [one.text for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")]
    assert {"<News", "1.5", "-", "x", "p=-"} <= set(texts)


def test_rules_keys_and_times():
    table = TRADES.append_column("ts", pa.array([0, 1, 2, 3, 4], pa.timestamp("s"))).append_column(
        "k", pa.array([7, 7, 7, 8, 8])
    )
    rule = cer.compile("Q(x) <- Buy(k = x), Sell(k = x) WITHIN 1 MINUTE")
    said = re.findall(r">(part \d|x=\d)<", cer.timeline(rule, table, "ts"))
    assert said == ["part 1", "part 2", "x=7", "part 1", "part 2", "x=8"]
    keyed = cer.compile("SELECT b WHERE Buy AS b PARTITION BY k")
    assert re.findall(r">(\d)</text>\n(?=<line|<text)", cer.timeline(keyed, table, "ts"))[-2:] == ["7", "8"]


def test_a_picture_has_room_for_few_events():
    many = pa.table({"type": ["A"] * 41})
    with pytest.raises(cer.DataError, match="room for 40 events, and there are 41"):
        cer.timeline(cer.compile("SELECT * WHERE A"), many)
    assert len(lines(cer.timeline(cer.compile("SELECT * WHERE A"), many.slice(1)), "event")) == 40
    empty = many.slice(0, 0)
    assert "no match" in cer.timeline(cer.compile("SELECT * WHERE A"), empty)


def test_events_may_be_given_as_for_a_run(tmp_path):
    query = cer.compile("SELECT b, s WHERE Buy AS b ; Sell AS s")
    pq.write_table(TRADES, tmp_path / "trades.parquet")
    wanted = cer.timeline(query, TRADES)
    assert cer.timeline(query, TRADES.to_pandas()) == wanted
    assert cer.timeline(query, TRADES.to_reader()) == wanted
    assert cer.timeline(query, str(tmp_path / "trades.parquet")) == wanted
    with pytest.raises(cer.DataError, match="room for 40 events, and there are more"):
        cer.timeline(query, pa.table({"type": ["Buy"] * 50}).to_pandas())
