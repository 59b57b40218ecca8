"""`tracemill.yaml`: read once, checked whole, told in words where it is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator

from transforms.datasets.release_spec import ReleaseSpec
from transforms.privacy.policy import PrivacyPolicy
from transforms.rewards.spec import GateSpec, RewardSpec
from transforms.spec import Spec
from warehouse.digest import text_digest
from warehouse.home import Home, home_folder
from warehouse.problem import Problem

Model = TypeVar("Model", bound=BaseModel)

CONFIG_FILE = "tracemill.yaml"


class TrainSettings(Spec):
    """Flags of the trainers, whose defaults hold where none is given: `python -m training.dpo --help` tells them."""

    epochs: float | None = Field(None, gt=0, description="passes over the training split; replay overfits soon")
    lr: float | None = Field(None, gt=0, description="peak learning rate; none: 1e-6, or 1e-3 for the tiny model")
    batch_size: int | None = Field(None, ge=1, description="items in one forward pass on one device")
    accumulation: int | None = Field(None, ge=1, description="forward passes in one optimiser step")
    max_length: int | None = Field(
        None, ge=64, description="tokens of a call with its prompt; longer ones are left out"
    )
    seed: int | None = Field(None, description="seed of the order, of dropout and of the tiny model")

    def flags(self) -> list[str]:
        """The settings as flags; what is none is left to the trainer."""
        given = {name: value for name, value in self.model_dump().items() if value is not None}
        return [text for name, value in given.items() for text in (f"--{name.replace('_', '-')}", str(value))]


class DpoSettings(TrainSettings):
    """Direct preference optimisation."""

    loss: Literal["sigmoid", "cdpo", "robust", "ipo", "ipo_sum", "hinge", "sigmoid_norm"] | None = Field(
        None, description="sigmoid is DPO; sigmoid_norm wants a beta of 1 to 10"
    )
    beta: float | None = Field(None, gt=0, description="how dearly leaving the reference is paid")


class GrpoSettings(TrainSettings):
    """GRPO replayed on logged rollouts."""

    loss: Literal["clip", "dual_clip", "cispo"] | None = Field(None, description="the surrogate")
    kl: float | None = Field(None, ge=0, description="weight of the KL term to the reference")


class TrainingSettings(Spec):
    """The start policy and the settings of each objective."""

    model: str | None = Field(None, description="folder of the start policy; none: a tiny one made on the spot")
    dpo: DpoSettings = DpoSettings()
    grpo: GrpoSettings = GrpoSettings()


class Settings(Spec):
    """Everything that may be said in `tracemill.yaml`; each part is described by the model it belongs to."""

    landing: str = Field("landing", description="folder or URL of dated folders in which exports arrive")
    storage_options: dict[str, dict[str, Any]] = Field(
        {}, repr=False, description="by protocol, such as s3: what fsspec is to be given beside the environment"
    )
    lake: str = Field("lake", description="folder of the lake; relative: in the home")
    max_quarantined: float = Field(0.05, ge=0, le=1, description="share of a day's traces that may be held back")
    workers: int | None = Field(
        None, ge=1, description="processes that clean a day, up to 300 MB each; none: what the day is worth, up to 8"
    )
    privacy: PrivacyPolicy = PrivacyPolicy()
    rewards: RewardSpec = RewardSpec()
    gates: GateSpec = GateSpec()
    release: ReleaseSpec = ReleaseSpec()
    training: TrainingSettings = TrainingSettings()

    @field_validator("lake")
    @classmethod
    def _is_a_folder(cls, lake: str) -> str:
        if "://" in lake:
            raise ValueError("a folder of this machine, not a URL; only exports may lie in an object store (`landing`)")
        return lake

    @property
    def home(self) -> Home:
        """The home that `TRACEMILL_HOME` names, with the lake of these settings."""
        return Home.at(home_folder(), self.lake)

    def read_by(self, asset: str) -> str:
        """Hash of the part that an asset reads: another part may change without making it stale."""
        parts: dict[str, Any] = {
            "clean_spans": [self.privacy.model_dump(mode="json"), self.max_quarantined],
            "gates": self.gates.model_dump(mode="json"),
            "rewards": self.rewards.rests_on,
        }
        return text_digest(parts.get(asset))


def load_settings(path: Path | None = None) -> Settings:
    """Settings of `path`, else of `TRACEMILL_CONFIG`, else of `tracemill.yaml` here, else the defaults.

    Raises Problem: what is wrong, where, and what would be right.
    """
    file = path or settings_file()
    if not file.exists():
        if file != Path(CONFIG_FILE):
            raise Problem(f"there is no configuration at {file}")
        return Settings()
    return parse(Settings, _read_yaml(file), file)


def settings_file() -> Path:
    """The file that `TRACEMILL_CONFIG` names, else `tracemill.yaml` in the working folder, there or not."""
    return Path(os.environ.get("TRACEMILL_CONFIG") or CONFIG_FILE)


def load_spec(path: Path) -> ReleaseSpec:
    """A release specification of its own file. Raises Problem as `load_settings` does."""
    if not path.exists():
        raise Problem(f"there is no release specification at {path}")
    return parse(ReleaseSpec, _read_yaml(path), path)


def load_part(path: Path, parts: Mapping[str, type[BaseModel]]) -> dict[str, BaseModel]:
    """Those of some parts of the settings that a file holds; others are left alone. Raises Problem."""
    content = _read_yaml(path)
    held = {name: content[name] for name in parts if isinstance(content, dict) and name in content}
    if not held:
        raise Problem(f"{path}: none of {', '.join(f'`{name}:`' for name in parts)} is in it")
    whole = parse(Settings, held, path)
    return {name: getattr(whole, name) for name in held}


def parse(model: type[Model], content: Any, file: Path) -> Model:
    """`content` of `file` as `model`. Raises Problem that names every wrong place."""
    if not isinstance(content, dict):
        raise Problem(f"{file}: a mapping of settings is needed, such as\n  landing: landing")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = [f"  {_where(model, item['loc'])}: {_what(model, item)}" for item in error.errors(include_input=False)]
        raise Problem("\n".join([f"{file} is not right:", *lines])) from None


_BOOL = "tag:yaml.org,2002:bool"


class _Once(yaml.SafeLoader):
    """YAML whose keys stand once, as YAML wants it: of two hard rules with one name the first would be lost. As in YAML
    1.2, `on`, `yes` and `no` are words: verifiers have a key `on`, and people say yes."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag != _BOOL]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and key.tag != "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is there twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


_Once.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def _read_yaml(file: Path) -> Any:
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_Once) or {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise Problem(f"{file}{where}: not YAML ({error.problem})") from None
    except (UnicodeDecodeError, yaml.YAMLError):
        raise Problem(f"{file} is not YAML: it must be text in UTF-8 without control characters") from None
    except OSError as error:
        raise Problem(f"{file} cannot be read ({error.strerror})") from None


def _where(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """The place as its file writes it: the name of a method that pydantic puts into it is no key of the file."""
    written = [part for at, part in enumerate(location) if not _is_tag(_models_at(model, location[:at]), part)]
    return ".".join(map(str, written))


def _what(model: type[BaseModel], item: Any) -> str:
    if item["type"] == "extra_forbidden":
        known = _model_at(model, item["loc"][:-1])
        return f"unknown; known here: {', '.join(sorted(known.model_fields))}" if known else "unknown"
    field = _field_at(model, item["loc"])
    needed = "a mapping is needed; without one, leave the key out" if item["type"] == "model_type" else item["msg"]
    return f"{needed.removeprefix('Value error, ')}{f' ({field})' if field else ''}"


def _field_at(model: type[BaseModel], location: tuple[int | str, ...]) -> str | None:
    owner = _model_at(model, location[:-1])
    field = owner.model_fields.get(str(location[-1])) if owner and location else None
    return field.description if field else None


def _model_at(model: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel] | None:
    return next(iter(_models_at(model, location)), None)


def _models_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """The model that stands at `location`, or those of which one may; keys of mappings and numbers in lists stand for
    themselves."""
    current = [model]
    for part in location:
        if _is_tag(current, part):
            current = [one for one in current if _method_of(one) == part]
        elif (field := current[0].model_fields.get(str(part)) if current else None) is not None:
            current = _models_in(field.annotation)
    return current


def _is_tag(models: list[type[BaseModel]], part: int | str) -> bool:
    """Whether `part` says which of several models is meant."""
    return len(models) > 1 and any(_method_of(model) == part for model in models)


def _method_of(model: type[BaseModel]) -> object:
    return model.model_fields["method"].default if "method" in model.model_fields else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation is, or is a mapping, list, union or option of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
