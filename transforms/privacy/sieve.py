"""The sieve: which rules have a chance in a text, by a few passes of RE2 automata instead of one pass a rule.

An automaton runs over the weaker patterns (`weakened`) of a family of rules at some 70 MB a second. What it lets
through is tried in full; of what it holds back nothing can be found. A rule that cannot be read is never held back, nor
are those of a user's, which are not sieved at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from transforms.privacy.gates import LEAST_DIGITS, digits
from transforms.privacy.pattern_parts import Unreadable
from transforms.privacy.rule import THRESHOLD, Rule
from transforms.privacy.weakened import weakened

AUTOMATON_BYTES = 8 << 20  # of each family; when it is full, the automaton is built anew as it goes


class Sieve:
    """Sorts out the rules that have no chance in a text."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        families: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        for place, rule in enumerate(rules):
            families[_family(rule)].append((place, rule))
        self._families = [_Family(rules) for rules in families.values()]
        self.unread = {name: why for family in self._families for name, why in family.unread.items()}
        """Rules that are always tried, by their names, and why their patterns could not be read."""
        self.chances: Callable[[str], Chances] = lru_cache(maxsize=16)(self._chances)

    def _chances(self, text: str) -> Chances:
        return Chances(text, self._families)


class Chances:
    """The rules that have a chance in one text; a family is looked at when one of its types is asked for."""

    def __init__(self, text: str, families: Iterable[_Family]) -> None:
        self._data, self._lowered, self._digits = text.encode("utf-8", "surrogatepass"), text.lower(), digits(text)
        self._waiting = [family for family in families if family.least_digits <= self._digits]
        self._found: dict[str, list[tuple[int, Rule]]] = {}

    def among(self, entities: Collection[str]) -> list[str]:
        """Those of some types that have a rule to try."""
        self._look(entities)
        return [entity for entity in self._found if entity in entities]

    def of(self, entity: str) -> list[Rule]:
        """The rules of a type to try, in order."""
        self._look((entity,))
        return [rule for _, rule in sorted(self._found.get(entity, ()), key=itemgetter(0))]

    def _look(self, entities: Iterable[str]) -> None:
        for family in [family for family in self._waiting if not family.entities.isdisjoint(entities)]:
            self._waiting.remove(family)
            for place, rule in family.let_through(self._data):
                if self._meets(rule):
                    self._found.setdefault(rule.entity, []).append((place, rule))

    def _meets(self, rule: Rule) -> bool:
        """Whether the text holds what a rule wants; below the threshold nothing counts without a word beside it."""
        return (
            self._digits >= LEAST_DIGITS.get(rule.entity, 0)
            and self._holds(rule.anchors)
            and (rule.score >= THRESHOLD or self._holds(rule.context))
        )

    def _holds(self, words: Iterable[str]) -> bool:
        return not words or any(word in self._lowered for word in words)


class _Family:
    """Rules, with their places in the order of all, whose weaker patterns make one automaton of bounded size."""

    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        import re2

        self._rules: list[tuple[int, Rule]] = []
        self._tried: list[tuple[int, Rule]] = []  # always
        self.unread: dict[str, str] = {}
        self.entities = frozenset(rule.entity for _, rule in rules)
        self.least_digits = min(LEAST_DIGITS.get(rule.entity, 0) for _, rule in rules)
        options = re2.Options()
        options.max_mem, options.log_errors, options.never_capture = AUTOMATON_BYTES, False, True
        self._automaton: Any = re2.Set.SearchSet(options)
        for place, rule in rules:
            try:
                pattern = weakened(rule.regex, rule.ignore_case, rule.only_ascii)
            except Unreadable as error:
                self.unread[rule.name] = str(error)
                self._tried.append((place, rule))
                continue
            self._automaton.Add(pattern)
            self._rules.append((place, rule))
        self._always = self._automaton.Add("")  # matches any text: where it does not, the automaton has given up
        self._automaton.Compile()

    def let_through(self, data: bytes) -> Iterable[tuple[int, Rule]]:
        """The rules that have a chance in a text."""
        found = self._automaton.Match(data) or ()
        if self._always not in found:
            return self._rules + self._tried
        return [self._rules[index] for index in found if index != self._always] + self._tried


def _family(rule: Rule) -> str:
    """Which rules share an automaton: those that begin alike; of others together the states would multiply."""
    if rule.entity in ("SECRET", "PERSON"):
        return rule.entity
    if rule.entity in LEAST_DIGITS:
        return "labels" if rule.regex.startswith("(?i") else "numbers"
    return "others"
