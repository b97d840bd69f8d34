"""Chromium without a window, for tests of pages; `python tests/browser.py --install` installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=20000")


def browser() -> str | None:
    """Where Chromium is; None where it is not installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _run(page: Path, folder: Path, *flags: str) -> str:
    found = browser()
    assert found is not None
    own = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [found, *FLAGS, own, *flags, page.as_uri()], capture_output=True, text=True, timeout=180, check=True
    )
    return done.stdout


def document(page: Path, folder: Path, *flags: str) -> str:
    """The page as it is once its scripts have run."""
    return _run(page, folder, "--dump-dom", *flags)


def picture(page: Path, folder: Path, width: int, *flags: str) -> Path:
    """A screenshot of the page as PNG."""
    target = folder / f"{width}{'-'.join(flags).replace('/', '')}.png"
    _run(page, folder, f"--screenshot={target}", f"--window-size={width},1600", *flags)
    return target


def install() -> None:
    """Install Chromium, where that is possible."""
    if browser() is not None:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print("the tests of reports need Chromium: install it (apt-get install chromium)", file=sys.stderr)
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
    subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
        env=environment,
        check=False,
    )


if __name__ == "__main__" and sys.argv[1:] == ["--install"]:
    install()
