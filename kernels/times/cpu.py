"""Parts of times: neighbouring times with the same part are done together."""

from ..jit import inline, jit
from .contract import DATE, DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY

STRIP = 512
"""Times that are compared at once, to tell whether all have the part of the time before them."""

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""The least and the greatest int64."""

FEW_ALIKE = 4
"""The kernel gives up where fewer times than this, on average, have their part in common."""


def segment_body(time, starts):
    """The offset that holds at a time, by binary search."""
    low = 1
    high = starts.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low - 1


_segment = inline(segment_body)


def part_of_day_body(days, part):
    """WEEKDAY, DAY, MONTH, YEAR or DATE of a day, counted from 1970-01-01.

    Years are counted from March and in eras of 400 years (Howard Hinnant, "chrono-compatible low-level date
    algorithms", `civil_from_days`).
    """
    if part == DATE:
        return days
    if part == WEEKDAY:
        return (days + 3) % 7 + 1
    days += 719_468
    era = days // 146_097
    of_era = days - era * 146_097
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    from_march = (5 * of_year + 2) // 153
    if part == DAY:
        return of_year - (153 * from_march + 2) // 5 + 1
    month = from_march + 3 if from_march < 10 else from_march - 9
    if part == MONTH:
        return month
    return year_of_era + era * 400 + (month <= 2)


_part_of_day = inline(part_of_day_body)


def parts_body(times, part, second, zone, out):
    """`parts_reference`: `out` int8, int32 or int64 [n] gets the parts. Gives how many times are done.

    It stops early where the table does not reach, and where neighbours have too little in common.
    """
    span = second
    turn = 60
    if part == MINUTE:
        span = 60 * second
    elif part == HOUR:
        span = 3600 * second
        turn = 24
    elif part != SECOND:
        span = 86_400 * second
        turn = 0
    low, high = 1, 0
    found = 0
    left = times.shape[0] // FEW_ALIKE + 2
    for begin in range(0, times.shape[0], STRIP):
        end = min(begin + STRIP, times.shape[0])
        strip = times[begin:end]
        shown = out[begin:end]
        least = strip[0]
        most = least
        for i in range(strip.shape[0]):
            least = min(least, strip[i])
            most = max(most, strip[i])
        if least >= low and most <= high:
            for i in range(strip.shape[0]):
                shown[i] = found
            continue
        for i in range(strip.shape[0]):
            time = strip[i]
            if time < low or time > high:
                left -= 1
                if left < 0 or time < zone.within[0] or time >= zone.within[1]:
                    return begin + i
                segment = _segment(time, zone.starts)
                offset = zone.offsets[segment]
                count = (time + offset) // span
                low = count * span - offset
                high = min(low + (span - 1), zone.within[1] - 1)
                low = max(low, zone.within[0] if segment == 0 else zone.starts[segment])
                if segment + 1 < zone.starts.shape[0]:
                    high = min(high, zone.starts[segment + 1] - 1)
                found = count % turn if turn else _part_of_day(count, part)
            shown[i] = found
    return times.shape[0]


def local_times_body(times, zone, out):
    """Write what the clocks of the zone show, as a time in UTC, to `out` int64 [n]."""
    low, high = 1, 0
    offset = 0
    for i in range(times.shape[0]):
        time = times[i]
        if time < low or time > high:
            segment = _segment(time, zone.starts)
            offset = zone.offsets[segment]
            low = zone.starts[segment] if segment > 0 else LEAST
            high = zone.starts[segment + 1] - 1 if segment + 1 < zone.starts.shape[0] else MOST
        out[i] = time + offset


parts = jit(parts_body)
local_times = jit(local_times_body)
