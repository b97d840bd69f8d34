"""Parts of times over columns in which neighbours have them in common, as data in the order of time has."""

from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.times import contract
from cer_gpu.kernels.times import cpu as kernels

from cer_gpu.engine.read import functions, zones
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.language.units import NANOSECONDS

YEARS = np.datetime64("1960", "s").astype(int), np.datetime64("2035", "s").astype(int)


@pytest.mark.crossed
@pytest.mark.parametrize(
    "zone", [None, "UTC", "America/St_Johns", "Asia/Kathmandu", "Africa/Monrovia", "-03:30"]
)
@pytest.mark.parametrize("function", sorted(functions.TIMES))
@pytest.mark.parametrize("unit", ["s", "us"])
def test_parts_of_times_are_those_of_each_time(function: str, unit: str, zone: str | None) -> None:
    rng = np.random.default_rng(len(function))
    from_year = max(YEARS[0], zones.REGULAR) if unit == "us" else YEARS[0]
    begins = rng.integers(from_year, YEARS[1], 30)
    times = (begins[:, None] + np.sort(rng.integers(0, 4000, (30, 200)), axis=1)).reshape(-1)
    times *= NANOSECONDS["s"] // NANOSECONDS[unit]
    found = functions.of_numbers(function, [(Values(times, NONE_MISSING), unit)], zone)
    plain = functions.of_time(function, pa.array(times, pa.timestamp(unit, zone)))
    wanted = plain.cast(pa.int32()) if function == "DATE" else plain
    assert found.data.tolist() == wanted.to_pylist()


def test_arrow_is_asked_where_neighbours_have_little_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    of_time = functions.of_time
    monkeypatch.setattr(
        functions,
        "of_time",
        lambda name, times: asked.append((len(times), times.type.tz)) or of_time(name, times),
    )

    def hours(times: np.ndarray, zone: str | None) -> None:
        functions.of_numbers("HOUR", [(Values(times, NONE_MISSING), "s")], zone)

    some = np.arange(100_000, dtype=np.int64)
    hours(some, None)
    hours(some + zones.REGULAR, "Europe/Berlin")
    assert asked == []
    hours(some, "Europe/Berlin")
    assert asked == [(100_000, "Europe/Berlin")]
    hours(some * 3600 + zones.REGULAR, "Europe/Berlin")
    assert asked[1:] == [(74_998, None)]


@pytest.mark.crossed
@pytest.mark.parametrize("part", range(len(contract.PARTS)))
@pytest.mark.parametrize("zoned", [False, True])
def test_the_kernel_finds_parts_by_their_definition(part: int, zoned: bool) -> None:
    rng = np.random.default_rng(part)
    for second in (1, 1000, 10**6, 10**9):
        ends = (
            np.array([-(2**63), 2**63 - 1])
            if second == 10**9
            else np.array([-62_135_596_800, 2.5e11]) * second
        )
        zone = contract.Offsets(np.array([0]), np.zeros(1, np.int64), ends.astype(np.int64))
        begins = rng.integers(-60_000_000_000 if second < 10**9 else -9 * 10**9, 9 * 10**9, 12)
        times = (
            begins[:, None] + rng.integers(0, 90_000, (12, 900)) // int(rng.choice([1, 60, 9000]))
        ).reshape(-1)
        times = np.sort(times.reshape(12, -1), axis=1).reshape(-1) * second + rng.integers(
            0, second, times.size
        )
        if zoned:
            starts = np.sort(rng.choice(times, 5)) + rng.integers(-second, second + 1, 5)
            zone = contract.Offsets(starts, rng.integers(-50_000, 50_000, 5) * second, zone.within)
        wanted = contract.parts_reference(times, part, second, zone)
        out = np.full(times.size, -1, np.int64)
        done = kernels.parts(times, part, second, zone, out)
        assert out[:done].tolist() == wanted[:done]
        assert (out[done:] == -1).all()
        assert done == times.size or len(set(np.diff(times[: done + 1]) // second)) > 1
        shown = np.empty_like(times)
        kernels.local_times(times, zone, shown)
        nowhere = contract.Offsets(np.array([0]), np.zeros(1, np.int64), zone.within)
        assert contract.parts_reference(shown, part, second, nowhere) == wanted


def test_the_kernel_stops_where_its_table_ends() -> None:
    zone = contract.Offsets(np.array([0]), np.zeros(1, np.int64), np.array([-10, 7300]))
    out = np.zeros(9000, np.int8)
    assert kernels.parts(np.arange(9000), contract.HOUR, 1, zone, out) == 7300
    assert kernels.parts(np.arange(-20, 8980), contract.HOUR, 1, zone, out) == 0


def test_times_at_the_ends_of_64_bits() -> None:
    ends = np.iinfo(np.int64)
    times = np.array([ends.min, ends.min, ends.min + 1, 0, ends.max, ends.max - 1, ends.max], np.int64)
    for zone in (None, "Asia/Tokyo", "America/New_York"):
        for function in ("HOUR", "YEAR", "DATE"):
            for order in (times, times[::-1].copy(), times[4:]):
                found = functions.of_numbers(function, [(Values(order, NONE_MISSING), "ns")], zone)
                if zone is None:
                    plain = functions.of_time(function, pa.array(order, pa.timestamp("ns")))
                    assert (
                        found.data.tolist()
                        == plain.cast(pa.int32() if function == "DATE" else pa.int64()).to_pylist()
                    )


@pytest.mark.draws("seed", 6)
def test_tables_of_zones_have_the_offsets_that_arrow_knows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = rng.choice(sorted(available_timezones() - {"localtime", "Factory"}), 12)
    for name in [*names, "Antarctica/Troll", "Africa/Casablanca", "+05:45"][:: 1 + seed % 2]:
        first = int(rng.integers(zones.REGULAR, 2 * 10**9))
        last = first + int(rng.integers(0, 6 * 365 * 86_400))
        times = np.sort(rng.integers(first, last + 1, 4000)) * 1000
        table = zones.offsets_between(str(name), int(times[0]), int(times[-1]), "ms")
        assert table is not None
        shown = np.empty_like(times)
        kernels.local_times(times, table, shown)
        column = pa.array(times, pa.timestamp("ms", str(name)))
        assert (shown == pc.local_timestamp(column).cast(pa.int64()).to_numpy()).all(), name
        # Also at each change, and a second before it.
        near = np.concatenate([table.starts[1:], table.starts[1:] - 1000])
        shown = np.empty_like(near)
        kernels.local_times(near, table, shown)
        column = pa.array(near, pa.timestamp("ms", str(name)))
        assert (shown == pc.local_timestamp(column).cast(pa.int64()).to_numpy()).all(), name
