"""What is right, task by task: files of references, cleaned with the tenant's key as the traces are."""

import json
from pathlib import Path
from typing import Any

from assets.mill import Mill
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.unscannable import Unscannable
from transforms.rewards.spec import RewardSpec
from transforms.rewards.verify import Reference, References
from warehouse.problem import Problem


def references_of(mill: Mill, spec: RewardSpec) -> dict[str, References]:
    """The references of each file that verifiers name. Raises Problem with the line where one is not right."""
    parts = [part.verifier for part in spec.components.values() if part.verifier]
    names = sorted({part.references for part in parts if part.references})
    if not names:
        return {}
    deidentifier = Deidentifier(mill.settings.privacy, mill.key)
    return {name: dict(_read(Path(name), deidentifier)) for name in names}


def _read(path: Path, deidentifier: Deidentifier) -> list[tuple[str, Reference]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read the references at {path} ({type(error).__name__})") from None
    return [_reference(path, number, line, deidentifier) for number, line in enumerate(lines, 1) if line.strip()]


def _reference(path: Path, number: int, line: str, deidentifier: Deidentifier) -> tuple[str, Reference]:
    try:
        row: Any = json.loads(line)
        task, right = str(row["task"]), row["reference"]
        named, cleaned = deidentifier.clean([task], []).value[0], deidentifier.clean([right], [])
    except (ValueError, KeyError, TypeError):
        raise Problem(f'{path}, line {number}: a line is {{"task": …, "reference": …}}') from None
    except Unscannable:
        raise Problem(f"{path}, line {number}: cannot be searched for personal data") from None
    return str(named), Reference(cleaned.value[0], cleaned.altered)
