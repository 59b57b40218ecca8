"""What checks an answer, as `tracemill.yaml` says it: one model a method."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Annotated, Any, Literal

import regex
from pydantic import Field, JsonValue, field_validator, model_validator

from transforms.rewards.sandbox import Limits
from transforms.spec import Spec

RUNS = 3
"""Runs of a program that must agree."""


class Verifier(Spec):
    """What all have: which text is judged, and what it is compared with."""

    tool: str | None = Field(
        default=None, description="judge an argument of the last call of this tool, not the answer"
    )
    argument: str | None = Field(default=None, description="that argument's name")
    reference: JsonValue = Field(default=None, description="what is right, where it is the same for every task")
    references: str | None = Field(
        default=None,
        description="file of JSON lines {task, reference}: what is right for each task; `task` is its id as exported, "
        "or `task_id` of the warehouse",
    )

    @model_validator(mode="after")
    def _whole(self) -> Verifier:
        if (self.tool is None) != (self.argument is None):
            raise ValueError("tool and argument go together")
        if self.reference is not None and self.references is not None:
            raise ValueError("either reference or references")
        return self

    @property
    def files(self) -> list[Path]:
        """Files that the verdict rests on beside what is written here."""
        return [Path(self.references)] if self.references else []

    @property
    def needs_reference(self) -> bool:
        return False


class Math(Verifier):
    """The answer equals the reference as mathematics does: the library math-verify, exact to 6 decimals."""

    method: Literal["math"] = "math"

    @model_validator(mode="after")
    def _installed(self) -> Math:
        if importlib.util.find_spec("math_verify") is None:
            raise ValueError("`math` needs a library: pip install 'tracemill[math]'")
        return self

    @property
    def needs_reference(self) -> bool:
        return True


class Code(Verifier):
    """The program in the answer passes the reference's tests, in the sandbox, three times alike."""

    method: Literal["code"] = "code"
    reward: Literal["all", "fraction"] = Field(
        default="all", description="all: 1 where every test passes; fraction: the share, which a model learns to game"
    )
    limits: Limits = Limits()

    @property
    def needs_reference(self) -> bool:
        return True


class Sql(Verifier):
    """The query in the answer gives the rows of the reference's, on a database that neither can write."""

    method: Literal["sql"] = "sql"
    databases: tuple[str, ...] = Field(description="files of SQLite or DuckDB; on each of them the rows must be equal")
    ordered: bool | None = Field(default=None, description="whether order counts; none: where the reference orders")
    limits: Limits = Limits()

    @field_validator("databases", mode="before")
    @classmethod
    def _one(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def files(self) -> list[Path]:
        return [*super().files, *map(Path, self.databases)]

    @property
    def needs_reference(self) -> bool:
        return True


class ToolCalls(Verifier):
    """The calls equal the reference's (ToolRL, -3 to 3); without a reference: they fit the tools that were offered."""

    method: Literal["tool_call"] = "tool_call"
    on: Literal["trajectory", "steps"] = Field(default="trajectory", description="judge the whole or every step")


class JsonSchema(Verifier):
    """The answer is JSON of a schema."""

    method: Literal["json_schema"] = "json_schema"
    on: Literal["trajectory", "steps"] = "trajectory"
    json_schema: dict[str, JsonValue] = Field(alias="schema", description="a JSON schema")

    @field_validator("json_schema")
    @classmethod
    def _sound(cls, schema: dict[str, Any]) -> dict[str, Any]:
        import jsonschema

        try:
            jsonschema.validators.validator_for(schema).check_schema(schema)
        except jsonschema.SchemaError:
            raise ValueError("not a JSON schema") from None
        return schema


class Regex(Verifier):
    """A pattern occurs in the answer."""

    method: Literal["regex"] = "regex"
    on: Literal["trajectory", "steps"] = "trajectory"
    pattern: str = Field(description="a regular expression; with a group, and a reference: the group equals it")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            regex.compile(pattern)
        except regex.error:
            raise ValueError("not a regular expression") from None
        return pattern


class Citation(Verifier):
    """What the answer cites stands in what the tools brought: the share that does."""

    method: Literal["citation"] = "citation"
    what: tuple[Literal["quotes", "numbers", "marks"], ...] = Field(
        default=("quotes", "numbers"), description='quotes: "…" of three words or more; numbers; marks: [id] or 【id】'
    )
    tools: tuple[str, ...] = Field(default=(), description="tools whose results count; none named: all")


class Format(Verifier):
    """The answer has the shape that was asked for: its tags, once each and in order, and its length."""

    method: Literal["format"] = "format"
    on: Literal["trajectory", "steps"] = "trajectory"
    tags: tuple[str, ...] = Field(default=(), description="tags that stand once each, in this order: [think, answer]")
    only_tags: bool = Field(default=False, description="nothing stands outside of them")
    max_characters: int | None = Field(default=None, ge=1, description="longest that it may be")
    forbidden: tuple[str, ...] = Field(default=(), description="texts that may not occur")


class Function(Verifier):
    """A Python function of yours. It is trusted as the configuration is: it runs in this process."""

    method: Literal["function"] = "function"
    function: str = Field(
        pattern=r"^[\w.]+:\w+$",
        description="module:function; it takes a Subject and the reference, and gives a number, true, false or None",
    )

    @field_validator("function")
    @classmethod
    def _found(cls, name: str) -> str:
        try:
            found = importlib.util.find_spec(name.partition(":")[0])
        except (ImportError, ValueError):
            found = None
        if found is None or not found.origin:
            raise ValueError("no such module; it must be importable where tracemill runs (PYTHONPATH)")
        return name

    @property
    def files(self) -> list[Path]:
        found = importlib.util.find_spec(self.function.partition(":")[0])
        return [*super().files, *([Path(found.origin)] if found and found.origin else [])]


AnyVerifier = Annotated[
    Math | Code | Sql | ToolCalls | JsonSchema | Regex | Citation | Format | Function, Field(discriminator="method")
]


def digest_of(files: list[Path]) -> list[str]:
    """What the files hold; `none` for one that is not there, which the run will tell."""
    return [_digest(path) for path in files]


def _digest(path: Path) -> str:
    if not path.is_file():
        return "none"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
