# ruff: noqa: E501  (one rule a line reads best)
"""Ids of citizens, drivers, travellers, patients, accounts and cars: by their form and check digit, or by their label."""

from __future__ import annotations

import re
from collections.abc import Callable

from transforms.privacy import check_digits
from transforms.privacy.gates import digits
from transforms.privacy.rule import CLOSE, END, OPEN, START, Rule
from transforms.privacy.words import words

_IS = r"(?:\s?(?:number|no\.?|nr\.?|num|code|id|card|번호|#))*[\"'*_`)\]]{0,3}\s{0,2}(?:is|was|are|reads|es|est|ist|lautet|è|é|:|=|#|은|는|이|가)?\s{0,2}[:\"'*_`(#]{0,3}\s{0,2}"
_SOLID = r"(?P<v>(?=[A-Za-z-]{0,8}\d)(?=(?:[A-Za-z-]*\d){4})[A-Za-z0-9](?:-?[A-Za-z0-9]){4,24})"
_NUMBER = r"(?P<v>\d(?:[ -]?\d){5,19})"

_NATIONAL = (
    r"(?:national (?:id(?:entity|entification)?|insurance)|identity card|id card|identification|citizen(?:ship)? id|social (?:insurance|security)|"
    r"tax(?:payer)?(?: identification| id)?|tin|nino|ni|sin|dni|nie|nif|nir|cpf|curp|rfc|pesel|nric|fin|bsn|tckn|hetu|cpr|aadhaar|uidai|pan|personnummer|"
    r"fødselsnummer|steuer-?id(?:entifikationsnummer)?|steuernummer|personalausweis(?:nummer)?|codice fiscale|carta d'identità|sécurité sociale|"
    r"seguridad social|my number|nhs|medicare|mbi|medicaid|health (?:card|insurance)|insurance (?:policy|member)|mrn|medical record|patient)"
)
_PASSPORT = r"(?:passport|reisepass(?:nummer)?|passeport|pasaporte|passaporto|여권(?:번호)?)"
_DRIVER = r"(?:driver'?s?’?s? licen[cs]e|driving licen[cs]e|licen[cs]e(?= n)|führerschein(?:nummer)?|permis de conduire|운전면허(?:증)?(?:번호)?)"
_PLATE = r"(?:licen[cs]e plate|number plate|plate(?: number| no\.?)|plates?|vehicle registration|registration plate|kennzeichen|차량(?:번호)?|차번호|번호판)"
_ACCOUNT = (
    r"(?:(?:bank |checking |savings |current |deposit )?acc(?:oun)?t(?: number| no\.?| nr\.?| #)|bank account|(?:aba )?routing(?: number| no\.?| code)?|"
    r"sort code|transit(?: number)|kontonummer|numéro de compte|número de cuenta|bsb|(?:계좌|통장)(?:번호)?(?:[은는:]?\s?[가-힣A-Z]{2,6}(?=\s?\d))?)"
)
_KOREAN_BANK = r"(?:은행|뱅크|농협|수협|신협|새마을금고|우체국|증권)"


def _digits(least: int) -> Callable[[str], bool]:
    """A test that a code is no date, word or version: enough digits, and no small letters between them."""

    def enough(text: str) -> bool:
        dated = re.fullmatch(r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}", text)
        return sum(char.isdigit() for char in text) >= least and not dated and re.search(r"[a-z]{3}", text) is None

    return enough


def _labelled(name: str, label: str, value: str, anchors: str, least: int = 5, score: float = 0.8) -> Rule:
    pattern = rf"(?i:(?<![^\W_]){label}{_IS}){value}(?![A-Za-z0-9])"
    return Rule(
        "ID_NUMBER", name, pattern, score, words(anchors), _digits(least), gate=lambda text: digits(text) >= least
    )


def _formed(
    name: str, pattern: str, valid: Callable[[str], bool] | None, context: str = "", score: float = 0.7
) -> Rule:
    """An id known by its form; with `context`, only near one of its words."""
    return Rule("ID_NUMBER", name, pattern, 0.2 if context else score, (), valid, words(context))


# fmt: off
RULES = (
    _labelled("national id after its label", _NATIONAL, _SOLID, "id tax tin ni sin nie nif nir cpf curp rfc pesel fin bsn tckn hetu cpr aadhaar uidai pan personnummer nummer codice carta sociale social my nhs medic mbi health insur mrn patient"),
    _labelled("passport after its label", _PASSPORT, _SOLID, "pass pasa reisepass 여권"),
    _labelled("driver's licence after its label", _DRIVER, _SOLID, "licen führerschein permis 운전면허"),
    _labelled("bank account after its label", _ACCOUNT, _NUMBER, "acc rout sort transit konto compte cuenta bsb 계좌 통장"),
    Rule("ID_NUMBER", "plate after its label", rf"(?i:(?<![^\W_]){_PLATE}{_IS})(?P<v>(?=[A-Z가-힣 -]{{0,8}}\d)[A-Z0-9]{{1,4}}(?:[가-힣]\s?\d{{4}}|(?:[ -]?[A-Z0-9]{{1,5}}){{1,3}}))(?![A-Za-z0-9])", 0.75, words("plate registr kennzeichen 차량 차번호 번호판"), _digits(2)),
    Rule("ID_NUMBER", "korean account after its bank", rf"{_KOREAN_BANK}\s{{0,2}}(?:계좌(?:번호)?)?[\s:은는(]{{0,3}}(?P<v>\d{{2,6}}(?:-\d{{2,7}}){{1,3}})(?![\d-])", 0.8, words("은행 뱅크 농협 수협 신협 금고 우체국 증권"), _digits(9)),
    Rule("ID_NUMBER", "korean plate", r"(?:(?<![가-힣])(?:서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충북|충남|전북|전남|경북|경남|제주)\s?|(?<![0-9가-힣A-Za-z-]))(?P<v>\d{2,3}[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주바사아자배허하호]\d{4})(?![\d년월일원개명번])", 0.6),
    Rule("ID_NUMBER", "korean driver's licence", r"(?<![\d-])(?:1[1-9]|2[0-8])-\d{2}-\d{6}-\d{2}(?![\d-])", 0.75, ("-",)),
    Rule("ID_NUMBER", "korean passport", START + r"[MSRGD](?:\d{8}|\d{3}[A-Z]\d{4})" + END, 0.2, context=words("여권 passport")),
    Rule("ID_NUMBER", "korean business number", r"(?<![\d-])\d{3}-\d{2}-\d{5}(?![\d-])", 0.7, ("-",), check_digits.korean_business),
    Rule("ID_NUMBER", "korean business number near its label", r"(?<![\d-])\d{3}-?\d{2}-?\d{5}(?![\d-])", 0.2, context=words("사업자 business")),
    _formed("uk nino", OPEN + r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D]" + CLOSE, None),
    _formed("canadian sin", r"(?<![\d-])\d{3}([ -])\d{3}\1\d{3}(?![\d-])", check_digits.luhn, "sin insurance assurance nas", 0.7),
    _formed("aadhaar", r"(?<![\d-])[2-9]\d{3}([ -])\d{4}\1\d{4}(?![ -]?\d)", check_digits.verhoeff, score=0.6),
    _formed("aadhaar, solid", START + r"[2-9]\d{11}" + END, check_digits.verhoeff, "aadhaar uidai आधार"),
    _formed("indian pan", OPEN + r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]" + CLOSE, None, score=0.6),
    _formed("spanish dni", r"(?<![A-Za-z0-9.,])(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]" + r"(?![A-Za-z0-9]|[+-]\d)", check_digits.dni),
    _formed("french nir", r"(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\d)", check_digits.nir, "sécu social nir insee carte vitale"),
    _formed("french nir, parted", r"(?<!\d)[12] \d{2} (?:0[1-9]|1[0-2]) (?:\d{2}|2[AB]) \d{3} \d{3} \d{2}(?!\d)", check_digits.nir),
    _formed("codice fiscale", r"(?i)" + OPEN + r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]" + CLOSE, check_digits.codice_fiscale),
    _formed("cpf", r"(?<![\d.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\d-])", check_digits.cpf),
    _formed("cpf, solid", START + r"\d{11}" + END, check_digits.cpf, "cpf contribuinte"),
    _formed("curp", OPEN + r"[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d" + CLOSE, None),
    _formed("nric", OPEN + r"[STFGM]\d{7}[A-Z]" + CLOSE, check_digits.nric),
    _formed("pesel", START + r"\d{11}" + END, check_digits.pesel, "pesel"),
    _formed("personnummer", r"(?<![\d-])(?:19|20)?\d{6}[-+]\d{4}(?![\d-])", check_digits.personnummer),
    _formed("chinese resident id", START + r"[1-8]\d{5}(?:19|20)\d{9}[\dXx]" + END, check_digits.resident_id),
    _formed("hetu", OPEN + r"\d{6}[-+A]\d{3}[0-9A-Y]" + CLOSE, check_digits.hetu),
    _formed("swiss ahv", r"(?<![\d.])756\.\d{4}\.\d{4}\.\d{2}(?![\d.])", None),
    _formed("hong kong id", OPEN + r"[A-Z]{1,2}\d{6}\([0-9A]\)", None),
    _formed("nhs number", r"(?<![\d-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\d-])", check_digits.nhs, "nhs"),
    _formed("routing number", START + r"\d{9}" + END, check_digits.aba, "routing aba wire"),
    _formed("my number", START + r"\d{4}[ -]?\d{4}[ -]?\d{4}" + END, None, "マイナンバー 個人番号"),
)
# fmt: on
