"""Writes days.txt and weeks.txt, the truth that the Go tests are held to.

    python3 golden.py            (Python 3.9 or later, no packages)

It asks Python's zoneinfo what a clock shows, hour by hour and closer around
every change, and finds the days by looking: nothing is computed from rules, and
nothing is shared with the Go code but the zone data below zoneinfo/. Those are
files of the IANA time zone database, which is in the public domain, as found in
lib/time/zoneinfo.zip of a Go distribution; they are kept here so that a later
edition of the database does not change the outcome. In that compact form they
say little more than each zone's present rule, which is what computing with the
years ahead is tested by.

days.txt has, for each zone:

    zone NAME FIRST END START OFFSET
        the days from FIRST up to, and without, END; FIRST starts at START, in
        seconds since 1970, when local time is OFFSET seconds ahead of UTC
    at SECONDS OFFSET       from that instant on, the offset is another
    day DATE LENGTH         all days without such a line are 86400 seconds long

and weeks.txt, for each year of ISO 8601: YEAR, its first Monday, its weeks.
"""

import datetime
import pathlib
import zoneinfo

HERE = pathlib.Path(__file__).parent
ONE_DAY = datetime.timedelta(days=1)

ZONES = {
    "Africa/Cairo": (1985, 2037),  # forward at midnight, with years without
    "Africa/Casablanca": (1985, 2037),  # four changes a year around Ramadan
    "America/Havana": (1985, 2037),  # midnight twice
    "America/Metlakatla": (2000, 2037),  # last change by decree in January 2019, then by rule
    "America/New_York": (1970, 2101),
    "America/Nuuk": (1985, 2037),  # from 2024: at 23:00 to midnight, and at midnight to 23:00
    "America/Sao_Paulo": (1985, 2037),  # no midnight, until 2018
    "America/Scoresbysund": (1985, 2037),  # moved to another offset and another rule in 2024
    "America/St_Johns": (1985, 2037),  # at 00:01, until 2011
    "Antarctica/Casey": (1985, 2037),  # three hours at once, once from 02:00 to 23:00
    "Antarctica/Troll": (1985, 2037),  # two hours at once
    "Asia/Beirut": (1985, 2037),  # no midnight
    "Asia/Gaza": (1985, 2037),  # many rules
    "Asia/Kathmandu": (1985, 2037),  # a quarter of an hour, once
    "Atlantic/Azores": (1985, 2037),  # no midnight in spring, two in autumn
    "Australia/Lord_Howe": (1985, 2037),  # half an hour, southern summer
    "Europe/Dublin": (1985, 2037),  # winter is the exception
    "Europe/Stockholm": (1970, 2101),
    "Pacific/Apia": (1985, 2037),  # no 2011-12-30
    "Pacific/Kwajalein": (1985, 2037),  # no 1993-08-21
}


def shown(tz, second):
    """What a clock shows: the date, and the offset."""
    local = datetime.datetime.fromtimestamp(second, tz)
    return local.date(), int(local.utcoffset().total_seconds())


def changes(tz, begin, end, steps=(3600, 60, 1)):
    """Each second at which date or offset are others than a second before."""
    step, finer = steps[0], steps[1:]
    before = shown(tz, begin)
    for second in range(begin + step, end + 1, step):
        after = shown(tz, second)
        if after != before:
            if finer:
                yield from changes(tz, second - step, second, finer)
            else:
                yield second, before, after
        before = after


def zone(name, first_year, end_year):
    with open(HERE / "zoneinfo" / name, "rb") as f:
        tz = zoneinfo.ZoneInfo.from_file(f)
    first, end = datetime.date(first_year, 1, 1), datetime.date(end_year, 1, 1)
    utc = datetime.timezone.utc
    begin = int(datetime.datetime(first_year, 1, 1, tzinfo=utc).timestamp()) - 2 * 86400
    finish = int(datetime.datetime(end_year, 1, 1, tzinfo=utc).timestamp()) + 2 * 86400

    # A day starts when the date shown gets to it, or past it, for the last time.
    starts, offsets = {}, []
    for second, (date, offset), (new_date, new_offset) in changes(tz, begin, finish):
        while date < new_date:
            date += ONE_DAY
            starts[date] = second
        if offset != new_offset:
            offsets.append((second, new_offset))

    yield f"zone {name} {first} {end} {starts[first]} {shown(tz, starts[first])[1]}"
    for second, offset in offsets:
        if starts[first] < second < starts[end]:
            yield f"at {second} {offset}"
    date = first
    while date < end:
        length = starts[date + ONE_DAY] - starts[date]
        if length != 86400:
            yield f"day {date} {length}"
        date += ONE_DAY


def weeks(first_year, last_year):
    mondays, last = {}, {}
    date = datetime.date(first_year - 1, 12, 1)
    while date.year <= last_year + 1:
        year, week, weekday = date.isocalendar()
        if week == 1 and weekday == 1:
            mondays[year] = date
        last[year] = week
        date += ONE_DAY
    for year in range(first_year, last_year + 1):
        yield f"{year} {mondays[year]} {last[year]}"


def write(name, lines):
    (HERE / name).write_text("\n".join(lines) + "\n")


write("days.txt", [line for name, years in ZONES.items() for line in zone(name, *years)])
write("weeks.txt", weeks(1900, 2300))
