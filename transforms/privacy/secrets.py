# ruff: noqa: E501  (forms of tokens)
"""Secrets: keys and tokens by their prefixes, passwords by what stands before them. No entropy: ids have it too."""

from __future__ import annotations

import re

from transforms.privacy.rule import CLOSE, OPEN, Rule
from transforms.privacy.words import words

_PLACEHOLDER = re.compile(
    r"(?i)[<${%*.].*|x{3,}.*|.*[(\[{<>].*|none|null|true|false|(?:my_?|your_?)?(?:pass(?:word)?|secret|token|api_?key)|string|"
    r"str|(?:bearer|basic|token) [$<{].*|required|optional|redacted|changeme|placeholder|"
    r"(?:os|process|self|config|settings|env|args)\..*"
)
_DIGEST = re.compile(r"sha(?:1|256|512)[:-]")
_KEY = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|auth[_-]?token|"
    r"access[_-]?token|refresh[_-]?token|bearer[_-]?token|secret[_-]?key|client[_-]?secret|accountkey|비밀번호)"
)
_KEY_ANCHORS = ("passw", "passphrase", "passcode", "pwd", "secret", "key", "token", "비밀번호")


def is_secret(text: str) -> bool:
    """Whether a value under a secret's key is one, rather than a placeholder, a word of code, a digest, or a link."""
    return "://" not in text and _DIGEST.search(text) is None and _PLACEHOLDER.fullmatch(text) is None


def _prefixed(name: str, regex: str, *anchors: str) -> Rule:
    return Rule("SECRET", name, OPEN + regex + CLOSE, 0.95, tuple(anchor.lower() for anchor in anchors))


RULES = (
    Rule(
        "SECRET",
        "private key block",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.{0,20000}?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY"
        r"(?: BLOCK)?-----|(?![A-Za-z0-9+/=\s\\:,.-]))"
        r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,.-]*+",
        1.0,
        ("private key",),
    ),
    _prefixed("aws key id", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _prefixed("github token", r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255})", "gh", "github_pat"),
    _prefixed("gitlab token", r"gl(?:pat|dt|rt|ptt)-[\w-]{20,}", "glpat", "gldt", "glrt", "glptt"),
    _prefixed(
        "model provider key",
        r"(?:sk-(?=[\w-]{0,255}\d)[\w-]{18,}|gsk_\w{20,}|xai-\w{20,}|r8_\w{20,}|tvly-[\w-]{16,}|"
        r"pk-lf-[\w-]{20,}|lsv2_(?:pt|sk)_\w{20,})",
        "sk-",
        "gsk_",
        "xai-",
        "r8_",
        "tvly",
        "pk-lf",
        "lsv2",
    ),
    _prefixed("stripe key", r"(?:[spr]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,})", "k_live", "k_test", "whsec"),
    _prefixed("slack token", r"(?:xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,})", "xox", "xapp"),
    Rule("SECRET", "webhook", r"https://hooks\.slack\.com/services/(?P<v>[\w/]{20,})", 0.95, ("hooks.slack",)),
    _prefixed("google key", r"(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})", "AIza", "ya29", "gocspx"),
    _prefixed(
        "hub token",
        r"(?:hf_[A-Za-z0-9]{25,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dop_v1_[0-9a-f]{64}|"
        r"SG\.[\w-]{16,}\.[\w-]{16,}|(?:AC|SK)[0-9a-f]{32})",
        "hf_",
        "npm_",
        "pypi-",
        "dop_v1",
        "sg.",
        "ac",
        "sk",
    ),
    _prefixed(
        "token of a service",
        r"(?:shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}|sq0(?:atp|csp|idp)-[\w-]{22,}|ATATT3[\w=-]{20,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|"
        r"dckr_pat_[\w-]{20,}|sntry[su]_[\w+/=-]{20,}|glsa_\w{30,}|rubygems_[0-9a-f]{40,}|figd_[\w-]{20,}|lin_api_\w{20,}|"
        r"ntn_\w{30,}|dapi[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{50,}|HRKU-[\w-]{20,}|pcsk_\w{20,}|pplx-[\w-]{30,}|"
        r"sbp_[0-9a-f]{40}|pscale_tkn_[\w-]{20,}|dp\.(?:pt|st|ct)\.\w{30,}|hvs\.[\w-]{20,}|nfp_\w{30,}|amzn\.mws\.[0-9a-f-]{36})",
        *words(
            "shp sq0 atatt3 pmak dckr_pat sntry glsa_ rubygems_ figd_ lin_api ntn_ dapi age-secret hrku pcsk_ pplx- sbp_ pscale"
        ),
        *words("dp.pt. dp.st. dp.ct. hvs. nfp_ amzn"),
    ),
    Rule(
        "SECRET",
        "token with its maker inside",
        OPEN + r"\w{14}\.atlasv1\.[\w-]{40,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + CLOSE,
        0.95,
        ("atlasv1", "pat"),
    ),
    _prefixed("bot token", r"\d{8,10}:AA[\w-]{33}", ":aa"),
    _prefixed("jwt", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?", "eyJ"),
    Rule(
        "SECRET",
        "password in a url",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@'\"<>]{0,100}:(?P<v>[^\s@/'\"<>]{2,200})@",
        0.95,
        ("://",),
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "authorization header",
        r"(?i)(?:bearer|basic|token)\s{1,3}(?P<v>(?=[\w.~+/=-]{0,999}\d)[\w.~+/=-]{16,})",
        0.9,
        ("bearer", "basic", "token"),
    ),
    Rule(
        "SECRET",
        "cookie header",
        r"(?i)(?<![\w-])(?:set-)?cookie[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<v>[\w.%-]{1,60}=(?=[^\n]{0,400}[\w%+/.-]{16})[^\n\"'\\]{8,4000})",
        0.85,
        ("cookie",),
    ),
    Rule(
        "SECRET",
        "authorization header in full",
        r"(?i)authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:bearer|basic|token|digest|apikey)\s{1,3}(?P<v>[\w.~+/=:-]{8,4000})",
        0.9,
        ("authorization",),
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "korean password",
        r"(?:비밀번호|암호|패스워드)(?:는|은|가|이)?\s{0,2}[:：=]?\s{0,2}[\"'`]?(?P<v>(?=\S{0,60}\d)[!-~]{4,64}[A-Za-z0-9!@#$%^&*?~])",
        0.8,
        ("비밀번호", "암호", "패스워드"),
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "quoted after its key",
        rf"(?i){_KEY}[\w-]{{0,12}}[\"'\\]{{0,3}}\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}\\?([\"'`])(?P<v>(?:(?!\1)[^\n\\]){{4,400}})",
        0.9,
        _KEY_ANCHORS,
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "after its key",
        rf"(?i){_KEY}[\w-]{{0,12}}\s{{0,3}}(?:=|:=|:)\s{{0,3}}(?P<v>(?=[^\s\"'`,;<]{{0,399}}\d)[^\s\"'`,;<]{{6,400}})",
        0.8,
        _KEY_ANCHORS,
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "environment assignment",
        r"(?m)^(?:export\s+)?[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]{0,20}=(?P<v>[^\s\"'$#]{4,400})",
        0.85,
        ("=",),
        valid=is_secret,
    ),
    Rule(
        "SECRET",
        "password in a sentence",
        r"(?i)(?:password|passcode|pin(?: code)?|api key|secret)(?: is|'s| was| to)"
        r"\s{1,3}[:\"'`*]{0,2}(?P<v>(?=\S{0,60}\d)[^\s\"'`,;<]{4,64}[^\s\"'`,;.!?<])",
        0.8,
        ("password", "passcode", "pin", "api key", "secret"),
        valid=is_secret,
    ),
)
