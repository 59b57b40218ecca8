# ruff: noqa: E501  (lists of words)
"""Names in sentences where what is said is said of people: verbs of speech and work, kin, colleagues, lists, dialogues.

Every run of capitalised words that may be a name is looked at once, with what stands directly before and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex

from transforms.privacy.coined import WORD
from transforms.privacy.gates import may_name
from transforms.privacy.lexicon import in_dictionary, uncommon
from transforms.privacy.names import BOTH, ONE, ends_oddly, is_known_name, is_odd, is_written_name
from transforms.privacy.prose import is_prose
from transforms.privacy.words import known_names, things

_DID = (
    r"(?:sp(?:oke|oken|eak|eaking)|talk(?:s|ed|ing)?|met|meet(?:s|ing)?|chat(?:ted|ting)?|call(?:s|ed|ing)?|contact(?:s|ed|ing)?|"
    r"e-?mail(?:s|ed|ing)?|ask(?:s|ed|ing)?|tell(?:s|ing)?|told|notif(?:y|ied|ying)|remind(?:ed)?|invite(?:d)?|assign(?:ed)?|reassign(?:ed)?|"
    r"forward(?:ed)?|introduce(?:d)?|thank(?:ed)?|interview(?:ed)?|hire(?:d)?|pa(?:y|id)|owe(?:d|s)?|refund(?:ed)?|marr(?:y|ied)|"
    r"name(?:d)?|visit(?:ed)?|love(?:s|d)?|know(?:s)?|knew|sent|gave|given|follow(?:ed)? up|check(?:ed)? in|hand(?:ed)? over|book(?:ed)?|add|remove|cc|"
    r"change it|correct it|escalate(?:d)?)"
)
_TO = r"(?: (?:it|this|that|them|up|back|over))?(?: (?:to|with|by|for|from|as))?"
_MADE = (
    r"(?:written|reviewed|approved|signed|prepared|reported|requested|submitted|created|owned|led|founded|directed|managed|authored|edited|"
    r"translated|sent|handled|booked|paid|raised|opened|closed|filed|recorded|performed|composed|presented|hosted|invited|represented|helped|"
    r"assigned to|reporting to|delivered to|belongs to|registered to|issued to|addressed to|shared with|married to|starring)"
)
_KIN = (
    r"(?:wife|husband|spouse|son|daughter|kid|child|brother|sister|mother|father|mom|mum|dad|parents|friend|colleague|coworker|co-worker|"
    r"teammate|boss|manager|supervisor|neighbou?r|partner|doctor|dentist|therapist|lawyer|attorney|landlord|landlady|tenant|assistant|uncle|"
    r"aunt|cousin|nephew|niece|grandmother|grandfather|grandma|grandpa|girlfriend|boyfriend|fiancée?|roommate|teacher|client|patient|"
    r"customer|passenger|employee|intern|contact|guest|director|founder|ceo|cto|cfo|songwriter|singer|actor|author|player|senator|president|"
    r"sergeant|captain|detective|judge|nurse|engineer|analyst|driver|agent|representative|consultant|beneficiary|user)"
)
_SAYS = (
    r"(?:said|says|asked|asks|told|tells|wrote|writes|called|calls|agreed|agrees|replied|replies|answered|confirmed|confirms|reported|reports|"
    r"mentioned|explained|requested|requests|wants|wanted|needs|needed|thinks|thought|believes|likes|loves|hates|lives|lived|works|worked|moved|"
    r"joined|left|quit|resigned|retired|died|married|graduated|studied|approved|reviewed|signed|submitted|emailed|complained|shouted|laughed|"
    r"smiled|nodded|sighed|knows|knew|felt|heard|saw|came|went|arrived|flew|paid|bought|began|started|decided|suggested|insisted|refused|spent|"
    r"received|sent|gave|had given|is (?:a|an|the|my|our|his|her|so|not|very|from|at|on|in|working|going|coming|waiting)|"
    r"was (?:a|an|the|my|our|born|huge|not|very|at|on|in)|has been|had been|will be|would like|and I|and my)"
)
_SELF = (
    r"(?:me llamo|mi nombre es|je m['’]appelle|mon nom est|ich hei(?:ß|ss)e|mein name ist|mi chiamo|il mio nome è|meu nome é|me chamo|"
    r"jag heter|mitt namn är|jeg heter|jeg hedder|mijn naam is|ik heet|nazywam się|mam na imię|jmenuji se|minun nimeni on|everyone calls me|"
    r"people call me|goes by|known as|a\.k\.a\.|née)"
)
_QUOTE = r"[\"'“‘*_]{0,2}"
_ITEM = r"\p{Lu}[\p{Ll}\p{M}]{1,20}"
BEFORE_CHARS = 80


@dataclass(frozen=True)
class Cue:
    """What stands before (read backwards) or after a name, and whether it also tells a name of one word."""

    name: str
    before: Any = None
    after: Any = None
    one: bool = False
    sure: bool = False

    def fits(self, text: str, start: int, end: int) -> bool:
        if self.before is not None and not self.before.match(text, max(0, start - BEFORE_CHARS), start):
            return False
        return self.after is None or self.after.match(text, end) is not None


def _before(pattern: str) -> Any:
    return regex.compile(rf"(?r)(?:{pattern}){_QUOTE}")


def _after(pattern: str) -> Any:
    return regex.compile(pattern)


_LINE = r"(?<=\A|\n)[ \t>]{0,6}"
_DONE = r"(?=[.,;:!?)\]]|\s*$|\s*\n|[ ](?:and|as|in|on|at|who|from|to|with|for|about|of|the|a|my|is|was)(?!\p{L}))"
CUES = (
    Cue("introduction in another language", _before(rf"(?<!\p{{L}})(?i:{_SELF})\s{{1,3}}"), None, one=True, sure=True),
    Cue("asked for the name", _before(r"(?i:(?:your|full|last|first|middle|maiden|family) name(?: is|\?)\s{1,4}(?:(?:user|customer|it['’]s|it is):?\s)?)"), None, one=True, sure=True),
    Cue("kin or colleague", _before(rf"(?<!\p{{L}})(?i:(?:my|his|her|our|your|their|the|an?|'s|’s) (?:[a-z]{{2,12}} )?{_KIN})(?: is| was|,|:)? "), None, one=True),
    Cue("holder", _before(r"(?<!\p{L})(?i:(?:account|card|policy|pass|ticket) ?holder|payee|name on (?:the )?card|beneficiary|assignee|recipient|sender)(?: is| was|:)? "), None, sure=True),
    Cue("spoken to", _before(r"(?<!\p{L})(?i:(?:spoke|speak|speaking|talked|talk|met|chatted|shouted|yelled|lied|waved)(?: (?:to|with|at))?) "), None, one=True),
    Cue("named", _before(r"(?<!\p{L})(?i:(?:named|called) (?:him|her|them|it)) "), None, one=True),
    Cue("it is somebody", _before(r"(?i:it['’]s|it is|this is|here is|here['’]s) "), _after(r" (?:again|here|speaking|calling|from)(?!\p{L})"), one=True),
    Cue("done by", _before(rf"(?<!\p{{L}})(?i:{_MADE})(?: by)? "), None),
    Cue("done to or with", _before(rf"(?<!\p{{L}})(?i:{_DID}{_TO}) "), None),
    Cue("according to", _before(r"(?<!\p{L})(?i:according to|on behalf of|in care of|c/o|attn:?|thanks to|tribute to|together with|along with|next to) "), None, sure=True),
    Cue("numbered or pointed", _before(_LINE + r"(?:\d{1,3}[.)]|[-*•])[ \t]{1,3}"), _after(r"\*{0,2}(?=\s?[(,:–—-]|\s*\n|\s*$)")),
    Cue("for or to somebody", _before(r"(?<!\p{L})(?:for|to|from|with|by|about|of|on) "), _after(_DONE)),
    Cue("says or does", None, _after(rf"{_QUOTE} {_SAYS}(?!\p{{L}})")),
    Cue("says or does, one name", None, _after(rf"{_QUOTE} (?:said|says|asked|told|wrote|replied|answered|agreed|explained|shouted|laughed|smiled|nodded|lives|was born|died|married|graduated|had given|began|loves|hates|resigned|retired|complained)(?!\p{{L}})"), one=True),
    Cue("has kin", None, _after(rf"['’]s (?:[a-z]{{2,10}} )?{_KIN}(?!\p{{L}})"), one=True),
    Cue("before a birthday or a mail", None, _after(r"\*{0,2} ?\((?=(?i:dob|born|b\.|age|aged|\d{2}\)|[\w.+-]{1,64}@))"), sure=True),
    Cue("reached at a number", None, _after(r"(?=,? (?:on|at|via) \+?\(?\d)"), sure=True),
    Cue("alone on its line", _before(_LINE + r"(?:[>?*•-]{1,3}[ \t]?)?"), _after(r"[ \t*]{0,4}(?=\n|$)")),
    Cue("speaker", _before(_LINE), _after(r": ?(?=[\"“A-Z¡¿])")),
    Cue("called by name", _before(_LINE), _after(r", (?:can|could|would|please|I|you|are|do|did|what|when|how|why|thanks|thank)(?!\p{L})")),
)  # fmt: skip
GUESSES = frozenset(cue.name for cue in CUES if not cue.sure)
"""Cues that may stand beside a firm or a product as well."""
_CANDIDATE = regex.compile(rf"(?<![\p{{L}}\p{{N}}_@#./\\-]){ONE}(?![\p{{L}}\p{{N}}_(/\\=]| \d{{1,3}}(?!\d|[.(-]\d))")
_WORDS = regex.compile(r"\p{L}[\p{L}\p{M}'’ʼ-]*\.?")
_LIST = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}_])(?P<v>{_ITEM})(?:, (?P<v>{_ITEM})){{1,14}},? (?:and|or|und|et|y|e|&) (?P<v>{_ITEM})(?![\p{{L}}\p{{N}}_]| \p{{Lu}})"
)


def cued_names(text: str) -> Iterator[tuple[str, int, int]]:
    """Each name that a cue beside it gives away, as (cue, start, end)."""
    if not may_name(text):
        return
    for match in _CANDIDATE.finditer(text):
        whole = match.span()
        span = _without_common_edges(text, *whole)
        if span and span != whole and (cue := _sure_cue(text, *whole)):
            yield cue, *whole
        elif span and (cue := _cue(text, *span)):
            yield cue, *span
    if ", " in text:
        for match in _LIST.finditer(text):
            if _is_list_of_names([text[start:end].lower() for start, end in match.spans("v")]):
                yield from (("one of a list", start, end) for start, end in match.spans("v"))


def _without_common_edges(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Capitalised words without the common ones that begin the sentence, and things at their end."""
    words = list(_WORDS.finditer(text, start, end))
    plain = [word.group().rstrip(".").lower() for word in words]
    first = next((at for at, word in enumerate(plain) if not _is_common(word)), len(plain))
    last = len(plain)
    while last > first and plain[last - 1] in things():
        last -= 1
    return (words[first].start(), min(words[last - 1].end(), end)) if first < last else None


def _is_common(word: str) -> bool:
    return word in things() or (
        word not in BOTH and word not in known_names() and len(word) > 1 and in_dictionary(word)
    )


def _cue(text: str, start: int, end: int) -> str:
    """The first cue that fits, '' where none does."""
    name = text[start:end]
    words = [word.lower() for word in WORD.findall(name)]
    if not words or not is_written_name(name):
        return ""
    one = len(words) == 1
    if one and not (words[0] in BOTH or is_odd(words[0])):
        return ""
    known = is_known_name(name) or ends_oddly(name)
    for cue in CUES:
        if (cue.one if one else (cue.sure or cue.one or known)) and cue.fits(text, start, end):
            return cue.name
    if one and words[0] in known_names() and words[0] not in things() and not in_dictionary(words[0]):
        return "given name" if _stands_in_prose(text, start, end) else ""
    return ""


def _sure_cue(text: str, start: int, end: int) -> str:
    """A cue that tells a name which begins with a common word: Peregrine is a falcon as well."""
    name = text[start:end]
    if not is_written_name(name):
        return ""
    cues = (cue for cue in CUES if cue.sure or cue.one or (cue.before is None and ends_oddly(name)))
    return next((cue.name for cue in cues if cue.fits(text, start, end)), "")


def _stands_in_prose(text: str, start: int, end: int) -> bool:
    """Whether the line around has the words of a sentence."""
    line = text[
        max(text.rfind("\n", 0, start) + 1, start - 200) : text.find("\n", end) if "\n" in text[end:] else end + 200
    ]
    return is_prose(line)


def _is_list_of_names(words: list[str]) -> bool:
    """Whether most of the words of a list are known names, and all may be."""
    return sum(word in known_names() for word in words) * 2 >= len(words) and all(
        word in BOTH or uncommon(word) for word in words
    )
