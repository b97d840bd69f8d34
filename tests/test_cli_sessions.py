"""What the shell says to common mistakes: the golden files are sessions, commands with what they print."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path

import pytest

from cer_gpu.cli import status_of

GOLDEN = sorted((Path(__file__).parent / "golden" / "shell").glob("*.txt"))

HEADER = "type,ts,symbol,price\n"
ROWS = (
    "Buy,2024-05-02T09:30:00,ACME,100\n"
    "Buy,2024-05-02T09:30:05,ACME,101\n"
    "News,2024-05-02T09:30:20,ACME,\n"
    "Sell,2024-05-02T09:31:10,ACME,108\n"
)
FILES = {
    "trades.csv": HEADER + ROWS,
    "unsorted.csv": HEADER + ROWS + "Buy,2024-05-02T09:30:30,ACME,99\n",
    "no_header.csv": ROWS,
    "no_type.csv": (HEADER + ROWS).replace("type", "kind"),
    "semicolons.csv": (HEADER + ROWS).replace(",", ";").replace(";100\n", ";100,5\n"),
    "dates.csv": HEADER + "Buy,05/02/2024 09:30,ACME,100\nSell,05/02/2024 09:31,ACME,108\n",
    "keyless.csv": HEADER + ROWS.replace("101\n", "101\nBuy,2024-05-02T09:30:06,,101\n"),
    "streams.csv": "venue," + HEADER + "NYSE," + ROWS.strip().replace("\n", "\nLSE,") + "\n",
    "ticks.csv": "price\n" + "1\n" * 150,
    "empty.csv": "",
    "notes/readme.txt": "no events here\n",
}
"""The files that stand in the folder of a session."""

USAGE = ("Usage: ", "Try '")


def session(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The commands of a session, each after a `$`, with what they print now."""
    said: list[str] = []
    for line in text.splitlines():
        if line.startswith("# "):
            said.append(line)
        if not line.startswith("$ cer "):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            status = status_of(shlex.split(line)[2:])
        printed = capsys.readouterr()
        errors = printed.err.replace(str(folder), "FOLDER").splitlines()
        if any(one.startswith("Error: ") for one in errors):
            errors = [one for one in errors if one and not one.startswith(USAGE)]
        said += [line, *printed.out.splitlines(), *errors, f"[status {status}]", ""]
    return "\n".join(said)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_sessions(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, content in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    text = path.read_text(encoding="utf-8")
    assert session(text, tmp_path, capsys) == text


def test_there_are_sessions() -> None:
    assert len(GOLDEN) >= 8
