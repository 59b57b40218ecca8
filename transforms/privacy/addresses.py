"""Street addresses of the US, the UK and Korea, and postal codes where something says that they are."""

from __future__ import annotations

from transforms.privacy.rule import END, START, Rule
from transforms.privacy.shapes import STATES

_KIND = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Terrace|Ter|Circle|Cir|Highway|"
    r"Hwy|Parkway|Pkwy|Trail|Trl|Square|Sq|Loop|Alley|Crescent|Close|Mews|Gardens|Grove|Row|Walk|Plaza|Pike|Run|Path|Hill)"
)
_WAY = r"(?:[NSEW]{1,2}\.?|North|South|East|West)"
_WORD = r"(?:[A-Z][A-Za-z'’.-]{1,20}|\d{1,3}(?:st|nd|rd|th))"
_UNIT = r"(?:,?\s+(?:Apt|Apartment|Suite|Ste|Unit|Floor|Fl|Room|Rm|#)\.?\s{0,2}#?[A-Za-z]?\d{1,5}[A-Za-z]?)?"
_STATE = "(?:" + "|".join(sorted(STATES)) + ")"
_CITY = rf"(?:,\s{{0,2}}[A-Z][A-Za-z .'-]{{1,30}},?\s{{1,2}}{_STATE}(?:\s{{1,2}}\d{{5}}(?:-\d{{4}})?)?(?![A-Za-z0-9]))?"
_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}"
_REGION = (
    r"(?:서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충북|충남|전북|전남|경북|경남|제주|충청북|"
    r"충청남|전라북|전라남|경상북|경상남)[가-힣]{0,5}"
)
_ZIP_WORDS = ("zip", "postal", "postcode", "post code", "우편번호")

RULES = (
    Rule(
        "STREET_ADDRESS",
        "street line",
        rf"(?<![A-Za-z0-9_.,$#-])\d{{1,6}}[A-Za-z]?\s{{1,2}}(?:{_WAY}\s)?{_WORD}(?:\s{_WORD}){{0,3}}\s{_KIND}(?![A-Za-z0-9_])\.?(?:\s{_WAY}(?![A-Za-z]))?"
        rf"{_UNIT}{_CITY}(?:,\s?[A-Z][a-z]{{2,20}}(?:,)?\s{_POSTCODE}{END})?",
        0.8,
    ),
    Rule("STREET_ADDRESS", "post box", START + r"P\.?\s?O\.?\s?Box\s\d{1,7}" + END, 0.8, ("box",), ignore_case=True),
    Rule(
        "STREET_ADDRESS",
        "korean road",
        rf"{_REGION}\s+(?:[가-힣]{{1,8}}(?:시|군|구|읍|면)\s+){{0,3}}[가-힣0-9·]{{1,15}}(?:대로|로|길|동|리)(?:\s?\d{{1,4}}번길)?\s{{0,2}}\d{{1,4}}(?:-\d{{1,4}})?"
        r"(?:,?\s{0,2}(?:[가-힣A-Za-z0-9]{1,12}(?:아파트|빌라|빌딩|타워)\s{0,2})?(?:[0-9A-Za-z가-힣]{1,5}동\s{0,2})?(?:\d{1,5}호|\d{1,3}층)?)?",
        0.8,
        ("로", "길", "동", "리"),
    ),
    Rule(
        "ZIP_CODE",
        "postal code after its state",
        rf"(?<![A-Za-z0-9_]){_STATE},?\s{{1,2}}(?P<v>\d{{5}}(?:-\d{{4}})?){END}",
        0.7,
    ),
    Rule(
        "ZIP_CODE",
        "postal code near its label",
        START + rf"(?:\d{{5}}(?:-\d{{4}})?|{_POSTCODE}|[A-Z]\d[A-Z] \d[A-Z]\d){END}",
        0.2,
        context=_ZIP_WORDS,
    ),
)
