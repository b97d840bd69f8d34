"""Parts of times over columns in which neighbours have them in common, as data in the order of time has."""

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.classify.contract import NONE_MISSING

from cer_gpu.engine.read import functions
from cer_gpu.engine.read.columns import Values
from cer_gpu.language.units import NANOSECONDS

YEARS = np.datetime64("1960", "s").astype(int), np.datetime64("2035", "s").astype(int)


@pytest.mark.parametrize(
    "zone", [None, "UTC", "America/St_Johns", "Asia/Kathmandu", "Africa/Monrovia", "-03:30"]
)
@pytest.mark.parametrize("function", sorted(functions.TIMES))
@pytest.mark.parametrize("unit", ["s", "us"])
def test_parts_of_times_are_those_of_each_time(function: str, unit: str, zone: str | None) -> None:
    rng = np.random.default_rng(len(function))
    from_year = max(YEARS[0], functions.REGULAR) if unit == "us" else YEARS[0]
    begins = rng.integers(from_year, YEARS[1], 30)
    times = (begins[:, None] + np.sort(rng.integers(0, 4000, (30, 200)), axis=1)).reshape(-1)
    times *= NANOSECONDS["s"] // NANOSECONDS[unit]
    found = functions.of_numbers(function, [(Values(times, NONE_MISSING), unit)], zone)
    plain = functions.of_time(function, pa.array(times, pa.timestamp(unit, zone)))
    wanted = plain.cast(pa.int32()) if function == "DATE" else plain
    assert found.data.tolist() == wanted.to_pylist()


def test_neighbours_are_looked_for_where_they_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    of_time = functions.of_time
    monkeypatch.setattr(
        functions, "of_time", lambda name, times: asked.append(len(times)) or of_time(name, times)
    )
    times = Values(np.arange(100_000, dtype=np.int64), NONE_MISSING)
    for zone in (None, "Europe/Berlin"):
        functions.of_numbers("HOUR", [(times, "s")], zone)
    functions.of_numbers(
        "HOUR", [(Values(times.data + functions.REGULAR, NONE_MISSING), "s")], "Europe/Berlin"
    )
    assert asked == [28, 100_000, 1667]
