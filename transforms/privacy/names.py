"""Names of people in Latin script where a cue stands next to them: greetings, titles, labels, introductions."""

from __future__ import annotations

from transforms.privacy.coined import WORD, is_coined
from transforms.privacy.lexicon import uncommon
from transforms.privacy.rule import Rule
from transforms.privacy.words import everyday, known_names, things, words

_PART = r"(?:\p{Lu}[\p{L}\p{M}]*(?:['’ʼ-](?!s(?!\p{L}))\p{L}[\p{L}\p{M}]*)*\.?)"
_SURE = r"(?:\p{Lu}[\p{Ll}\p{M}]+(?:['’ʼ-](?!s(?!\p{L}))\p{L}[\p{L}\p{M}]*)*|\p{Lu}['’]\p{Lu}\p{Ll}+|Mc\p{Lu}\p{Ll}+)"
_MIDDLE = r"(?:(?:\p{Lu}\.?|de|la|van|von|der|den|del|di|da|dos|bin|al|el)[ ]){0,2}"
TWO = rf"(?>{_SURE}(?:[ ]{_MIDDLE}{_SURE}){{1,3}})"
ONE = rf"(?>{_SURE}(?:[ ]{_MIDDLE}{_SURE}){{0,3}})"
_CAPS = r"(?:\p{Lu}{2,20}(?:['’-]\p{Lu}{1,20})?)"
_QUOTES = r"[\"'*_`“‘\\]{0,3}"
_LABEL = (
    r"(?:passenger|customer|patient|client|guest|traveler|traveller|employee|contact(?: person)?|attn|"
    r"attention|recipient|sender|author|"
    r"maintainer|maintained by|owner|requester|reporter|assignee|reviewed-by|signed-off-by|co-authored-by|"
    r"cardholder|account holder|"
    r"full name|from|to|cc|by|(?<![\"'])name|customer name|passenger name|user name|contact name|"
    r"prepared for|ship to|bill to)"
)
_NOT_GREETED = frozenset(
    words(
        "team sir madam everyone guys folks valued dear passenger traveler world agent support hiring "
        "colleagues friends "
        "committee community students users members bot assistant claude chatgpt gpt siri alexa google "
        "openai github python "
        "docker kubernetes"
    )
)


def _name(text: str) -> bool:
    words = [word.lower() for word in WORD.findall(text)]
    return not all(word in everyday() or word in _NOT_GREETED for word in words)


BOTH = frozenset(
    words(
        "amber angel april austin autumn baker banks barber basil bell berry bill bishop bob booth brown buck "
        "burns bush butler byrd camp cannon carpenter carter chance charlotte chase chip christian clay clement "
        "cliff cole colt cook cooper coral cross crow crystal dale dawn day dean destiny drake drew duke dyer "
        "earl ebony faith farmer fern field fields finch fisher flora florence flowers ford foster fox frank gale "
        "gardener gene george georgia ginger glen golden goldsmith grace grant gray green guy hall hardy harmony "
        "hart hawk hayes hazel head heather hill holland holly hope horn horton howe hunter iris ivy jack "
        "jade jasmine jay jean jewel jim johns joker jordan joy june justice king kirk kitty knight lamb "
        "lance lane lark laurel law lily little long love luke luna major marina mark marshall mason "
        "max may mcdonald meadows melody mercy miller mills misty mocking moore myrtle nash nick noble nobles "
        "norm north olive opal pace page paine palmer parker pat patience peacock pearce pearl penny peony "
        "phoenix pike piper plant poole pope porter potter pratt price prince prudence ray reed rex rice rich "
        "rivers rob robin rose ruby russell rusty sable sage sanders sandy savage scarlet serenity sharp shepherd "
        "short singer small smith snow sparks spence stark steel sterling stone strong sue summer sweet swift "
        "tanner taylor temple terry thorn tom trinity turner underwood valentine van vance verity victor viola "
        "violet virginia wade walker ward warren washington waters weaver webb wells west wheeler white wild will "
        "willow winter winters wise wolf wood woods woodward wren york young"
    )
)
"""Common words that are names as well."""


def may_be_name(text: str) -> bool:
    """Whether no word of capitalised words is an everyday one, a team's or a firm's."""
    words = (word.lower() for word in WORD.findall(text))
    return not any(
        (word in everyday() and word not in BOTH) or word in NOT_PEOPLE or word in _NOT_GREETED for word in words
    )


def is_written_name(text: str) -> bool:
    """Whether capitalised words are somebody's name rather than a team's, a firm's or a thing's."""
    words = (word.lower() for word in WORD.findall(text))
    return may_be_name(text) and any((uncommon(word) and word not in things()) or word in BOTH for word in words)


NOT_PEOPLE = frozenset(
    words(
        "inc llc ltd corp corporation company co gmbh ag sa bv plc group holdings partners university college "
        "school hospital clinic institute foundation association department team office center centre services systems "
        "software technologies solutions labs studio agency council committee ministry airport airlines airways hotel "
        "restaurant station desk division unit bot agent assistant support "
        "admin operations engineering marketing sales finance legal security platform network cloud api service "
        "version model default unknown"
    )
)


def is_known_name(text: str) -> bool:
    """Whether capitalised words are a name by themselves: they begin with a given name, or are all unknown words."""
    words = [_longest_part(word) for word in text.split()]
    sure = words[0] in known_names() or words[0] in BOTH
    return is_written_name(text) and ((sure and len(words) > 1) or all(is_odd(w) for w in words if len(w) > 1))


def ends_oddly(text: str) -> bool:
    """Whether two or more words end with an unknown one: Peregrine is a bird, but Peregrine Uhlenbrock is somebody."""
    words = [_longest_part(word) for word in text.split()]
    return len(words) > 1 and is_odd(words[-1]) and is_written_name(text)


def _longest_part(word: str) -> str:
    parts: list[str] = WORD.findall(word.lower())
    return max(parts, key=len, default="")


def is_odd(word: str) -> bool:
    """Whether a word in small letters is neither common nor a thing: a name, or in no dictionary."""
    return len(word) > 2 and uncommon(word) and word not in things()


def _in_capitals(text: str) -> bool:
    """Whether words in capitals are a name: one is known, or unknown and no abbreviation."""
    words = [word.lower() for word in WORD.findall(text)]
    named = any(w in known_names() or w in BOTH or (len(words) > 1 and len(w) > 4 and is_odd(w)) for w in words)
    return named and may_be_name(text)


def _lower_name(text: str) -> bool:
    words = [word.lower() for word in WORD.findall(text)]
    return all(is_coined(word) or (word not in everyday() and word not in _NOT_WORDS) for word in words)


_NOT_WORDS = frozenset(words("spelled wrong incorrect different misspelled listed missing the on a an in under same"))

RULES = (
    Rule(
        "PERSON",
        "introduction",
        rf"(?:(?i:(?:my|his|her|their|full|first|last|the|customer|passenger) name(?:'s| is| was)|"
        rf"(?<!\p{{L}})call me|(?<!\p{{L}})named)\s+{_QUOTES}(?P<v>{ONE})|"
        rf"(?:(?<!\p{{L}})[Ii](?:'m|’m| am)|(?<!\p{{L}})[Tt]his is|(?<!\p{{L}})[Ss]peaking with|"
        rf"(?<!\p{{L}})[Ff]or passenger|(?<!\p{{L}})[Bb]ehalf of)\s+{_QUOTES}(?P<v>{TWO}))",
        0.8,
        ("name", "call me", "i'm", "i’m", "i am", "this is", "speaking with", "passenger", "behalf"),
        valid=is_written_name,
    ),
    Rule(
        "PERSON",
        "says the own name",
        rf"(?i:(?<!\p{{L}})my (?:full )?name(?:'s|’s| is))\s+{_QUOTES}(?P<v>{TWO})",
        0.8,
        ("my name", "my full name"),
        valid=may_be_name,  # whatever words they are: Lakshmi Zhuang are a goddess and a people
    ),
    Rule(
        "PERSON",
        "introduction in lower case",
        r"(?i:(?:my|his|her|customer|passenger|full|first|last) name(?: is|'s)|call me)\s+"
        r"(?P<v>\p{Ll}{2,20}(?: \p{Ll}{2,20}){0,2})(?=\s?[.,;!\n]|\s+and\s|$)",
        0.7,
        ("name is", "call me"),
        valid=_lower_name,
    ),
    Rule(
        "PERSON",
        "title",
        rf"(?<!\p{{L}})(?i:Mr|Mrs|Ms|Mx|Dr|Prof)\.?\s(?P<v>{_PART}(?:[ ]{_MIDDLE}{_SURE}){{0,2}})|"
        rf"(?<!\p{{L}})(?:Miss|Professor|Doctor)\s(?P<v>{ONE})",
        0.8,
        ("mr", "mrs", "ms", "mx", "dr", "prof", "miss", "doctor"),
    ),
    Rule(
        "PERSON",
        "greeting",
        rf"(?<!\p{{L}})(?:Hi|Hello|Hey|Dear|Thank you(?: so much| very much)?|Thanks(?: so much| a lot)?|"
        rf"Welcome(?: back)?|Sure|Great|Sorry|Goodbye|Bye),?\s(?P<v>{ONE})"
        r"(?=\s?[,.!?:\n]|$)",
        0.7,
        ("hi", "hello", "hey", "dear", "thank", "welcome", "sure", "great", "sorry", "bye"),
        valid=is_written_name,
    ),
    Rule(
        "PERSON",
        "before an address",
        rf"(?<!\p{{L}})(?P<v>{ONE})\s?(?:<|&lt;|\()(?=[\w.+-]{{1,64}}(?:@|%40))",
        0.85,
        ("@", "%40"),
        valid=_name,
    ),
    Rule(
        "PERSON",
        "after its label",
        rf"(?i:(?<![\p{{L}}_-]){_LABEL})[\"'*_`)]{{0,4}}\s?[:=#]\s?{_QUOTES}\s?(?P<v>{TWO})(?!\(| \d{{1,3}}(?!\d))",
        0.75,
        (":", "="),
        valid=is_written_name,
    ),
    Rule(
        "PERSON",
        "in capitals after its label or title",
        rf"(?:(?i:(?<![\p{{L}}_-])(?:passenger|customer|patient|guest|cardholder|account holder|full name|name|attn|"
        rf"surname|given names?|first name|last name)[\"'*_`)]{{0,4}}\s?[:=]\s?{_QUOTES}\s?)|"
        rf"(?<!\p{{L}})(?:MR|MRS|MS|MISS|DR|PROF)\.? )"
        rf"(?P<v>{_CAPS}(?:[ ,/]{{1,2}}{_CAPS}){{0,3}})(?![\p{{L}}\p{{N}}_(])",
        0.7,
        valid=_in_capitals,
    ),
    Rule(
        "PERSON",
        "on a ticket",
        rf"(?<![\p{{L}}/])(?P<v>{_CAPS}/{_CAPS})(?: ?(?:MR|MRS|MS|MISS|DR|MSTR|CHD|INF))(?!\p{{L}})",
        0.8,
        ("/",),
    ),
    Rule(
        "PERSON",
        "last name first",
        rf"(?i:(?<![\p{{L}}_-]){_LABEL})[\"'*_`)]{{0,4}}\s?[:=]\s?{_QUOTES}"
        rf"(?P<v>\p{{L}}[\p{{L}}'’-]{{1,20}}, ?\p{{L}}[\p{{L}}'’-]{{1,20}})"
        r"(?![\p{L}\p{N}_(])",
        0.7,
        (",",),
        valid=lambda text: is_known_name(" ".join(reversed(text.title().split(",")))),
    ),
    Rule(
        "PERSON",
        "first or last name",
        rf"(?i:(?<!\p{{L}})(?:first|last|given|family|full|middle|sur|passenger|customer)[ _-]?name)"
        rf"[\"'*_`)]{{0,4}}\s?[:=–-]\s?{_QUOTES}\s?(?P<v>{ONE})",
        0.85,
        ("name",),
        valid=may_be_name,
    ),
    Rule(
        "PERSON",
        "cell",
        rf"(?<=[>|\"'\t])[ ]?(?P<v>{TWO})[ ]?(?=[<|\"'\t])|\A(?P<v>{TWO})\Z",
        0.7,
        valid=is_known_name,
    ),
    Rule(
        "PERSON",
        "signature",
        rf"(?i:(?<!\p{{L}})(?:sincerely|best|kind|warm|regards|cheers|thanks)),?(?: "
        rf"regards,?)?\s{{0,2}}\n\s{{0,3}}(?P<v>{ONE})\s*(?:\n|<|$)",
        0.75,
        ("sincerely", "best", "kind", "warm", "regards", "cheers", "thanks"),
        valid=is_written_name,
    ),
)
