"""Kept kernels that nobody uses any more are deleted, and nothing else."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from cer_gpu.compiling.expiry import DAY_S, MONTH_S, prune
from cer_gpu.compiling.store import Store

ABOUT = {"symbol": "cer", "result": "none"}


def aged(path: Path, seconds: float) -> Path:
    """A file or folder that was used so long ago."""
    before = time.time() - seconds
    os.utime(path, (before, before))
    return path


def kernel(folder: Path, name: str, seconds: float) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(b"{}\n")
    path.chmod(0o600)
    return aged(path, seconds)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, tmp_path / "shipped")


def own(store: Store) -> Path:
    assert store._own is not None
    return store._own


def test_what_is_written_makes_room_of_what_nobody_uses(store: Store) -> None:
    other = own(store).parent / "another version"
    names = ("a.kernel", "b.lock", "c.new")
    old = [kernel(folder, name, MONTH_S + 60) for folder in (other, own(store)) for name in names]
    young = kernel(other, "d.kernel", MONTH_S - 60)
    foreign = kernel(other, "notes.txt", 2 * MONTH_S)
    store.read("a")
    assert all(path.exists() for path in old), "reading deletes nothing"
    store.write("new", ABOUT, b"code")
    assert not any(path.exists() for path in old)
    assert young.exists()
    assert foreign.exists()
    assert store.read("new") is not None


def test_what_is_read_is_in_use(store: Store) -> None:
    for name in ("used", "unused"):
        store.write(name, ABOUT, b"code")
        aged(own(store) / f"{name}.kernel", MONTH_S + 60)
    later = Store(own(store).parent.parent, Path("nowhere"))
    assert later.read("used") is not None
    later.write("new", ABOUT, b"code")
    assert later.read("used") is not None
    assert later.read("unused") is None


def test_what_was_used_today_is_not_marked_anew(store: Store) -> None:
    store.write("used", ABOUT, b"code")
    path = aged(own(store) / "used.kernel", DAY_S / 2)
    before = path.stat().st_mtime
    store.read("used")
    assert path.stat().st_mtime == before
    aged(path, 2 * DAY_S)
    store.read("used")
    assert path.stat().st_mtime > before


def test_a_folder_goes_once_it_has_been_empty_for_a_month(store: Store) -> None:
    folder = own(store).parent
    for name, seconds in (("empty", MONTH_S + 60), ("emptied", 0)):
        (folder / name).mkdir(mode=0o700, parents=True)
        aged(folder / name, seconds)
    prune(folder)
    assert [path.name for path in folder.iterdir()] == ["emptied"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
def test_links_and_what_others_can_write_are_left_alone(store: Store, tmp_path: Path) -> None:
    elsewhere = kernel(tmp_path / "elsewhere", "a.kernel", 2 * MONTH_S)
    folder = own(store).parent
    folder.mkdir(mode=0o700, parents=True)
    (folder / "link").symlink_to(elsewhere.parent, target_is_directory=True)
    shared = kernel(folder / "shared", "a.kernel", 2 * MONTH_S)
    shared.parent.chmod(0o777)
    prune(folder)
    assert elsewhere.exists()
    assert shared.exists()


def test_several_may_prune_and_write_at_once(tmp_path: Path) -> None:
    stores = [Store(tmp_path, tmp_path / "shipped") for _ in range(4)]
    folder = own(stores[0])
    for number in range(200):
        kernel(folder, f"{number}.kernel", MONTH_S + 60)
    together = threading.Barrier(len(stores))

    def write(number: int) -> None:
        together.wait()
        stores[number].write(f"new {number}", ABOUT, b"code")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.name for path in folder.iterdir()) == [f"new {number}.kernel" for number in range(4)]
