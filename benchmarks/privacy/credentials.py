# ruff: noqa: E501  (tables are read across)
"""Invented secrets in the form that their issuers give them, and passwords as people choose them."""

from __future__ import annotations

import base64
import json
import random
import string

ALNUM = string.ascii_letters + string.digits
KINDS = (
    "aws key id", "aws secret key", "github", "github fine-grained", "gitlab", "openai", "anthropic", "slack", "stripe", "google", "jwt", "pem",
    "database url", "redis url", "bearer", "basic", "azure storage", "npm", "hugging face", "sendgrid", "twilio", "telegram", "password", "session cookie",
    "shopify", "digitalocean", "slack webhook",
)  # fmt: skip


def token(rng: random.Random, count: int, alphabet: str = ALNUM) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def encoded(rng: random.Random, count: int) -> str:
    """Base64 of random bytes."""
    return base64.b64encode(rng.randbytes(count)).decode()


def jwt(rng: random.Random) -> str:
    parts = [
        {"alg": "HS256", "typ": "JWT"},
        {"sub": token(rng, 10, string.digits), "iat": 1_790_000_000 + rng.randrange(10**6)},
    ]
    head = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{token(rng, 43, ALNUM + '-_')}"


def pem(rng: random.Random) -> str:
    kind = rng.choice(["RSA ", "EC ", "", "OPENSSH "])
    body = encoded(rng, rng.choice([120, 600, 1200]))
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def password(rng: random.Random) -> str:
    """As a person chooses it: words with a number and a mark, or what a generator gave."""
    word = token(rng, 1, string.ascii_uppercase) + token(rng, 4, "aeioulnrst") + token(rng, 3, "bcdfgkmp")
    return rng.choice(
        [
            f"{word}{rng.choice('!#*?')}{rng.randrange(10, 9999)}",
            token(rng, 16) + "7",
            f"{word}_{rng.randrange(1950, 2030)}",
        ]
    )


def secret(rng: random.Random, kind: str) -> str:
    """The part that nobody else may know; `placed` says in what it usually stands."""
    upper = string.ascii_uppercase + string.digits
    made = {
        "aws key id": lambda: rng.choice(["AKIA", "ASIA"]) + token(rng, 16, upper.replace("0", "").replace("1", "")),
        "aws secret key": lambda: token(rng, 39, ALNUM + "+/") + "7",
        "github": lambda: rng.choice(["ghp_", "gho_", "ghs_"]) + token(rng, 36),
        "github fine-grained": lambda: f"github_pat_{token(rng, 22)}_{token(rng, 59)}",
        "gitlab": lambda: "glpat-" + token(rng, 20, ALNUM + "-"),
        "openai": lambda: rng.choice(["sk-proj-", "sk-svcacct-", "sk-"]) + token(rng, 40) + "3x" + token(rng, 8, ALNUM + "_"),
        "anthropic": lambda: f"sk-ant-api03-{token(rng, 70, ALNUM + '-_')}9A-{token(rng, 6)}AA",
        "slack": lambda: f"{rng.choice(['xoxb', 'xoxp'])}-{token(rng, 12, string.digits)}-{token(rng, 12, string.digits)}-{token(rng, 24)}",
        "slack webhook": lambda: f"https://hooks.slack.com/services/T{token(rng, 8, upper)}/B{token(rng, 10, upper)}/{token(rng, 24)}",
        "stripe": lambda: rng.choice(["sk_live_", "rk_live_", "sk_test_"]) + token(rng, 24),
        "google": lambda: "AIza" + token(rng, 35, ALNUM + "-_"),
        "jwt": lambda: jwt(rng),
        "pem": lambda: pem(rng),
        "database url": lambda: password(rng),
        "redis url": lambda: token(rng, 24),
        "bearer": lambda: token(rng, 39, ALNUM + "-_") + "4",
        "basic": lambda: base64.b64encode(f"{token(rng, 6)}:{token(rng, 12)}9".encode()).decode(),
        "azure storage": lambda: encoded(rng, 64),
        "npm": lambda: "npm_" + token(rng, 36),
        "hugging face": lambda: "hf_" + token(rng, 34),
        "sendgrid": lambda: f"SG.{token(rng, 22)}.{token(rng, 43, ALNUM + '-_')}",
        "twilio": lambda: "SK" + token(rng, 32, "0123456789abcdef"),
        "telegram": lambda: f"{token(rng, 9, string.digits)}:AA{token(rng, 33, ALNUM + '-_')}",
        "shopify": lambda: rng.choice(["shpat_", "shpss_"]) + token(rng, 32, "0123456789abcdef"),
        "digitalocean": lambda: "dop_v1_" + token(rng, 64, "0123456789abcdef"),
        "password": lambda: password(rng),
        "session cookie": lambda: token(rng, 32, "0123456789abcdef"),
    }  # fmt: skip
    return made[kind]()


CARRIERS = {
    "aws secret key": "aws_secret_access_key = {}", "database url": "postgresql://svc_orders:{}@db-3.internal:5432/orders",
    "redis url": "rediss://default:{}@cache-1.internal:6380/0", "bearer": "Authorization: Bearer {}", "basic": "Authorization: Basic {}",
    "azure storage": "DefaultEndpointsProtocol=https;AccountName=files7;AccountKey={};EndpointSuffix=core.windows.net",
    "password": "password: {}", "session cookie": "Cookie: theme=dark; sessionid={}; lang=en",
}  # fmt: skip


def placed(kind: str, value: str) -> str:
    """The secret in the line that makes it one; most kinds are known by their own form."""
    return CARRIERS.get(kind, "{}").format(value)
