"""The loop of a campaign of random cases: `timed_cases.py` and `whole_cases.py` say what a case is."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fuzz import SHOWN

from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event

TOLD = 1_000
"""After so many cases it is said how many there are by now."""


def show(script: str, statement: tree.Statement, events: Sequence[Event], seed: str, number: int) -> None:
    """Print a case that went wrong, in the block of an `except`."""
    told = "".join(f"  {event}\n" for event in events)
    sys.stdout.write(f"\nquery {number}: {to_text(statement)}\n{told}{traceback.format_exc(limit=-4)}")
    sys.stdout.write(f"again: python tests/{Path(script).name} --seed {seed} --first {number} --cases 1\n\n")
    sys.stdout.flush()


def run(
    script: str,
    about: str | None,
    of_query: Callable[[str, int], Counter[str]],
    arguments: list[str] | None = None,
) -> int:
    """Compare cases, and print how many; 1 where one was wrong.

    Parameters
    ----------
    script : str
        The file of the campaign.
    about : str
        What `--help` says.
    of_query : callable
        Given a seed and the number of a query, what was compared of it: "cases", "WRONG", and more.
    arguments : list of str, optional
        By default those of the process.
    """
    parser = argparse.ArgumentParser(prog=f"python tests/{Path(script).name}", description=about)
    parser.add_argument("--cases", type=int, default=1000, help="at least so many cases (1000)")
    parser.add_argument("--seed", default="1", help="any text (1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first query (0)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many seconds")
    asked = parser.parse_args(arguments)
    begin, number, done, told = time.monotonic(), asked.first, Counter[str](), 0
    with suppress(KeyboardInterrupt), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while done["cases"] < asked.cases and time.monotonic() - begin < asked.seconds:
            done += of_query(asked.seed, number)
            number += 1
            if done["cases"] >= told + TOLD and done["WRONG"] <= SHOWN:
                told = done["cases"]
                sys.stdout.write(
                    f"{told:,} cases of {number - asked.first:,} queries, {done['WRONG']} wrong, "
                    f"{time.process_time():.0f} s of a processor\n"
                )
                sys.stdout.flush()
    sys.stdout.write(f"seed {asked.seed}, queries {asked.first} to {number - 1}")
    sys.stdout.write(f" in {time.monotonic() - begin:.0f} s, {time.process_time():.0f} s of a processor\n")
    for what, many in sorted(done.items()):
        sys.stdout.write(f"{many:>9,} {what}\n")
    return int(done["WRONG"] > 0)
