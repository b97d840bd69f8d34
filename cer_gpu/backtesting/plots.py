"""Charts of a backtest, as Altair draws them: `Backtest.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.backtesting.chart_style import (
    CELL,
    COLUMNS,
    FIRST_COLOUR,
    MOST_WRITTEN,
    SAMPLE_COLOURS,
    SECOND_COLOUR,
    SMALL,
    WIDTH,
    charts,
    count_axis,
    drawn_offline,
    field_name,
    legend,
    parameter_axis,
    time_axis,
    value_axis,
)
from cer_gpu.backtesting.number_format import figures
from cer_gpu.backtesting.time_series import over_time
from cer_gpu.backtesting.variant_label import in_order, labels_of, order_of
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    import altair

    from cer_gpu.backtesting.provenance import BacktestResult

MOST_LINES = 10
"""Queries or variants that one chart tells apart by colour at most: those with most hits."""

MOST_BARS = 40
"""Rows of a chart at most."""

BINS = 40
"""Bars of a distribution at most."""

FOUND = ("query", "bucket", "hits", "matches", "first", "last")


class Plots:
    """Charts of a backtest: `Backtest.plot`. Each method returns an `altair.Chart`.

    Parameters
    ----------
    result : BacktestResult

    Raises
    ------
    CerError
        From every method, when Altair is not installed.
    """

    def __init__(self, result: BacktestResult) -> None:
        self._result = result

    @drawn_offline
    def hits(self) -> altair.Chart:
        """Hits over time if the backtest has buckets of time; otherwise the hits of each query or variant.

        A bucket in which a query or variant has no hits is drawn as 0, between the first and the last bucket
        in which any of them has some. Times are those of the time zone of `order_by`.

        The queries or variants with the most hits are shown: at most ten over time, forty otherwise.
        """
        alt = charts()
        table = self._result.to_arrow()
        timed = "bucket" in table.schema.names
        most = MOST_LINES if timed else MOST_BARS
        labels = self._labels(table)
        rows = _grouped(labels, table)
        shown = _with_most(rows, most)
        title = "Hits over time" if timed else "Hits"
        title += f" (the {most} queries with the most)" if len(shown) < len({*labels}) else ""
        cut = self._result.about.buckets
        if timed and cut is not None:
            rows = over_time(labels, table, cut, shown)
        rows = [row for row in rows if row["variant"] in shown]
        data = alt.Data(values=rows)
        axis = count_axis(max((row["hits"] for row in rows), default=0))
        if not timed:
            chart = (
                alt.Chart(data)
                .mark_bar()
                .encode(
                    x=alt.X("hits:Q", title="hits", axis=axis),
                    y=alt.Y("variant:N", sort="-x", title=None, axis=alt.Axis(labelLimit=400)),
                    tooltip=["variant:N", "hits:Q", "matches:Q"],
                )
            )
            return chart.properties(title=title, width=WIDTH)
        at = table.schema.field("bucket").type
        lasting = pa.types.is_duration(at)
        kind = "T" if pa.types.is_temporal(at) and not lasting else "Q"
        chart = (
            alt.Chart(data)
            .mark_line(point=len(rows) < 400)
            .encode(
                x=alt.X(f"bucket:{kind}", title="seconds" if lasting else None, axis=time_axis(kind)),
                y=alt.Y("hits:Q", title="hits", axis=axis),
                color=alt.Color("variant:N", title=None, sort=shown, legend=legend(shown)),
                tooltip=[f"bucket:{kind}", "variant:N", "hits:Q", "matches:Q"],
            )
        )
        return chart.properties(title=title, width=WIDTH)

    @drawn_offline
    def sweep(self, value: str = "hits", x: str | None = None, y: str | None = None) -> altair.Chart:
        """How a value depends on two parameters of a sweep (a heat map), or on one (a line).

        If the sweep has further parameters, each point shows the greatest value over them.

        Parameters
        ----------
        value : str, default "hits"
            "hits", "matches", or the name of an outcome, whose mean is shown.
        x, y : str, optional
            The parameters to draw along; by default the first two that take several values.

        Raises
        ------
        ValueError
            When no parameter takes several values, or a name does not exist.
        """
        alt = charts()
        rows = self._valued(value)
        names = [name for name in self.parameters if len({row[name] for row in rows}) > 1]
        chosen = [one for one in (x, y) if one is not None] or names[:2]
        for one in chosen:
            if one not in self.parameters:
                there = ", ".join(self.parameters) or "none"
                raise ValueError(f"there is no parameter `{one}`; the parameters are {there}")
        if not chosen:
            raise ValueError("no parameter has several values: plot.sweep is for the result of a sweep")
        best: dict[tuple[Any, ...], Any] = {}
        for row in rows:
            key = tuple(row[name] for name in chosen)
            if None in key or row["value"] is None:  # a query that does not have the parameter
                continue
            if not (key in best and best[key] >= row["value"]):
                best[key] = row["value"]
        points = [{**dict(zip(chosen, key)), "value": found} for key, found in best.items()]
        title = value if value in FOUND else f"mean of {value}"
        heading = f"{title.capitalize()} by {' and '.join(chosen)}"
        if len(chosen) < len(names):
            heading += f" (the greatest over {', '.join(one for one in names if one not in chosen)})"
        tooltip = [*(f"{field_name(name)}:N" for name in chosen), "value:Q"]
        if len(chosen) == 1:
            along = in_order(point[chosen[0]] for point in points)
            kind = "Q" if all(isinstance(one, (int, float)) for one in along) else "O"
            chart = (
                alt.Chart(alt.Data(values=points))
                .mark_line(point=True)
                .encode(
                    x=alt.X(
                        f"{field_name(chosen[0])}:{kind}",
                        title=chosen[0],
                        sort=along,
                        scale=alt.Scale(zero=False) if kind == "Q" else alt.Undefined,
                    ),
                    y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=value in FOUND)),
                    tooltip=tooltip,
                )
            )
            return chart.properties(title=heading, width=WIDTH)
        across, up = (in_order(point[name] for point in points) for name in chosen)
        sizes = [point["value"] for point in points]
        # Counts are written as in the table of hits.
        told = [f"{one:,.0f}" for one in sizes] if value in ("hits", "matches") else figures(sizes)
        points = [{**point, "told": text} for point, text in zip(points, told, strict=True)]
        written = len(across) <= MOST_WRITTEN
        scale = alt.Scale(scheme="viridis")
        base = alt.Chart(alt.Data(values=points)).encode(
            x=alt.X(f"{field_name(chosen[0])}:O", title=chosen[0], sort=across, axis=parameter_axis(across)),
            y=alt.Y(
                f"{field_name(chosen[1])}:O", title=chosen[1], sort=up[::-1], axis=alt.Axis(titlePadding=12)
            ),
            tooltip=tooltip,
        )
        beside = None if written else alt.Legend(orient="bottom", title=title)
        chart = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=beside))
        if written:
            middle = (min(best.values()) + max(best.values())) / 2
            ink = alt.condition(alt.datum.value > middle, alt.value("#000"), alt.value("#fff"))
            chart += base.mark_text(fontSize=11).encode(text="told:N", color=ink)
        return chart.properties(title=heading, width=WIDTH, height=alt.Step(CELL))

    @drawn_offline
    def outcomes(self, name: str | None = None) -> altair.Chart:
        """The mean of an outcome at the hits of each query or variant, and its base (red).

        A line shows the 95 % confidence interval of the mean. At most forty queries or variants are shown,
        those with the most hits.

        Parameters
        ----------
        name : str, optional
            The outcome; by default the first one.

        Raises
        ------
        ValueError
            When there is no such outcome, or none was asked for.
        """
        alt = charts()
        name = self._outcome(name)
        table = self._result.outcomes
        labels = self._labels(table)
        rows = [
            {**row, "variant": label}
            for row, label in zip(table.to_pylist(), labels)
            if row["outcome"] == name and row["n"]
        ]
        most = sorted({(-row["n"], row["variant"]) for row in rows if row["sample"] == "all"})[:MOST_BARS]
        kept = {label for _, label in most}
        data = alt.Data(values=[_plain(row) for row in rows if row["variant"] in kept])
        order = [label for label in self._in_order(table) if label in kept]
        samples = list(dict.fromkeys(row["sample"] for row in rows))
        scale = alt.Scale(domain=samples, range=SAMPLE_COLOURS[: len(samples)])
        base = alt.Chart(data).encode(
            y=alt.Y("variant:N", title=None, sort=order, axis=alt.Axis(labelLimit=400)),
            yOffset=alt.YOffset("sample:N", sort=samples),
            color=alt.Color("sample:N", title=None, scale=scale, legend=legend(samples)),
            tooltip=[
                *("variant:N", "sample:N", "n:Q", "blocks:Q", "mean:Q", "low:Q", "high:Q", "median:Q"),
                *("base_mean:Q", "gain_low:Q", "gain_high:Q"),
            ],
        )
        chart = (
            base.mark_rule(strokeWidth=2).encode(
                x=alt.X("low:Q", title=f"mean of {name}", scale=alt.Scale(zero=False), axis=value_axis()),
                x2="high:Q",
            )
            + base.mark_point(filled=True, size=50, opacity=1).encode(x="mean:Q")
            + base.mark_tick(thickness=2, color=SECOND_COLOUR).encode(
                x="base_mean:Q", color=alt.value(SECOND_COLOUR)
            )
        )
        return chart.properties(title=f"{name}: mean, 95 % interval, and the base (red)", width=WIDTH)

    @drawn_offline
    def distribution(self, name: str | None = None) -> altair.Chart:
        """How the values of an outcome are distributed at the hits: a histogram for each query or variant.

        At most ten queries or variants are shown, those with the most hits.

        Parameters
        ----------
        name : str, optional
            The outcome; by default the first one.

        Raises
        ------
        ValueError
            When there is no such outcome, or none was asked for.
        LimitError
            When there are too many hits: see `Backtest.outcome_hits`.
        """
        alt = charts()
        import numpy as np

        name = self._outcome(name)
        table = self._result.outcome_hits
        there = list(dict.fromkeys(self._result.outcomes.column("outcome").to_pylist()))
        values = table.column(len(table.schema) - len(there) + there.index(name)).to_numpy()
        known = values[~np.isnan(values)]
        low, high = np.quantile(known, [0.005, 0.995]) if len(known) else (0.0, 1.0)
        edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
        labels = np.array(self._labels(table), object)
        sizes = {label: int((labels == label).sum()) for label in dict.fromkeys(labels)}
        most = sorted(sizes, key=lambda one: -sizes[one])[:MOST_LINES]
        order = [label for label in self._in_order(table) if label in most]
        rows = []
        for label in order:
            own = values[labels == label]
            own = np.clip(own[~np.isnan(own)], edges[0], edges[-1])
            counts = np.histogram(own, edges)[0] / max(len(own), 1)
            rows += [
                {"variant": label, "from": float(a), "to": float(b), "share": float(share)}
                for a, b, share in zip(edges[:-1], edges[1:], counts)
            ]
        encoding: dict[str, Any] = {
            "x": alt.X("from:Q", title=name, scale=alt.Scale(zero=False), axis=value_axis()),
            "x2": "to:Q",
            "y": alt.Y("share:Q", title="share of hits", axis=alt.Axis(format="%", tickCount=4)),
            "y2": alt.datum(0),
            "tooltip": ["variant:N", "from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")],
        }
        title = f"{name} at the hits (the outermost bars: and beyond)"
        if len(order) > 1:
            encoding["facet"] = alt.Facet("variant:N", title=None, sort=order, columns=COLUMNS)
        width, height = (WIDTH // COLUMNS, SMALL) if len(order) > 1 else (WIDTH, 2 * SMALL)
        chart = alt.Chart(alt.Data(values=rows)).mark_rect(color=FIRST_COLOUR).encode(**encoding)
        return chart.properties(title=title, width=width, height=height)

    @drawn_offline
    def funnel(self, variant: str | None = None) -> altair.Chart:
        """How many events complete each step of a pattern, and how many would without one of its conditions.

        Bars show the steps; red marks show the same step with one of its conditions left out.

        Parameters
        ----------
        variant : str, optional
            The query, or the variant as the other charts label it; by default the first one.

        Raises
        ------
        ValueError
            When there is no such variant, no pattern, or no funnel was asked for.
        """
        alt = charts()
        table = self._result.funnel
        labels = self._labels(table)
        there = list(dict.fromkeys(labels))
        if variant is not None and variant not in there:
            raise ValueError(f"there is no funnel of {brief(variant)}; there are funnels of {_some(there)}")
        if not there:
            raise ValueError("there is no funnel to draw: a rule has no steps")
        chosen = there[0] if variant is None else variant
        rows = [
            {
                "step": f"{row['step']}  {row['pattern']}",
                "without": row["without"] or "",
                "hits": row["hits"],
                "matches": float(row["matches"]),
                "died": None if row["died"] is None else float(row["died"]),
            }
            for row, label in zip(table.to_pylist(), labels)
            if label == chosen
        ]
        steps = list(dict.fromkeys(row["step"] for row in rows))
        axis = alt.Y("step:N", sort=steps, title=None, axis=None, scale=alt.Scale(paddingInner=0.6))
        tooltip = ["step:N", "without:N", "hits:Q", "matches:Q", "died:Q"]
        kept = alt.Chart(alt.Data(values=[row for row in rows if not row["without"]]))
        freer = alt.Chart(alt.Data(values=[row for row in rows if row["without"]]))
        axis_of_counts = count_axis(max((row["hits"] for row in rows), default=0))
        x = alt.X("hits:Q", title="events that complete the step", axis=axis_of_counts)
        chart = (
            kept.mark_bar().encode(x=x, y=axis, tooltip=tooltip)
            + freer.mark_tick(thickness=3, color=SECOND_COLOUR).encode(x=x, y=axis, tooltip=tooltip)
            # Above the bars there is room for a whole step, also on a narrow page.
            + kept.mark_text(align="left", baseline="bottom", dy=-12, limit=4 * WIDTH).encode(
                x=alt.value(2), y=axis, text="step:N"
            )
        )
        title = f"{chosen}: events that complete each step; red: without one of its conditions"
        return chart.properties(title=title, width=WIDTH, height=alt.Step(2 * CELL))

    @drawn_offline
    def episodes(self, events: Any, value: str, variant: str | None = None, **keywords: Any) -> altair.Chart:
        """A column over time as a line, such as a price, and on it the matches of a query or variant.

        Each match is drawn from its first to its last event. The query is run again for its first 500
        matches. If it has PARTITION BY, only the partition with the most of these matches is drawn.

        Parameters
        ----------
        events : object
            The events of the backtest, or others, as for `Query.run`; they are read twice.
        value : str
            A column of numbers, such as a price.
        variant : str, optional
            The query, or the variant as the other charts label it; by default the one with the most hits.
        **keywords
            As for `Query.run`; `order_by` is needed.

        Raises
        ------
        ValueError
            Without `order_by`, when there is no such variant, or when nothing was found.
        DataError
            When the column does not exist or holds no numbers.

        Examples
        --------
        >>> found.plot.episodes("trades.parquet", "price", order_by="ts")
        """
        alt = charts()
        from cer_gpu.backtesting.episodes import episodes

        table = self._result.to_arrow()
        labels = self._labels(table)
        if variant is not None and variant not in labels:
            there = _some(list(dict.fromkeys(labels)))
            raise ValueError(f"there is no variant {brief(variant)}; the variants are {there}")
        hits = _grouped(labels, table)
        chosen = (_with_most(hits, 1) or [""])[0] if variant is None else variant
        if not chosen:
            raise ValueError("nothing was found: there is no match to draw")
        row = labels.index(chosen)
        values = {name: own[row] for name, own in self._given(table).items() if own[row] is not None}
        keywords["params"] = {**(keywords.get("params") or {}), **values}
        query = self._result.about.queries[table.column("query")[row].as_py()]
        found = episodes(query, events, value, keywords)
        kind = "T" if found.temporal else "Q"
        line = (
            alt.Chart(alt.Data(values=found.line))
            .mark_line(strokeWidth=1, color="#8a8f98")
            .encode(
                x=alt.X(f"time:{kind}", title=None),
                y=alt.Y("value:Q", title=value, scale=alt.Scale(zero=False)),
            )
        )
        tooltip = [f"from:{kind}", f"to:{kind}", "begin:Q", "end:Q"]
        spans = alt.Chart(alt.Data(values=found.matches)).encode(tooltip=tooltip)
        drawn = spans.mark_rule(strokeWidth=2, color=SECOND_COLOUR).encode(
            x=f"from:{kind}", x2="to", y="begin:Q", y2="end"
        )
        ends = spans.mark_point(filled=True, size=30, color=SECOND_COLOUR).encode(x=f"to:{kind}", y="end:Q")
        title = f"{chosen}: {len(found.matches):,} matches on {value}" + (
            f", {found.key}" if found.key else ""
        )
        return (line + drawn + ends).properties(title=title, width=WIDTH)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the sweeps."""
        return self._result.parameters

    def _labels(self, table: pa.Table) -> list[str]:
        """What each row is called: the query, and the parameters that differ."""
        return labels_of(self._result, table)

    def _in_order(self, table: pa.Table) -> list[str]:
        """The labels of the rows of a table, by the order of the values of their parameters."""
        given = self._given(table)
        keys = zip(*(map(order_of, own) for own in given.values())) if given else [()] * len(table)
        queries = table.column("query").to_pylist()
        first = {query: place for place, query in enumerate(dict.fromkeys(queries))}
        found = sorted(
            zip([first[query] for query in queries], keys, self._labels(table), strict=True),
            key=lambda one: one[:2],
        )
        return list(dict.fromkeys(label for _, _, label in found))

    def _given(self, table: pa.Table) -> dict[str, list[Any]]:
        """The values of the parameters in each row; their columns are those after the query's."""
        return {name: table.column(place).to_pylist() for place, name in enumerate(self.parameters, 1)}

    def _outcome(self, name: str | None) -> str:
        there = list(dict.fromkeys(self._result.outcomes.column("outcome").to_pylist()))
        if name is None:
            return str(there[0])
        if name not in there:
            raise ValueError(f"there is no outcome {brief(name)}; the outcomes are {_some(there)}")
        return name

    def _valued(self, value: str) -> list[dict[str, Any]]:
        """The parameters of each variant with its value."""
        if value in ("hits", "matches"):
            table = self._result.to_arrow()
            found: dict[tuple[Any, ...], float] = {}
            keys = zip(*self._given(table).values()) if self.parameters else [()] * len(table)
            for key, number in zip(keys, table.column(value).to_pylist()):
                found[key] = found.get(key, 0) + float(number)
            return [{**dict(zip(self.parameters, key)), "value": total} for key, total in found.items()]
        name = self._outcome(value)
        table = self._result.outcomes
        given = self._given(table)
        return [
            {**{each: values[place] for each, values in given.items()}, "value": row["mean"]}
            for place, row in enumerate(table.select(["outcome", "sample", "mean"]).to_pylist())
            if row["outcome"] == name and row["sample"] == "all"
        ]


def _some(names: Sequence[str]) -> str:
    """Names for a message: of many the first ones."""
    told = ", ".join(names[:MOST_LINES])
    return told if len(names) <= MOST_LINES else f"{told}, ... ({len(names):,} in all)"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose values JSON has."""
    return {name: value if isinstance(value, (int, float, str)) else None for name, value in row.items()}


def _grouped(labels: Sequence[str], table: pa.Table) -> list[dict[str, Any]]:
    """Hits and matches of each variant."""
    if not len(table):
        return []
    named = table.select(["hits", "matches"]).append_column("variant", pa.array(labels, pa.string()))
    sums = named.group_by(["variant"], use_threads=False).aggregate([("hits", "sum"), ("matches", "sum")])
    return [
        {"variant": row["variant"], "hits": row["hits_sum"], "matches": float(row["matches_sum"])}
        for row in sums.to_pylist()
    ]


def _with_most(rows: Sequence[dict[str, Any]], most: int) -> list[str]:
    """The variants with most hits."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["variant"]] = sums.get(row["variant"], 0) + row["hits"]
    return sorted(sums, key=lambda one: (-sums[one], one))[:most]
