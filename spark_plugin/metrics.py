"""The worker's half of the metrics: what a task did, told to the executor where the JVM plugin listens."""

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
    """Tell the executor what a task did; nothing happens where the JVM plugin is not loaded.

    A datagram on the loopback interface: it never waits, and a task does not fail for its metrics.

    Parameters
    ----------
    events : int
        Events that it read.
    hits : int
        Complex events, or positions, that it gave.
    seconds : float
        How long it worked.
    device : str
        "cpu", "cuda:0", ...
    environment : mapping of str to str
        Of which `SPARK_LOCAL_DIRS` is read: Spark names there the executor's own folders to its workers.

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
