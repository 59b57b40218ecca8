"""Structured identifiers: each has a form, most have a check digit."""

from __future__ import annotations

import ipaddress
import re

from transforms.privacy import shapes
from transforms.privacy.coined import is_coined
from transforms.privacy.gates import digits
from transforms.privacy.lexicon import uncommon
from transforms.privacy.names import is_odd
from transforms.privacy.rule import CLOSE, END, OPEN, START, Rule
from transforms.privacy.words import known_names, things, words

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.?"
)
DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}|"
    r"\d{4}년\s?\d{1,2}월\s?\d{1,2}일|(?:19|20)\d{6})(?!\d)"
)
_CARD_RANGES = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|"
    r"35\d{14}|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}|9999\d{8,15}"
)
_NOT_HOMES = frozenset(
    words(
        "user users ubuntu runner root shared public admin node app vscode ec2-user jovyan work default guest test dev "
        "docker coder circleci vagrant pi me you username youruser your-user"
    )
)


def _card(text: str) -> bool:
    plain = re.sub(r"\D", "", text)
    return _CARD_RANGES.fullmatch(plain) is not None and shapes.luhn(plain) == 0


def _iban(text: str) -> bool:
    plain = text.replace(" ", "").upper()
    turned = "".join(str(int(char, 36)) for char in plain[4:] + plain[:4])
    return int(turned) % 97 == 1 or plain[2:4] == "00"


_IBAN_SIZES = dict(
    item.split("=")
    for item in words(
        "AT=20 BE=16 BG=22 CH=21 CY=28 CZ=24 DE=22 DK=18 EE=20 ES=24 FI=18 FR=27 GB=22 GR=27 HR=21 HU=28 IE=22 IT=27 "
        "LT=20 LU=20 LV=21 MT=31 NL=18 NO=15 PL=28 PT=25 RO=24 SE=24 SI=19 SK=24 TR=26"
    )
)


def _small_iban(text: str) -> bool:
    """An IBAN of the length that its country gives it: hashes are written in small letters, too."""
    return _IBAN_SIZES.get(text[:2].upper()) == str(len(text)) and _iban(text)


def _ssn(text: str) -> bool:
    plain = re.sub(r"\D", "", text)
    return plain[:3] not in ("000", "666") and plain[3:5] != "00" and plain[5:] != "0000" or plain[0] == "9"


def _public_ip(text: str) -> bool:
    """Whether an address can be a person's: those of private networks, hosts and groups cannot."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.version == 6 and len(text) < 7:
        return False
    if any(address in network for network in _OURS_AND_PRIVATE):
        return False
    return not (address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast)


_OURS_AND_PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "255.255.255.0/24", "0.0.0.0/8")
)


def _resident(text: str) -> bool:
    plain = re.sub(r"\D", "", text)
    month, day = int(plain[2:4]), int(plain[4:6])
    return 1 <= month <= 13 and 1 <= day <= 31 or month == 13


def _resident_checked(text: str) -> bool:
    weighted = sum(
        int(digit) * weight for digit, weight in zip(text, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), strict=False)
    )
    return _resident(text) and (11 - weighted % 11) % 10 == int(text[12])


_OF_CODE = re.compile(r"(?:self|cls|args|options|config|settings|request|response|os|sys|this|ctx|env)\.|_")


def _account(text: str) -> bool:
    return (
        _OF_CODE.match(text) is None
        and re.search(r"[\d_.@]", text) is not None
        and re.fullmatch(r"[\d.]+|\d{4}-\d\d-\d\d.*", text) is None
    )


def _handle(text: str) -> bool:
    """Whether a word is somebody's handle rather than a number, a hash, a word of a language or a technical term."""
    if text.isdigit() or re.fullmatch(r"(?i)[0-9a-f-]{16,}|v?\d[\d.]*", text) or not _home(text):
        return False
    parts = [part.lower() for part in re.findall(r"[^\W\d_]{3,}", text)]
    return any(uncommon(part) and part not in things() for part in parts)


def _two_names(text: str) -> bool:
    parts = re.findall(r"[a-z]+", text)
    return all((uncommon(part) and part not in things()) or is_coined(part) for part in parts)


def _names_in_handle(text: str) -> bool:
    parts = re.findall(r"[a-z]+", text)
    return len(parts) > 1 and (parts[0] in known_names() or all(map(is_odd, parts))) and _home(text)


def _home(text: str) -> bool:
    return text.lower() not in _NOT_HOMES


RULES = (
    Rule(
        "EMAIL_ADDRESS",
        "e-mail address",
        r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ_.+'-]{0,63}[A-Za-z0-9À-ɏ_])?"
        r"(?<!://[^\s/@]{0,99}:[^\s/@]{0,99})(?:@|%40)"
        r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){0,8}[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]",
        1.0,
        ("@", "%40"),
        valid=lambda text: "." in re.split("@|%40", text)[1] or text.endswith("@localhost"),
    ),
    Rule(
        "EMAIL_ADDRESS",
        "e-mail address in words",
        r"(?i)(?<![\w.+-])[\w+-]{1,40}(?:\.[\w+-]{1,40}){0,4}\s?[\[({]\s?(?:at|@)\s?[\])}]\s?[a-z0-9-]{1,40}"
        r"(?:\s?(?:[\[({]\s?(?:dot|\.)\s?[\])}]|\.)\s?[a-z0-9-]{2,40}){1,4}(?![\w-])",
        0.85,
        ("at]", "at)", "at}", "[ at", "@]", "@)"),
    ),
    Rule(
        "CREDIT_CARD",
        "card number",
        r"(?<![A-Za-z0-9.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ -])\d{6}\2\d{4,5}|\d{13,19})"
        r"(?![A-Za-z0-9]|-\d)",
        1.0,
        valid=_card,
    ),
    Rule(
        "CREDIT_CARD",
        "card number of an unlisted range",
        START + r"[1-9]\d{11,18}" + END,
        0.3,
        context=words("card cc visa mastercard maestro amex 카드"),
        valid=lambda text: shapes.luhn(text) == 0,
    ),
    Rule(
        "IBAN_CODE", "iban", OPEN + r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?" + CLOSE, 1.0, valid=_iban
    ),
    Rule("IBAN_CODE", "iban in small letters", OPEN + r"[a-z]{2}\d{2}[a-z0-9]{11,30}" + CLOSE, 0.9, valid=_small_iban),
    Rule(
        "US_SSN",
        "social security number",
        r"(?<![A-Za-z0-9.+-])\d{3}([- ])\d{2}\1\d{4}(?![A-Za-z0-9]|[-.]\d)",
        0.85,
        valid=_ssn,
    ),
    Rule(
        "US_SSN",
        "social security number, bare",
        START + r"\d{9}" + END,
        0.2,
        context=("ssn", "social security", "social"),
        valid=_ssn,
    ),
    Rule(
        "IP_ADDRESS",
        "ipv4",
        r"(?<![A-Za-z0-9.-])(?<!(?:version|release)[ :=])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|"
        r"2[0-4]\d|1?\d?\d)(?![A-Za-z0-9]|\.\d|-\d|(?<=\.(?:0|64|128|192))/\d{1,2}(?!\d))",
        0.8,
        (".",),
        valid=_public_ip,
    ),
    Rule(
        "IP_ADDRESS",
        "ipv6",
        r"(?<![A-Za-z0-9_:.])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4}){0,6}(?![A-Za-z0-9_:])|"
        r"(?<![A-Za-z0-9_:.])[0-9A-Fa-f]{1,4}::(?:[0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}(?![A-Za-z0-9_:])",
        0.8,
        (":",),
        valid=_public_ip,
    ),
    Rule(
        "MAC_ADDRESS",
        "mac",
        r"(?<![A-Za-z0-9_:-])[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![A-Za-z0-9_]|[:-][0-9A-Fa-f])",
        0.9,
        (":", "-"),
        valid=lambda text: len(set(re.sub("[:-]", "", text.lower()))) > 1,
    ),
    Rule(
        "MAC_ADDRESS",
        "mac in three parts",
        START + r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}" + r"(?![A-Za-z0-9_]|\.\d)",
        0.8,
        (".",),
        valid=lambda text: re.search("[A-Fa-f]", text) is not None,
    ),
    Rule(
        "KR_RRN",
        "resident registration number",
        r"(?<![A-Za-z0-9.-])\d{6}\s?[-–]\s?[1-8]\d{6}(?![A-Za-z0-9]|-\d)",
        0.95,
        valid=_resident,
    ),
    Rule(
        "KR_RRN",
        "resident registration number, solid",
        START + r"\d{6}[1-8]\d{6}" + END,
        0.3,
        context=("주민", "rrn", "resident"),
        valid=_resident_checked,
    ),
    Rule(
        "DATE_OF_BIRTH",
        "date after birth",
        r"(?i)(?:date[ _]of[ _]birth|birth[ _]?da(?:te|y)|(?<![a-z])d\.?o\.?b\.?|(?<![a-z])born(?: on)?(?: the)?|"
        r"생년월일|생일)[\"'*_`)\s]{0,6}(?:is|was|:|=|은|는)?"
        rf"[\"'*_`(\s]{{0,6}}(?P<v>{DATE})",
        0.9,
        ("birth", "dob", "d.o.b", "born", "생년월일", "생일"),
    ),
    Rule(
        "USER_ID",
        "account after its label",
        r"(?i)(?<![a-z])(?:user[ _-]?(?:id|name)|username|userid|login(?: name| id)?|account (?:id|name)|"
        r"user(?==)|아이디)[\"'*_`) \t]{0,6}"
        r"(?:is|:|=|as|는|은)?[\"'*_`( \t]{0,6}(?P<v>[A-Za-z0-9][\w.@-]{1,62}\w)(?![\w(\[])",
        0.8,
        ("user", "login", "account", "아이디"),
        valid=_account,
    ),
    Rule(
        "USER_ID",
        "owner of a task in code",
        r"(?:TODO|FIXME|XXX|HACK)\((?P<v>[A-Za-z][\w.@-]{2,40})\)",
        0.7,
        ("todo(", "fixme(", "xxx(", "hack("),
        valid=_handle,
    ),
    Rule(
        "USER_ID",
        "person's page",
        r"(?i)/(?:users?|contacts?|customers?|members?|people|persons?|profiles?|accounts?|patients?|employees?|u|~)/@?"
        r"(?P<v>[A-Za-z][\w.@-]{2,60}\w)(?=[/?#\s\"'&),;]|$)",
        0.7,
        ("/",),
        valid=_handle,
    ),
    Rule(
        "USER_ID",
        "logged in or out",
        r"(?i)(?:accepted|failed) \w{3,20}(?:/\w+)? for (?:invalid user )?(?P<v>[A-Za-z][\w.@-]{1,40}) from|"
        r"session (?:opened|closed) for user (?P<v>[A-Za-z][\w.@-]{1,40})|"
        r"(?<![a-z])su(?:do)?: +(?P<v>[A-Za-z][\w.@-]{1,40}) : ",
        0.75,
        ("accepted ", "failed ", "session ", "sudo: ", "su: "),
        valid=_home,
    ),
    Rule(
        "USER_ID",
        "handle",
        r"(?<![\w@./])@(?P<v>[a-z]{2,20}(?:[._-]?[a-z]{2,20}){1,2}[._-]?\d{0,6})(?![\w@(]|\.\w)",
        0.65,
        ("@",),
        valid=_names_in_handle,
    ),
    Rule(
        "USER_ID",
        "access log",
        r"(?m)^\S{7,60} \S{1,40} (?P<v>[A-Za-z][\w.@-]{1,60}) \[\d\d/[A-Z][a-z]{2}/\d{4}:",
        0.75,
        ('] "',),
        valid=_home,
    ),
    Rule(
        "USER_ID",
        "two names and a number",
        r"(?<![\w.@/:-])[a-z]{3,20}[._-][a-z]{3,20}(?:-[a-z]{3,20})?[._-]?\d{2,6}(?![\w@-]|\.\d)",
        0.6,
        valid=_two_names,
        gate=lambda text: digits(text) >= 2,
    ),
    Rule(
        "USER_ID",
        "home folder",
        r"(?:/home/|/Users/|\\Users\\)(?P<v>[A-Za-z][\w.-]{1,31})(?=[/\\\s\"':,)]|$)",
        0.8,
        ("/home/", "/users/", "\\users\\"),
        valid=_home,
    ),
)
