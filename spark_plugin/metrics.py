"""In a worker: reports to the executor what a task did, for its metrics, if the JVM plugin listens."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

FILE = "cer-gpu-metrics"
"""Written by the plugin in the executor's first local folder: the port and a token."""


def publish(
    events: int, hits: int, seconds: float, device: str, environment: Mapping[str, str] = os.environ
) -> bool:
    """Report to the executor what a task did; does nothing if the JVM plugin is not loaded.

    The report is a datagram on the loopback interface. Sending it never waits, and a task does not fail
    because of its metrics.

    Parameters
    ----------
    events : int
        Events that it read.
    hits : int
        Matches, or positions, that it returned.
    seconds : float
        How long it worked.
    device : str
        "cpu", "cuda:0", ...
    environment : mapping of str to str
        `SPARK_LOCAL_DIRS` is read from it: the executor's own folders.

    Returns
    -------
    bool
        Whether it was sent.
    """
    folder = environment.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
    if not folder:
        return False
    try:
        port, token = (Path(folder) / FILE).read_text(encoding="ascii").split()
        message = f"{token} {events} {hits} {round(seconds * 1e9)} {device}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(message.encode(), ("127.0.0.1", int(port)))
    except (OSError, ValueError):
        return False
    return True
