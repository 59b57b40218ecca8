# ruff: noqa: E501  (one rule a line reads best)
"""Names in sentences where what is said is said of people: verbs of speech and work, kin, colleagues, lists, dialogues."""

from __future__ import annotations

from transforms.privacy.coined import WORD
from transforms.privacy.lexicon import uncommon
from transforms.privacy.names import BOTH, ONE, TWO, is_known_name, is_odd, is_written_name
from transforms.privacy.rule import Rule
from transforms.privacy.words import known_names, words

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


def _person(text: str) -> bool:
    """Whether a name by itself is believed: one word only where it is a known name, or unknown and no thing."""
    found = [word.lower() for word in WORD.findall(text)]
    return is_written_name(text) and (len(found) > 1 or found[0] in BOTH or is_odd(found[0]))


def _list_of_names(text: str) -> bool:
    """Whether most of the words of a list are known names, and all may be."""
    found = [word.lower() for word in WORD.findall(text) if word[0].isupper()]
    sure = sum(word in known_names() for word in found)
    return sure * 2 >= len(found) and all(word in BOTH or uncommon(word) for word in found)


_ITEM = r"\p{Lu}[\p{Ll}\p{M}]{1,20}"
# fmt: off
RULES = (
    Rule("PERSON", "done to or with", rf"(?<![\p{{L}}])(?i:{_DID}{_TO}) {_QUOTE}(?P<v>{TWO})(?![\p{{L}}(])", 0.7, valid=is_known_name),
    Rule("PERSON", "spoken to", rf"(?<![\p{{L}}])(?i:spoke|speak|speaking|talked|talk|met|chatted|shouted|yelled|lied|waved)(?i: (?:to|with|at))? (?P<v>{ONE})(?![\p{{L}}(-])", 0.65, words("spoke speak talk met chatted shouted yelled lied waved"), valid=_person),
    Rule("PERSON", "named", rf"(?<!\p{{L}})(?i:named|called) (?:him|her|them|it) (?P<v>{ONE})", 0.65, ("named", "called"), valid=_person),
    Rule("PERSON", "done by", rf"(?<!\p{{L}})(?i:{_MADE})(?: by)? {_QUOTE}(?P<v>{TWO})(?![\p{{L}}(])", 0.7, valid=is_known_name),
    Rule("PERSON", "according to", rf"(?<!\p{{L}})(?i:according to|on behalf of|in care of|c/o|attn:?|thanks to|tribute to|together with|along with|next to) (?P<v>{TWO})", 0.7, ("according", "behalf", "care of", "c/o", "attn", "thanks to", "tribute", "with", "next to"), valid=is_written_name),
    Rule("PERSON", "kin or colleague", rf"(?<!\p{{L}})(?i:(?:my|his|her|our|your|their|the|an?|'s|’s) (?:[a-z]{{2,12}} )?{_KIN}),? {_QUOTE}(?P<v>{ONE})(?![\p{{L}}(])", 0.7, valid=_person),
    Rule("PERSON", "says or does", rf"(?<![\p{{L}}\p{{N}}_@#./-])(?P<v>{TWO}){_QUOTE} {_SAYS}(?!\p{{L}})", 0.7, valid=is_known_name),
    Rule("PERSON", "says or does, one name", rf"(?<![\p{{L}}\p{{N}}_@#./-])(?P<v>{ONE}){_QUOTE} (?:said|says|asked|told|wrote|replied|answered|agreed|explained|shouted|laughed|smiled|nodded|lives|was born|died|married|graduated|had given|began|loves|hates|resigned|retired|complained)(?!\p{{L}})", 0.65, valid=_person),
    Rule("PERSON", "has kin", rf"(?<![\p{{L}}\p{{N}}_@#./-])(?P<v>{ONE})['’]s (?:[a-z]{{2,10}} )?{_KIN}(?!\p{{L}})", 0.65, ("'s ", "’s "), valid=_person),
    Rule("PERSON", "introduction in another language", rf"(?<!\p{{L}})(?i:{_SELF})\s{{1,3}}{_QUOTE}(?P<v>{ONE})", 0.75, valid=is_written_name),
    Rule("PERSON", "asked for the name", rf"(?i:(?:your|full|last|first|middle|family) name\?)\s{{1,4}}(?:(?i:user|customer|it['’]s|it is):?\s)?(?P<v>{ONE})(?=[\s.,!]|$)", 0.75, ("name?",), valid=is_written_name),
    Rule("PERSON", "numbered or pointed", rf"(?m)^[ \t>]{{0,6}}(?:\d{{1,3}}[.)]|[-*•])[ \t]{{1,3}}\*{{0,2}}(?P<v>{TWO})\*{{0,2}}(?=\s?[(,:–—-]|\s*$)", 0.65, valid=is_known_name),
    Rule("PERSON", "before a bracket with a birthday or a mail", rf"(?<![\p{{L}}\p{{N}}_])(?P<v>{TWO})\*{{0,2}} ?\((?=(?i:dob|born|b\.|age|aged|\d{{2}}\)|[\w.+-]+@))", 0.75, ("(",), valid=is_written_name),
    Rule("PERSON", "address to someone", rf"(?<![\p{{L}}\p{{N}}_])(?P<v>{TWO})(?=,? (?:on|at|via) \+?\(?\d)", 0.7, valid=is_known_name),
    Rule("PERSON", "it is somebody", rf"(?i:it['’]s|it is|this is|here is|here['’]s) (?P<v>{ONE}) (?:again|here|speaking|calling|from)(?!\p{{L}})", 0.7, ("it's", "it’s", "it is", "this is", "here"), valid=_person),
    Rule("PERSON", "speaker", rf"(?m)^[ \t>]{{0,4}}(?P<v>{ONE}): ?(?=[\"“A-Z¡¿])", 0.6, (":",), valid=is_known_name),
    Rule("PERSON", "called by name", rf"(?m)^(?P<v>{ONE}), (?:can|could|would|please|I|you|are|do|did|what|when|how|why|thanks|thank)(?!\p{{L}})", 0.6, (",",), valid=is_known_name),
    Rule("PERSON", "one of a list", rf"(?<![\p{{L}}\p{{N}}_])(?P<v>{_ITEM})(?:, (?P<v>{_ITEM})){{1,14}},? (?:and|or|und|et|y|e|&) (?P<v>{_ITEM})(?![\p{{L}}\p{{N}}_]| \p{{Lu}})", 0.6, (",",), whole=_list_of_names),
    Rule("PERSON", "for or to somebody", rf"(?<!\p{{L}})(?:for|to|from|with|by|about|of|on|not by) (?P<v>{TWO})(?=[.,;!?)]|\s*$| (?:and|as|in|on|at|who|from|to|with|for)(?!\p{{L}}))", 0.6, valid=is_known_name),
)
# fmt: on
