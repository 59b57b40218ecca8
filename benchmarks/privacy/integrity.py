"""Whether cleaning keeps what must stay: JSON with its keys, one surrogate a value, the same bytes in every process.

python -m benchmarks.privacy.integrity [--seed 7] [--traces 60] [--values 200]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benchmarks.privacy import planting
from benchmarks.privacy.cleaners import KEY, Ours
from benchmarks.privacy.people import person
from benchmarks.privacy.synthetic import generated
from benchmarks.privacy.traces import Trace
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy

CONTEXTS = {
    "email": ("write to {} now", '{{"contact": "{}"}}', "<p>{}</p>", "log user={} ok", "메일은 {}입니다"),
    "phone": ("call {} now", '{{"phone": "{}"}}', "phone: {}", '{{"note": "tel {}!"}}'),
    "card": ("my card is {} ok", '{{"card_number": "{}"}}', "카드 {}입니다"),
    "iban": ("IBAN {}", '{{"iban": "{}"}}', "wire to {} please"),
    "ssn": ("SSN {}.", '{{"ssn": "{}"}}', "ssn={} x"),
    "rrn": ("({})", "주민등록번호 {}입니다", '{{"rrn": "{}"}}'),
    "ip": ("from {} port 22", '{{"client": "{}"}}', "{} - - [x]"),
    "name": ("I'm {}, hello", '{{"full_name": "{}"}}', "Dear Ms. {},", "name='{}'"),
    "kname": ("제 이름은 {}입니다", '{{"이름": "{}"}}', "{} 고객님"),
    "github": ("key {} here", '{{"api_key": "{}"}}', "x={}"),
}


def main() -> None:
    """Print what was broken; exit 1 where anything was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--traces", type=int, default=60)
    parser.add_argument("--values", type=int, default=200, help="of each kind")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    traces = generated(seed, options.traces)
    checked, broken = json_kept(traces)
    print(f"JSON texts: {checked}, broken or with other keys: {broken}")
    values, several = surrogates(random.Random(seed), options.values)
    print(f"values: {values}, with more than one surrogate: {several}")
    digests = {workers: in_processes(seed, options.traces, workers) for workers in (1, 2)}
    print(f"one process and two give {'the same' if digests[1] == digests[2] else 'DIFFERENT'} bytes")
    sys.exit(0 if not broken and not several and digests[1] == digests[2] else 1)


def json_kept(traces: list[Trace]) -> tuple[int, int]:
    """How many JSON texts there are in the traces, and how many lost a key, a type or their form."""
    cleaner, checked, broken = Ours(), 0, 0
    for trace in traces:
        for before, after in zip(trace.values, cleaner(trace.values), strict=True):
            for old, new in zip(_strings(before), _strings(after.value), strict=True):
                if (shape := _shape(old)) is not None:
                    checked += 1
                    broken += _shape(new) != shape
    return checked, broken


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


def _shape(text: str) -> Any:
    """Keys and kinds of a JSON text, deeper ones included; None where it is none. Keys with an at sign count as one."""
    try:
        loaded = json.loads(text)
    except ValueError:
        return None
    return _kinds(loaded) if isinstance(loaded, dict | list) else None


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return [("@" if "@" in key else key, _kinds(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_kinds(item) for item in value]
    inner = _shape(value) if isinstance(value, str) else None
    return inner if inner is not None else "number" if isinstance(value, int | float) else type(value).__name__


def surrogates(rng: random.Random, count: int) -> tuple[int, int]:
    """Values of each kind in several contexts and traces: how many there are, and how many have several surrogates."""
    cleaner = Deidentifier(PrivacyPolicy(), KEY)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind, contexts in CONTEXTS.items():
        for number in range(count):
            value = planting.make(rng, person(rng), kind)
            for place, context in enumerate(contexts):
                text = context.format(value)
                scope = f"{kind}/{number}/{place}"
                cleaner.learn(scope, text)
                before, _, after = context.replace("{{", "{").replace("}}", "}").partition("{}")
                made = cleaner.clean(text, [scope]).value
                found[kind, value].add(made[len(before) : len(made) - len(after)])
    for (kind, value), made_ones in found.items():
        if len(made_ones) > 1:
            print(f"  {kind} {value!r}: {sorted(made_ones)}")
    return len(found), sum(len(made_ones) > 1 for made_ones in found.values())


def in_processes(seed: int, count: int, workers: int) -> str:
    """A hash over all cleaned traces, in order, cleaned by so many fresh processes."""
    context = multiprocessing.get_context("spawn")
    shares = [(seed, count, worker, workers) for worker in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        made = [digest for digests in pool.map(_share, shares) for digest in digests]
    return hashlib.sha256("".join(text for _, text in sorted(made)).encode()).hexdigest()


def _share(share: tuple[int, int, int, int]) -> list[tuple[int, str]]:
    seed, count, worker, workers = share
    cleaner: Callable[[list[Any]], Any] = Ours()
    mine = [(number, trace) for number, trace in enumerate(generated(seed, count)) if number % workers == worker]
    return [
        (number, json.dumps([one.value for one in cleaner(trace.values)], ensure_ascii=False)) for number, trace in mine
    ]


if __name__ == "__main__":
    main()
