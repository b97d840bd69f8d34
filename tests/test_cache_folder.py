"""The folder of the user's cache: his own, safe, and found where the home cannot be written."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from cer_gpu import cache_folder as module
from cer_gpu.cache_folder import cache_folder, safe

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The two folders that are tried: that of the system, and the one for temporary files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    user = f"-{os.geteuid()}" if hasattr(os, "geteuid") else ""
    return tmp_path / "cache" / "cer-gpu", tmp_path / f"cer-gpu{user}"


def test_it_is_made_for_the_user_alone(homes: tuple[Path, Path]) -> None:
    assert cache_folder() == homes[0]
    assert homes[0].is_dir()
    if hasattr(os, "geteuid"):
        assert stat.S_IMODE(homes[0].stat().st_mode) == 0o700
    assert cache_folder() == homes[0]


@posix
def test_without_xdg_it_is_in_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module.sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "cer-gpu"
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "cer-gpu"


def test_a_home_that_cannot_be_written(homes: tuple[Path, Path]) -> None:
    homes[0].parent.write_text("in the way of a folder")
    assert cache_folder() == homes[1]
    homes[1].rmdir()
    homes[1].write_text("in the way too")
    assert cache_folder() is None


def test_no_home_at_all(homes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA")
    monkeypatch.setattr(Path, "home", nameless)
    assert cache_folder() == homes[1]


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_write_to_is_passed_over(homes: tuple[Path, Path], mode: int) -> None:
    homes[0].mkdir(parents=True)
    homes[0].chmod(mode)
    assert cache_folder() == homes[1]


@posix
def test_links_and_files_of_others_are_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_text("")
    own.chmod(0o600)
    (tmp_path / "link").symlink_to(own)
    assert safe(own)
    assert not safe(tmp_path / "link")
    assert not safe(tmp_path / "missing")
    someone = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: someone)
    assert not safe(own)
