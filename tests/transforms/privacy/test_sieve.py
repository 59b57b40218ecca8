"""The sieve holds back no rule that would find something."""

from __future__ import annotations

import json
import random

import pytest
import re2
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.privacy.traces import trace
from transforms.privacy import weak_types
from transforms.privacy.detector import RULES, sieve
from transforms.privacy.gates import LEAST_DIGITS, digits
from transforms.privacy.pattern_parts import Unreadable
from transforms.privacy.rule import THRESHOLD, Rule
from transforms.privacy.sieve import Sieve
from transforms.privacy.weakened import weakened

ENTITIES = sorted({rule.entity for rule in RULES})
ODD_BLANKS = "\t\n\r\x0b\x1c\x85\xa0\u2003\u3000"
FOLDED = {"k": "\u212a", "s": "\u017f", "i": "\u0131", "I": "\u0130"}


def texts(seed: int, count: int) -> list[str]:
    """Stretches of generated traces, put together, in other cases, with odd blanks and letters that fold to others."""
    rng = random.Random(seed)
    whole = [json.dumps(value, ensure_ascii=False) for number in range(6) for value in trace(rng, number + 1).values]
    made = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(1, 5)):
            text = rng.choice(whole)
            at = rng.randrange(len(text))
            parts.append(_odd(rng, text[at : at + rng.randrange(1, 150)]))
        made.append(rng.choice(["", " ", "\n", ", ", "님 "]).join(parts))
    return made


def _odd(rng: random.Random, text: str) -> str:
    kind = rng.randrange(8)
    if kind == 0:
        return "".join(rng.choice(ODD_BLANKS) if char == " " else char for char in text)
    if kind == 1:
        return "".join(FOLDED.get(char, char) for char in text)
    return [text.upper, text.lower, text.title, text.strip, text.strip, text.strip][kind - 2]()


def finds(rule: Rule, text: str) -> bool:
    """Whether a rule's pattern finds something where its anchors and the digits of its type are there."""
    lowered = text.lower()
    if digits(text) < LEAST_DIGITS.get(rule.entity, 0):
        return False
    wanted = [words for words in (rule.anchors, rule.context if rule.score < THRESHOLD else ()) if words]
    if not all(any(word in lowered for word in words) for words in wanted):
        return False
    return rule.pattern.search(text) is not None


def test_no_rule_that_finds_something_is_held_back() -> None:
    tried = found = 0
    for text in texts(7, 500):
        chances = sieve().chances(text)
        tried += sum(len(chances.of(entity)) for entity in ENTITIES)
        for rule in RULES:
            if finds(rule, text):
                found += 1
                assert rule in chances.of(rule.entity), (rule.name, text)
    assert found > 500 and tried < 500 * len(RULES) / 10


def test_rules_keep_their_order() -> None:
    for text in texts(11, 100):
        chances = sieve().chances(text)
        for rules in map(chances.of, ENTITIES):
            assert [rule for rule in RULES if rule in rules] == rules


def test_an_automaton_that_gives_up_lets_all_through() -> None:
    mine = Sieve(RULES)
    for family in mine._families:
        family._automaton = re2.Set.SearchSet()
        family._automaton.Add("no text holds this")
        family._automaton.Compile()
    chances = mine.chances("my ssn is 123-45-6789, card 4111 1111 1111 1111")
    wanted = [rule for rule in RULES if rule.entity == "US_SSN"]
    assert len(wanted) == 2 and chances.of("US_SSN") == wanted


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<![A-Za-z])(?:Mr|Dr)\.? (?P<v>\p{Lu}\p{Ll}+)(?!\w)", "to Dr Ňovák!"),
        (r"(?i)kelvin\s{1,3}\d{2,40}", "KELVIN\x0b123456789"),
        (r"(\d{4})([ -]?)\d{4}\2\d{4}(?![\d-])", "1234-5678-9012"),
        (r"(?<=[>|])(?P<v>a+)(?=[<|])|\A(?P<v>b{2,})\Z", "bbb"),
        (r"(?>a|ab)c{20,30}?[^\W\d_]", "a" + "c" * 20 + "d"),
        (r"(?m)^\S{3,}+\t.$", "x\nabcd\t\u2003"),
        (r"(?:(?P<v>a)|(?P<v>b))(c)\2", "acc"),
        (r"(?:(?P<v>a)|(?P<v>b))x\1", "bxb"),
        (r"\u3131x", "\u3131x"),
        (r"[\u3131-\u3163_]x", "\u3132x"),
        (r"\xe9x", "éx"),
        (r"(?<!(?:ab|c))[\]\\x-z]\x41(?s:.)", "]A\n"),
    ],
)
def test_a_weaker_pattern_finds_what_the_pattern_finds(pattern: str, text: str) -> None:
    rule = Rule("X", "x", pattern)
    assert rule.pattern.search(text) is not None
    assert re2.search(weakened(pattern, only_ascii=rule.only_ascii), text) is not None
    assert re2.search(weakened(pattern, only_ascii=rule.only_ascii), "-") is None


UNKNOWN = [
    "a(?i)b", "(?P>x)", "(a", "a)", r"(?(1)a|b)", "xa{,3}b", "x{e<=1}", "(?:abc){e<=1}", "a{b", r"\p{Hangul}",
    r"\ma", r"\X", r"\R", r"\Ka", r"\pL", r"\x{41}", r"\N{DIGIT ONE}", r"\1(a)", r"\0", r"(a)\12", "[[:alpha:]]x",
    r"(a)(?i:\1)", r"(?:(?P<v>a)\1|(?P<v>b))c",
]  # fmt: skip


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_what_is_not_known_is_not_weakened(pattern: str) -> None:
    with pytest.raises(Unreadable, match="at [0-9]|empty"):
        weakened(pattern)


PIECES = st.lists(
    st.sampled_from(
        ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\W", "(a)", "(?P<v>a|b)", "(?i:B", "(?:", "(", ")", "|", "?", "*", "+",
         "{2}", "{1,}", "{,2}", "{e<=1}", r"\1", r"\2", r"\b", "^", "$", "(?=a)", "(?!a)", "(?<!b)", "(?<=b)", "(?>",
         r"\m", r"\u0061", "é", r"[^\W\d_]", "++", r"\A", r"\Z"]
    ), max_size=8,
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(PIECES, st.lists(st.text("abBé{1,2} ", max_size=5), min_size=5, max_size=5))
def test_no_weaker_pattern_asks_for_more(pieces: list[str], texts: list[str]) -> None:
    pattern = "".join(pieces)
    try:
        finds = regex.compile(pattern, regex.V0 | regex.ASCII).search
        weaker = weakened(pattern)
    except (regex.error, Unreadable):
        return
    for text in texts:
        assert finds(text) is None or re2.search(weaker, text) is not None


def test_a_rule_that_cannot_be_read_is_named_and_always_tried() -> None:
    rules = [Rule("A", "plain", "zzz"), Rule("A", "near", "x{e<=1}"), Rule("A", "few", "xa{,3}b"), Rule("B", "b", "a")]
    mine = Sieve(rules)
    assert mine.unread == {"near": "at 1", "few": "at 2"}
    assert mine.chances("a").of("A") == rules[1:3] and mine.chances("zzz").of("A") == rules[:3]


def test_every_rule_of_ours_can_be_read() -> None:
    assert Sieve((*RULES, *weak_types.RULES)).unread == {}


def test_folding_follows_the_pattern_and_not_re2() -> None:
    for pattern in ("(?i)k", "(?i)[a-s]", "(?i)é"):
        for text in ("k", "K", "\u212a", "\u017f", "É", "é"):
            for only_ascii in (True, False):
                flags = regex.V0 | (regex.ASCII if only_ascii else 0)
                if regex.search(pattern, text, flags):
                    assert re2.search(weakened(pattern, only_ascii=only_ascii), text)
