"""Dates of birth: how they are written, and what is left of them: the year."""

from __future__ import annotations

import re
from datetime import date

from transforms.privacy.words import words

MONTHS = words("January February March April May June July August September October November December")
OLDEST_YEAR = 1936  # older people are few enough to be found by their age alone (45 CFR 164.514(b)(2)(i)(C))
_NUMERIC = re.compile(r"(?P<a>\d{1,4})(?P<s>[-/. ])(?P<b>\d{1,2})(?P=s)(?P<c>\d{1,4})(?P<rest>(?:[T ].*)?)", re.DOTALL)
_NAMED = re.compile(r"[^\W\d_]{3,9}\.?", re.UNICODE)
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>[0-2]\d|3[01])")
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(st|nd|rd|th)?(?!\d)")
_NUMBER = re.compile(r"\d+")
_BESIDE = frozenset(words("of st nd rd th"))
_UNAMBIGUOUS = (
    re.compile(r"(?P<y>\d{4})[-/.년]\s?(?P<m>\d{1,2})[-/.월]\s?(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?!\d)"),
    re.compile(r"(?P<m>[A-Za-z]{3,9})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})"),
    re.compile(r"(?P<d>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?P<m>[A-Za-z]{3,9})\.?,? (?P<y>\d{4})"),
)
_KOREAN = re.compile(r"(?P<year>\d{4})년(?P<s>\s*)\d{1,2}월(?P<t>\s*)\d{1,2}일")


def year_only(text: str) -> str:
    """`text` as the first of January of its year, written the same way; '' where it holds no year."""
    if numeric := _NUMERIC.fullmatch(text):
        return _numeric(numeric)
    if compact := _COMPACT.fullmatch(text):
        return f"{_clamp(compact['year'])}0101"
    if korean := _KOREAN.fullmatch(text):
        return f"{_clamp(korean['year'])}년{korean['s']}1월{korean['t']}1일"
    year = _YEAR.search(text)
    if not year:
        return ""
    named = _names_month(text)
    if not named:
        return _clamp(year.group())
    month = "January" if len(named.group().rstrip(".")) > 3 or named.group() == "May" else "Jan"
    made = text.replace(named.group(), month).replace(year.group(), _clamp(year.group()))
    return _first_day(made)


def _names_month(text: str) -> re.Match[str] | None:
    """The month in a text that is a day, or a month of a year, in words, and nothing else."""
    named = _NAMED.search(text)
    others = re.findall(r"[^\W\d_]+", text.lower())[:8]
    plain = len(_NUMBER.findall(text)) <= 2 and len(set(others) - _BESIDE) == 1
    return named if named and plain and _month(named.group()) else None


def _first_day(text: str) -> str:
    return _DAY.sub(lambda day: "1st" if day[1] else "1", text, count=1)


def _numeric(found: re.Match[str]) -> str:
    sep, a, c = found["s"], found["a"], found["c"]
    tail = _midnight(found)
    if len(a) == 4:
        return f"{_clamp(a)}{sep}{_one(found['b'])}{sep}{_one(c)}{tail}"
    if len(c) in (2, 4):
        year = _clamp(c) if len(c) == 4 else c
        return f"{_one(a)}{sep}{_one(found['b'])}{sep}{year}{tail}"
    return ""


def _midnight(found: re.Match[str]) -> str:
    return "T00:00:00" if found["rest"].startswith("T") else ""


def _one(text: str) -> str:
    return "1".zfill(len(text))


def _clamp(year: str) -> str:
    return str(max(int(year), OLDEST_YEAR))


def month_only(text: str) -> str:
    """`text` as the first day of its month; as `year_only` where the month cannot be told from the day, or was long
    ago."""
    made = _month_kept(text)
    year = re.search(r"(?:1[89]|20)\d\d", made)
    return made if year and int(year.group()) >= OLDEST_YEAR else year_only(text)


def _month_kept(text: str) -> str:
    if numeric := _NUMERIC.fullmatch(text):
        year, sep, month, day = numeric["a"], numeric["s"], numeric["b"], numeric["c"]
        return (
            f"{year}{sep}{month}{sep}{_one(day)}{_midnight(numeric)}"
            if len(year) == 4 and 1 <= int(month) <= 12
            else ""
        )
    if compact := _COMPACT.fullmatch(text):
        return f"{compact['year']}{compact['month']}01"
    if _KOREAN.fullmatch(text):
        return re.sub(r"\d{1,2}일", "1일", text)
    return _first_day(text) if _YEAR.search(text) and _names_month(text) else ""


def decade_only(text: str) -> str:
    """`text` as the first of January of the first year of its decade; '' where it holds no year."""
    year = year_only(text)
    if _COMPACT.fullmatch(year):
        return f"{year[:3]}00101"
    if _YEAR.search(year):
        return _YEAR.sub(lambda found: f"{found.group()[:3]}0", year)
    return re.sub(r"\d(?=\D*$)", "0", year)


def parse(text: str) -> date | None:
    """The day that `text` names in an unambiguous form, else None."""
    for form in _UNAMBIGUOUS:
        if found := form.match(text.strip()):
            month = found["m"] if found["m"].isdigit() else _month(found["m"])
            try:
                return date(int(found["y"]), int(month), int(found["d"]))
            except ValueError:
                return None
    return None


def _month(name: str) -> int:
    short = [month[:3].lower() for month in MONTHS]
    return short.index(name[:3].lower()) + 1 if name[:3].lower() in short else 0


def spellings(day: date) -> list[str]:
    """How else people write a day: the searches that a known date of birth needs."""
    month, short = MONTHS[day.month - 1], MONTHS[day.month - 1][:3]
    d, m, y = day.day, day.month, day.year
    suffix = "th" if 10 < d < 20 else {1: "st", 2: "nd", 3: "rd"}.get(d % 10, "th")
    named = [
        f"{name} {number}{comma} {y}"
        for name in (month, short)
        for number in (f"{d}", f"{d:02d}", f"{d}{suffix}")
        for comma in (",", "")
    ]
    turned = [
        f"{number} {of}{name} {y}"
        for name in (month, short)
        for number in (f"{d}", f"{d}{suffix}")
        for of in ("", "of ")
    ]
    numeric = [
        f"{m:02d}/{d:02d}/{y}",
        f"{m}/{d}/{y}",
        f"{d:02d}/{m:02d}/{y}",
        f"{d}/{m}/{y}",
        f"{m:02d}-{d:02d}-{y}",
        f"{d:02d}.{m:02d}.{y}",
        f"{y}-{m:02d}-{d:02d}",
        f"{y}/{m:02d}/{d:02d}",
        f"{y}.{m:02d}.{d:02d}",
        f"{y}년 {m}월 {d}일",
        f"{y}년{m}월{d}일",
        f"{y}{m:02d}{d:02d}",
    ]
    return list(dict.fromkeys([*named, *turned, *numeric]))
