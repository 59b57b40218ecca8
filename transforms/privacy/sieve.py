"""The sieve: which rules have a chance in a text, by a few passes of RE2 automata instead of one pass a rule.

An automaton runs over the weaker patterns (`weakened`) of a family of rules at some 70 MB a second. What it lets
through is tried in full; of what it holds back nothing can be found. Rules of a user's are never sieved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from transforms.privacy.gates import LEAST_DIGITS, digits
from transforms.privacy.rule import Rule
from transforms.privacy.weakened import weakened

AUTOMATON_BYTES = 8 << 20  # of each family; when it is full, the automaton is built anew as it goes

Chances = Mapping[str, Sequence[Rule]]
"""The rules to try, in order, by type."""


class Sieve:
    """Sorts out the rules that have no chance in a text."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        families: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        for place, rule in enumerate(rules):
            families[_family(rule)].append((place, rule))
        self._families = [_Family(rules) for rules in families.values()]
        self.chances: Callable[[str], Chances] = lru_cache(maxsize=16)(self._chances)

    def _chances(self, text: str) -> Chances:
        data, lowered, count = text.encode("utf-8", "surrogatepass"), text.lower(), digits(text)
        likely: list[tuple[int, Rule]] = []
        for family in self._families:
            if count >= family.least_digits:
                likely += family.let_through(data)
        found: dict[str, list[Rule]] = defaultdict(list)
        for _, rule in sorted(likely, key=itemgetter(0)):
            enough = count >= LEAST_DIGITS.get(rule.entity, 0)
            if enough and (not rule.anchors or any(anchor in lowered for anchor in rule.anchors)):
                found[rule.entity].append(rule)
        return found


class _Family:
    """Rules, with their places in the order of all, whose weaker patterns make one automaton of bounded size."""

    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        import re2

        self._rules = rules
        self.least_digits = min(LEAST_DIGITS.get(rule.entity, 0) for _, rule in rules)
        options = re2.Options()
        options.max_mem, options.log_errors, options.never_capture = AUTOMATON_BYTES, False, True
        self._automaton: Any = re2.Set.SearchSet(options)
        for _, rule in rules:
            self._automaton.Add(weakened(rule.regex, rule.ignore_case, rule.only_ascii))
        self._always = self._automaton.Add("")  # matches any text: where it does not, the automaton has given up
        self._automaton.Compile()

    def let_through(self, data: bytes) -> Iterable[tuple[int, Rule]]:
        """The rules that have a chance in a text."""
        found = self._automaton.Match(data) or ()
        if self._always not in found:
            return self._rules
        return [self._rules[index] for index in found if index != self._always]


def _family(rule: Rule) -> str:
    """Which rules share an automaton: those that begin alike; of others together the states would multiply."""
    if rule.entity in ("SECRET", "PERSON"):
        return rule.entity
    if rule.entity in LEAST_DIGITS:
        return "labels" if rule.regex.startswith("(?i") else "numbers"
    return "others"
