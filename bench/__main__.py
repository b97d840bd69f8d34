"""`python -m bench`: the table, and the same as JSON under `bench/results/`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.figures import Figure, table
from bench.measure import ROOT, environment
from bench.sections import SECTIONS
from bench.sizes import Brought, Sizes

QUICK = 0.02
WIDTH = 140


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help=f"the sizes times {QUICK}, two runs of each")
    parser.add_argument("--scale", type=float, default=1.0, help="the sizes times this")
    parser.add_argument("--runs", type=int, default=5, help="runs that are timed (5)")
    parser.add_argument("--patience", type=float, help="seconds that a form of a rival's join may take (300)")
    parser.add_argument("--command", help="another program that rivals asks too (bench/rivals/asked.py)")
    parser.add_argument("--data", metavar="FOLDER", help="of Parquet: rivals are asked --query over it")
    parser.add_argument("--query", help="what is asked of --data, as CEQL")
    parser.add_argument("--order-by", default="ts", help="the column of time of --data (ts)")
    parser.add_argument("--type-column", default="type", help="the column of types of --data (type)")
    parser.add_argument("--output", type=Path, help="file of the JSON; with full sizes there is one anyway")
    asked = parser.parse_args(arguments)
    chosen = {given: _named(given) for given in asked.sections}
    unknown = {given for given, names in chosen.items() if not names}
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")

    sizes = Sizes(runs=2 if asked.quick else asked.runs).scaled(QUICK if asked.quick else asked.scale)
    if asked.patience is not None:
        sizes = replace(sizes, patience=asked.patience)
    if asked.command is not None:
        sizes = replace(sizes, command=asked.command)
    if (asked.data is None) != (asked.query is None) or (asked.data and asked.sections != ["rivals"]):
        parser.error("--data goes with --query and the section rivals alone")
    if asked.data is not None:
        brought = Brought(asked.data, asked.query, asked.order_by, asked.type_column)
        sizes = replace(sizes, brought=brought)
    console, progress = Console(), Console(stderr=True)
    # A pipe has no width: the table is as wide there as it needs to be.
    console.width = max(console.width, WIDTH)
    about = environment()
    begin = datetime.now(UTC)
    output = asked.output
    if output is None and sizes == Sizes(runs=sizes.runs, patience=sizes.patience):
        said = "-".join(asked.sections) or about["commit"] or "unknown"
        output = ROOT / "bench" / "results" / f"{begin:%Y-%m-%d-%H%M}-{said}.json"
    record: dict[str, Any] = {
        "begin": begin.isoformat(timespec="seconds"),
        "environment": about,
        "sizes": asdict(sizes),
        "figures": [],
    }
    figures: list[Figure] = []
    try:
        for name in dict.fromkeys(name for names in chosen.values() for name in names) or SECTIONS:
            with progress.status(f"{name} ..."):
                for figure in SECTIONS[name](sizes):
                    figures.append(figure)
                    record["figures"].append(figure.to_json())
                    minutes = (datetime.now(UTC) - begin).total_seconds() / 60
                    said = (figure.section, figure.case, figure.value, figure.unit, figure.note)
                    progress.print(f"{minutes:.1f} min", *said)
                    _store(record, output)
    finally:  # what was measured stays, also where something ends it
        caption = ", ".join(f"{name} {value}" for name, value in about.items() if value is not None)
        console.print(table(figures, caption))
    return 0


def _store(record: dict[str, Any], output: Path | None) -> None:
    """Write the figures so far, whole or not at all."""
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    written = output.with_name(f".{output.name}")
    written.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    written.replace(output)


def _named(given: str) -> list[str]:
    """The sections of a name: the one that has it, or those that begin with it, as `spark`."""
    return [given] if given in SECTIONS else [name for name in SECTIONS if name.startswith(f"{given}_")]


if __name__ == "__main__":
    sys.exit(main())
