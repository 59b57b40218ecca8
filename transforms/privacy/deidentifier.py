"""Cleans traces in two passes: first learn what is personal in each trace, then replace it wherever it stands."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from transforms.privacy.audit import STRONG, Leak
from transforms.privacy.decisions import Decisions
from transforms.privacy.hidden import hidden
from transforms.privacy.hints import claimed
from transforms.privacy.leaves import SHORT, KeyCollision, Leaf, rewrite
from transforms.privacy.name_cues import GUESSES
from transforms.privacy.overlaps import Hit
from transforms.privacy.policy import PrivacyPolicy
from transforms.privacy.propagation import Known, KnownValues, distinctive
from transforms.privacy.surrogates import Surrogates
from transforms.privacy.unscannable import Unscannable

if TYPE_CHECKING:
    from transforms.privacy.detector import Detector

__all__ = ["Cleaned", "Deidentifier", "Finding", "Leak", "Unscannable"]

T = TypeVar("T")
Visit = Callable[[Leaf], str | int | float]
KEPT_SEARCHES = 256
UNREAD_LEAVES = 4_000
BARREN_LEAVES = 100_000
AUDITED_CHARS = 16 << 20  # of texts whose audit is remembered before all is forgotten
WHOLE, LEAF = "whole", "leaf"
MODEL_RECOGNISER = "name_model"
UNSCANNABLE = "UNSCANNABLE"
_WHOLE, _DECIMAL = re.compile(r"[1-9][0-9]*|0"), re.compile(r"-?[0-9]+\.[0-9]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """A replaced span: the path of its leaf (indices and depths, never keys), and its place by code points."""

    path: str
    start: int
    length: int
    entity: str
    recogniser: str
    score: float


@dataclass(frozen=True, slots=True)
class Cleaned(Generic[T]):
    """A value with its personal data replaced, and what was found where."""

    value: T
    findings: tuple[Finding, ...]
    altered: bool


class Deidentifier:
    """De-identifies values of one tenant.

    Original values live in the memory of this process and nowhere else: in this object, and in what all objects of the
    process share, caches of texts, words and keys of mappings, and the vocabulary of the name model. Only the end of
    the process forgets those.
    """

    def __init__(self, policy: PrivacyPolicy, tenant_key: bytes) -> None:
        with hidden("torch", "transformers", "gliner"):
            from transforms.privacy.detector import Detector

        self.policy = policy
        self._decisions = Decisions(policy, Surrogates(tenant_key))
        self._detector: Detector = Detector(policy)
        self._known: dict[str, set[Known]] = defaultdict(set)
        self._unread: dict[str, set[str]] = defaultdict(set)
        self._searches: OrderedDict[frozenset[str], KnownValues] = OrderedDict()
        self._barren: set[object] = set()
        self._audited: dict[tuple[str, str], frozenset[str]] = {}
        self._audited_chars = 0
        self._audit_search: KnownValues | None = None

    def learn(self, scope: str, value: object) -> None:
        """First pass: remember, for `scope` (a trace), every personal value in `value`.

        Raises Unscannable where a leaf cannot be searched.
        """
        self.learn_for([scope], value)

    def learn_for(self, scopes: Collection[str], value: object) -> None:
        """The same for several, which all hold `value`: it is gone through once."""
        known: set[Known] = set()
        names: list[tuple[str, str]] = []

        def note(leaf: Leaf) -> str | int | float:
            if not leaf.entity and leaf.value in self._barren:
                return leaf.source
            text = _text(leaf.value)
            hits = self._hits(leaf, text, model=False)
            for hit in self._decisions.resolved(text, hits) if hits else ():
                known.add(Known(hit.entity, text[hit.start : hit.end], sure=hit.recogniser not in GUESSES))
            if isinstance(leaf.value, str):
                if self._detector.asks_model(text):
                    self._unread[text].update(scopes)
                elif not hits and not leaf.entity and not leaf.is_key:
                    self._bear_in_mind(text)
            if leaf.entity == "PERSON":
                names.append((leaf.path.rpartition(".")[0], text))
            return leaf.source

        self._walk(value, note)
        for (place, first), (next_place, second) in zip(names, names[1:], strict=False):
            if place == next_place and " " not in first and " " not in second:
                known.add(Known("PERSON", f"{first} {second}"))
        for scope in scopes:
            self._remember(scope, known)
        if len(self._unread) >= UNREAD_LEAVES:
            self._read_names()

    def _bear_in_mind(self, text: str) -> None:
        """Remember that nothing is to be learned from a short text, in whatever trace it stands."""
        if len(self._barren) >= BARREN_LEAVES:
            self._barren.clear()
        if len(text) <= SHORT:
            self._barren.add(text)

    def knowledge(self) -> dict[str, set[Known]]:
        """What was learned, by scope."""
        self._read_names()
        return self._known

    def share(self, knowledge: dict[str, set[Known]]) -> None:
        """Know what others have learned, too."""
        for scope, known in knowledge.items():
            self._remember(scope, known)

    def _remember(self, scope: str, known: set[Known]) -> None:
        if known <= self._known[scope]:
            return
        self._known[scope] |= known
        self._audit_search = None
        for scopes in [scopes for scopes in self._searches if scope in scopes]:
            del self._searches[scopes]

    def _read_names(self) -> None:
        """Ask the model about the leaves put off so far; names of one word prove too little to be searched for."""
        unread, self._unread = self._unread, defaultdict(set)
        self._detector.read_names(unread)
        for text, scopes in unread.items():
            hits = self._decisions.resolved(text, self._decisions.meant(text, self._detector.find(text)))
            found = {text[hit.start : hit.end] for hit in hits if hit.recogniser == MODEL_RECOGNISER}
            for scope in scopes:
                self._remember(scope, {Known("PERSON", name, sure=False) for name in found if " " in name})

    def clean(self, value: T, scopes: Collection[str], leaking: bool = False) -> Cleaned[T]:
        """Second pass: `value` in the same shape, without what is found in it or known to any of `scopes`.

        `leaking`: nor what the audit looks for, whoever knows it; short and ambiguous values of others stay.
        Raises Unscannable where a leaf cannot be searched, or two keys of a mapping would become one.
        """
        search = self._search(frozenset(scopes))
        search = search.beside(self._everybodys()) if leaking else search
        findings: list[Finding] = []

        def replace(leaf: Leaf) -> str | int | float:
            text = _text(leaf.value)
            written = text if leaf.spelling is None else str(leaf.source)
            cached = search.cleaned.get((written, leaf.entity))
            if cached is None or leaf.is_key:
                cached = self._replace(leaf, text, search)
                if not leaf.is_key:
                    search.cleaned[written, leaf.entity] = cached
            new, hits = cached
            findings.extend(
                Finding(leaf.path, hit.start, hit.end - hit.start, hit.entity, hit.recogniser, hit.score)
                for hit in hits
            )
            return leaf.source if new == written else _like(leaf.value, new)

        cleaned = self._walk(value, replace)
        return Cleaned(cast(T, cleaned), tuple(findings), bool(findings))

    def audit(self, rows: Iterable[tuple[str, object]]) -> list[Leak]:
        """What is left in cleaned `rows` (id, value): known values, secrets and other strong types, decoded.

        Kept and allowed values, and surrogates, are none. A row that cannot be read is a leak, of type UNSCANNABLE.
        """
        self._everybodys()
        leaks: dict[Leak, None] = {}
        for row_id, value in rows:
            for part in value if isinstance(value, list) else (value,):
                leaks |= dict.fromkeys(Leak(row_id, entity) for entity in self._left_in(part))
        return list(leaks)

    def _left_in(self, value: object) -> frozenset[str]:
        """What is left in one value; a text that many rows repeat, as they do tools, is gone through once."""
        known = self._audited.get((value, WHOLE)) if isinstance(value, str) else None
        if known is not None:
            return known
        found: set[str] = set()

        def look(leaf: Leaf) -> str | int | float:
            found.update(self._leaks_of(_text(leaf.value)))
            return leaf.source

        try:
            self._walk(value, look)
        except Unscannable:
            found.add(UNSCANNABLE)
        return self._note_audited((value, WHOLE), frozenset(found)) if isinstance(value, str) else frozenset(found)

    def _leaks_of(self, text: str) -> frozenset[str]:
        found = self._audited.get((text, LEAF))
        if found is not None:
            return found
        assert self._audit_search is not None
        hits = [hit for hit in self._detector.strong(text) if hit.entity in STRONG or hit.ours]
        hits += self._audit_search.find(text)
        left = self._decisions.resolved(text, self._decisions.meant(text, hits))
        return self._note_audited((text, LEAF), frozenset(hit.entity for hit in left))

    def _note_audited(self, key: tuple[str, str], found: frozenset[str]) -> frozenset[str]:
        self._audited_chars += len(key[0])
        if self._audited_chars > AUDITED_CHARS:
            self._audited, self._audited_chars = {}, len(key[0])
        self._audited[key] = found
        return found

    def _everybodys(self) -> KnownValues:
        """What the audit looks for: values that are one person's wherever they stand."""
        self._read_names()
        if self._audit_search is None:
            everything = {
                known
                for values in self._known.values()
                for known in values
                if distinctive(known) and self._decisions.concern(known.entity, known.text)
            }
            self._audit_search, self._audited = KnownValues(everything, strict=True), {}
            self._audited_chars = 0
        return self._audit_search

    def _search(self, scopes: frozenset[str]) -> KnownValues:
        if self._unread:
            self._read_names()
        search = self._searches.pop(scopes, None)
        if search is None:
            search = KnownValues({known for scope in scopes for known in self._known.get(scope, ())})
            while len(self._searches) >= KEPT_SEARCHES:
                self._searches.popitem(last=False)
        self._searches[scopes] = search
        return search

    def _hits(self, leaf: Leaf, text: str, model: bool = True) -> list[Hit]:
        """What detection and the key find, less what the policy keeps."""
        if isinstance(leaf.value, int | float) and (
            not leaf.entity and len(text) < 9 or self._decisions.keeps_number(leaf)
        ):
            return []
        hits = list(self._detector.find(text) if model else self._detector.by_rule(text))
        if leaf.is_key:
            hits = [hit for hit in hits if hit.entity in STRONG]
        if leaf.entity:
            start, end = claimed(leaf.entity, text)
            ours = self._decisions.is_ours(leaf.entity, text[start:end])
            hits.append(Hit(start, end, leaf.entity, "key", 0.95, ours))
        return self._decisions.meant(text, hits) if hits else hits

    def _replace(self, leaf: Leaf, text: str, search: KnownValues) -> tuple[str, list[Hit]]:
        hits = self._hits(leaf, text)
        if not isinstance(leaf.value, int | float) or (len(text) >= 6 and not self._decisions.keeps_number(leaf)):
            propagated = search.find(text)
            if leaf.is_key and " " not in text:
                propagated = [hit for hit in propagated if hit.entity != "PERSON"]
            hits += self._decisions.meant(text, propagated)
        resolved = self._decisions.resolved(text, hits) if hits else []
        if not resolved:
            return str(leaf.source), []
        return leaf.edited(
            [(hit.start, hit.end, self._decisions.instead(hit.entity, text[hit.start : hit.end])) for hit in resolved]
        ), resolved

    def _walk(self, value: object, visit: Visit) -> object:
        try:
            return rewrite(value, visit)
        except KeyCollision:
            raise Unscannable("key_collision") from None
        except RecursionError:
            raise Unscannable("too_deep") from None


def _text(value: str | int | float) -> str:
    if isinstance(value, str):
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise Unscannable("undecodable") from None
        return value
    return str(value)


def _like(old: str | int | float, new: str) -> str | int | float:
    """`new` as a number where `old` was one and `new` is digits."""
    if isinstance(old, int) and _WHOLE.fullmatch(new):
        return int(new)
    return float(new) if isinstance(old, float) and _DECIMAL.fullmatch(new) else new
