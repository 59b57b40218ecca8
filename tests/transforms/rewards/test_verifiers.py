"""Verifiers tell what is right; what failed, was altered or is missing is NULL, and never 0."""

import json
import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest
from pydantic import TypeAdapter, ValidationError

from transforms.rewards import sandbox
from transforms.rewards.code_checks import Ran, passes_tests
from transforms.rewards.math_checks import same_mathematics
from transforms.rewards.sandbox import no_sandbox
from transforms.rewards.sql_checks import orders, rows_match, same_rows
from transforms.rewards.subjects import Call, Subject
from transforms.rewards.text_checks import fits_schema, grounded, matches, shaped
from transforms.rewards.tool_calls import fitting, toolrl
from transforms.rewards.verifier_spec import AnyVerifier, Citation, Code, Format, Regex, Sql
from transforms.rewards.verify import Reference, verify

SPEC = TypeAdapter(AnyVerifier)
SANDBOXED = pytest.mark.skipif(bool(no_sandbox()), reason=f"no sandbox on this machine: {no_sandbox()}")

MATHEMATICS = [
    (r"\boxed{1/2}", r"\boxed{0.5}", 1), (r"$\frac{1}{2}$", "$0.5$", 1), ("$x+1$", "$1+x$", 1),
    (r"$\{1,2\}$", r"$\{2,1\}$", 1), ("$(1,2)$", "$(2,1)$", 0), ("$3.14$", r"$\pi$", 0), ("$1000$", "1,000", 1),
    (r"$50\%$", "$0.5$", 1), (r"$\sqrt{8}$", r"$2\sqrt{2}$", 1), ("$x=5$", "$5$", 1), ("$5$", "$x=5$", 1),
    ("The answer is 42", "42", 1), ("$12$", "I think it is 12 or 13", 0), (r"$\frac{1}{3}$", "0.333333", 1),
    (r"$\frac{1}{3}$", "0.33", 0), ("yes", "yes", 0), ("$x<2$", "$2>x$", 1),
]  # fmt: skip
SEARCH = {"name": "search", "parameters": {"q": "seoul weather", "k": 3}}
CONVERT = {"name": "convert", "parameters": {"unit": "C"}}


def _subject(text: str = "", **fields: object) -> Subject:
    known = {"trajectory_id": "t", "rollout_id": "t", "step": -1, "task_id": "h", "task": "1", "span_id": "s"}
    return Subject(**{**known, "text": text, **fields})  # type: ignore[arg-type]


def _verdict(check: dict[str, object], subject: Subject, **references: Reference) -> tuple[float | None, str]:
    rows = verify(SPEC.validate_python(check), [[subject]], {name.strip("_"): one for name, one in references.items()})
    return rows["value"][0], rows["verdict"][0]


def test_equal_mathematics_is_right_however_it_is_written() -> None:
    pytest.importorskip("math_verify")
    told = same_mathematics([(gold, answer) for gold, answer, _ in MATHEMATICS])
    assert [value for value, _ in told] == [float(right) for *_, right in MATHEMATICS]
    assert all(seconds > 0 for _, seconds in told)


def test_mathematics_that_eats_all_memory_is_an_error_and_takes_no_neighbour_along() -> None:
    pytest.importorskip("math_verify")
    told = same_mathematics([("$1$", "$9^{9^{9^{9}}}$"), ("$2$", "2")])
    assert [value for value, _ in told] == [None, 1.0]


@pytest.mark.parametrize(
    ("calls", "worth"),
    [
        ([SEARCH, CONVERT], 3.0),
        ([{"name": "search", "parameters": {"q": "seoul", "k": 3}}, CONVERT], 2.0),
        ([SEARCH], 0.5),
        ([{**SEARCH, "name": "browse"}, CONVERT], -0.6666666666666665),
        ([{"name": "search", "parameters": {"q": "seoul weather", "k": 3, "lang": "ko"}}, CONVERT], 2.666666666666667),
        ([CONVERT, SEARCH], 3.0),
        ([], -3.0),
    ],
)
def test_tool_calls_are_worth_what_toolrl_says(calls: list[dict[str, object]], worth: float) -> None:
    assert toolrl([SEARCH, CONVERT], calls) == pytest.approx(worth, abs=1e-9)


def test_arguments_that_are_no_json_are_worth_the_least_and_no_wanted_call_nothing() -> None:
    torn = _subject("", calls=(Call("search", "{torn"),))
    assert _verdict({"method": "tool_call", "reference": [SEARCH]}, torn) == (-3.0, "ok")
    assert toolrl([], [SEARCH]) == 0.0


OFFERED = json.dumps([
    {"type": "function", "function": {"name": "refund", "parameters": {
        "type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}}},
])  # fmt: skip


def test_calls_fit_the_tools_that_were_offered() -> None:
    good, wrong, unknown = Call("refund", '{"order": 7}'), Call("refund", '{"order": "x"}'), Call("pay", "{}")
    assert fitting([good, wrong, unknown, Call("refund", "{")], OFFERED) == 0.25
    assert fitting([good], OFFERED) == 1.0 and fitting([], OFFERED) is None and fitting([good], None) is None


@pytest.mark.parametrize(
    ("gold", "given", "ordered", "same"),
    [
        ([[1, "a"], [2, "b"]], [[2, "b"], [1, "a"]], False, True),
        ([[1, "a"], [2, "b"]], [[2, "b"], [1, "a"]], True, False),
        ([[1.0]], [[1]], False, True),
        ([[None]], [[None]], False, True),
        ([[1], [1]], [[1]], False, False),
        ([[0.30000000000000004]], [[0.3]], False, True),
        ([[0.30000000000000004, 2], [0.3, 1]], [[0.3, 2], [0.30000000000000004, 1]], False, True),
        ([[1], [1], [2]], [[1], [2], [2]], False, False),
        ([["1"]], [[1]], False, False),
        ([[None]], [[0]], False, False),
    ],
)
def test_rows_are_compared_as_multisets_unless_order_counts(
    gold: list[list[object]], given: list[list[object]], ordered: bool, same: bool
) -> None:
    assert rows_match(gold, given, ordered) is same


def test_only_the_outermost_query_orders() -> None:
    assert orders("SELECT a FROM t ORDER BY a") and not orders("SELECT * FROM (SELECT a FROM t ORDER BY a LIMIT 3) x")
    assert not orders("SELECT 'order by' FROM t -- ORDER BY a")


@pytest.fixture
def shop(tmp_path: Path) -> dict[str, str]:
    with sqlite3.connect(tmp_path / "shop.sqlite") as lite:
        lite.execute("CREATE TABLE orders (id INTEGER, total REAL, name TEXT)")
        lite.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(1, 9.5, "a"), (2, 20.0, "b"), (3, 20.0, "b")])
    lite.close()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as duck:
        duck.execute(
            "CREATE TABLE orders AS SELECT * FROM (VALUES (1, 9.5, 'a'), (2, 20, 'b'), (3, 20, 'b')) t(id, total, name)"
        )
    return {kind: str(tmp_path / f"shop.{kind}") for kind in ("sqlite", "duckdb")}


@SANDBOXED
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_queries_are_right_by_the_rows_that_they_give(shop: dict[str, str], kind: str) -> None:
    check = Sql(databases=(shop[kind],))
    gold = "SELECT name, count(*) FROM orders GROUP BY name"
    before = Path(shop[kind]).read_bytes()
    for query, right in [
        ("```sql\nSELECT name, count(id) AS n FROM orders GROUP BY 1 ORDER BY 1 DESC\n```", 1.0),
        ("SELECT name, 1 FROM orders", 0.0),
        ("SELECT nothing", 0.0),
        ("DROP TABLE orders", 0.0),
        ("ATTACH '/work/x.db' AS other", 0.0),
    ]:
        assert same_rows(check, query, gold) == Ran("ok", right, str(right)), query
    assert same_rows(check, gold, "SELECT broken FROM").verdict == "error"
    assert Path(shop[kind]).read_bytes() == before


@SANDBOXED
def test_duckdb_reads_no_file_but_the_database(shop: dict[str, str]) -> None:
    check = Sql(databases=(shop["duckdb"],))
    assert same_rows(check, "SELECT * FROM read_text('/work/run.py')", "SELECT 1").value == 0.0


@SANDBOXED
def test_queries_must_agree_on_every_database(shop: dict[str, str]) -> None:
    check = SPEC.validate_python({"method": "sql", "databases": [shop["sqlite"], shop["duckdb"]]})
    assert same_rows(check, "SELECT max(total) FROM orders", "SELECT 20.0").value == 1.0
    assert same_rows(check, "SELECT typeof(total) = 'real' FROM orders LIMIT 1", "SELECT 1").value == 0.0


ADD = "```python\ndef add(a, b):\n    return a + b\n```"
TESTS = "def test_small():\n    assert add(1, 2) == 3\ndef test_other():\n    assert add(2, 2) == 4"


@SANDBOXED
@pytest.mark.parametrize(
    ("program", "value"),
    [
        (ADD, 1.0),
        ("Here it is:\n" + ADD.replace("a + b", "a * b"), 0.0),
        ("```python\nimport os\nos._exit(0)\n```", 0.0),
        ("```python\nraise SystemExit(0)\n```", 0.0),
        ("```python\nprint('passed 2 2')\n```", 0.0),
        ("```python\ndef add(a, b): return 3\ndef test_mine(): pass\n```", 0.0),
        ("```python\ndef (\n```", 0.0),
    ],
)
def test_a_program_is_right_where_all_tests_pass(program: str, value: float) -> None:
    assert passes_tests(Code(), program, TESTS).value == value


@SANDBOXED
@pytest.mark.parametrize("told", ["from solution import add", "import solution\nadd = solution.add", ""])
def test_tests_see_the_programs_names_and_may_import_it(told: str) -> None:
    assert passes_tests(Code(), ADD, f"{told}\nassert add(1, 2) == 3").value == 1.0
    assert passes_tests(Code(), ADD, f"{told}\nassert add(1, 2) == 4").value == 0.0


@SANDBOXED
def test_the_share_of_tests_and_cases_of_input_and_output_count_too() -> None:
    half = ADD.replace("a + b", "a * b")  # 2 · 2 = 2 + 2
    assert passes_tests(Code(reward="fraction"), half, TESTS).value == 0.5
    cases = {"cases": [{"stdin": "2 3", "stdout": "5\n"}, {"stdin": "1 1", "stdout": "2"}]}
    summing = "a, b = map(int, input().split())\nprint(a + b)"
    assert passes_tests(Code(), summing, cases).value == 1.0
    assert passes_tests(Code(), "print(5)", cases).value == 0.0


@SANDBOXED
def test_runs_that_do_not_agree_are_flaky_and_have_no_value() -> None:
    lucky = "import os\ndef lucky(): return os.urandom(8)[0]"
    ran = passes_tests(Code(), lucky, "seen = lucky()\ndef test_it():\n    assert seen % 2")
    tries = [ran] + [passes_tests(Code(), lucky, "def test_it():\n    assert lucky() % 2") for _ in range(7)]
    assert "flaky" in {one.verdict for one in tries}
    assert all((one.value is None) == (one.verdict == "flaky") for one in tries)


def test_without_isolation_code_and_sql_refuse(
    monkeypatch: pytest.MonkeyPatch, shop: dict[str, str], tmp_path: Path
) -> None:
    """The program would leave a file; it is not run at all."""
    monkeypatch.setattr(sandbox, "LAUNCHER", tmp_path / "none.py")
    no_sandbox.cache_clear()
    try:
        program = f"open({str(tmp_path / 'ran')!r}, 'w')"
        assert _verdict({"method": "code", "reference": "pass"}, _subject(program)) == (None, "no_sandbox")
        query = {"method": "sql", "databases": shop["sqlite"], "reference": "SELECT 1"}
        assert _verdict(query, _subject("SELECT 1")) == (None, "no_sandbox")
    finally:
        no_sandbox.cache_clear()
    assert not (tmp_path / "ran").exists()


def test_a_pattern_occurs_or_its_group_equals_the_reference() -> None:
    assert matches(Regex(pattern=r"\d{3}"), "order 123", None) == 1.0
    final = Regex(pattern=r"Answer: (\w+)")
    assert matches(final, "Answer: a … Answer: b", "b") == 1.0 and matches(final, "Answer: a", "b") == 0.0


def test_a_pattern_that_takes_too_long_is_an_error_and_not_0() -> None:
    slow = {"method": "regex", "pattern": r"^(?:(?:a|aa)+)+$"}
    value, verdict = _verdict(slow, _subject("a" * 60 + "b"))
    assert (value, verdict) in [(None, "error"), (0.0, "ok")]
    assert (value is None) == (verdict == "error")


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', 1), ('Sure:\n```json\n{"a": 1}\n```', 1), ('{"a": "x"}', 0), ("{torn", 0), ('{"a": NaN}', 0)],
)
def test_json_fits_its_schema(text: str, value: float) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert fits_schema(SPEC.validate_python({"method": "json_schema", "schema": schema}), text) == value


def test_a_format_is_tags_once_each_in_order_and_a_length() -> None:
    check = Format(tags=("think", "answer"), only_tags=True, max_characters=60)
    assert shaped(check, "<think>x</think>\n<answer>y</answer>") == 1.0
    for wrong in (
        "<answer>y</answer><think>x</think>", "<think>x</think>", "so <think>x</think><answer>y</answer>",
        "<think>x</think><answer>y</answer><answer>z</answer>", "<think>x</think><answer>" + "y" * 60 + "</answer>",
        "<think>x<answer></think>y</answer>",
    ):  # fmt: skip
        assert shaped(check, wrong) == 0.0


def test_what_is_cited_must_stand_in_what_the_tools_brought() -> None:
    brought = [("search", "Bags may weigh  23 kg. Fee: 1,200 EUR. [doc-7]"), ("other", "99")]
    told = 'It says "bags may weigh 23 KG", so 23 kg and 1200 EUR, not 99 [doc-7].'
    assert grounded(Citation(), told, brought) == 1.0
    assert grounded(Citation(tools=("search",)), told, brought) == 0.8
    assert grounded(Citation(what=("marks",)), "see [doc-7] and [doc-8]", brought) == 0.5
    assert grounded(Citation(), "No numbers here.", brought) is None


def test_a_function_of_the_user_is_called_and_what_it_raises_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_grades.py").write_text(
        "def right(subject, reference):\n    return subject.text == reference\n"
        "def broken(subject, reference):\n    raise RuntimeError(subject.text)\n"
        "def silent(subject, reference):\n    return None\n"
        "def endless(subject, reference):\n    return float('inf')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def told(name: str) -> tuple[float | None, str]:
        return _verdict({"method": "function", "function": f"my_grades:{name}", "reference": "4"}, _subject("4"))

    assert told("right") == (1.0, "ok") and told("silent") == (None, "missing")
    assert told("broken") == (None, "error") == told("endless") == told("nowhere")
    sys.modules.pop("my_grades", None)


@pytest.mark.parametrize(
    "check",
    [
        {"method": "math", "reference": "4"},
        {"method": "code", "reference": "pass"},
        {"method": "regex", "pattern": "4"},
        {"method": "format"},
        {"method": "citation"},
        {"method": "json_schema", "schema": {}},
        {"method": "tool_call"},
        {"method": "function", "function": "json:dumps"},
    ],
)
def test_what_cleaning_altered_has_no_verdict(check: dict[str, object]) -> None:
    calls = (Call("refund", "{}"),)
    touched = _subject("4", altered=True, calls_altered=True, calls=calls, tools=OFFERED)
    assert _verdict(check, touched) == (None, "altered")


def test_an_altered_reference_or_source_has_no_verdict_and_an_absent_one_is_missing() -> None:
    check = {"method": "regex", "pattern": "(4)", "references": "answers.jsonl"}
    assert _verdict(check, _subject("4"), _1=Reference("4", altered=True)) == (None, "altered")
    assert _verdict(check, _subject("4"), _1=Reference("4")) == (1.0, "ok")
    assert _verdict({"method": "math", "references": "answers.jsonl"}, _subject("4")) == (None, "missing")
    assert _verdict({"method": "citation"}, _subject("4", retrieved_altered=True)) == (None, "altered")
    assert _verdict({"method": "regex", "pattern": "4"}, _subject(" ")) == (None, "missing")


def test_an_argument_of_a_call_is_judged_where_the_answer_is_not_what_counts() -> None:
    check = {"method": "regex", "pattern": "^SELECT", "tool": "sql", "argument": "query"}
    calls = (Call("sql", '{"query": "DELETE"}'), Call("sql", '{"query": "SELECT 1"}'), Call("other", "{}"))
    assert _verdict(check, _subject("Done.", calls=calls)) == (1.0, "ok")
    assert _verdict(check, _subject("SELECT", calls=())) == (None, "missing")


def test_steps_are_judged_one_by_one_and_the_whole_is_their_mean() -> None:
    check = SPEC.validate_python({"method": "regex", "pattern": "ok", "on": "steps"})
    steps = [_subject(text, step=number) for number, text in enumerate(("ok", "no", ""))]
    rows = verify(check, [[*steps, _subject("")]], {})
    assert rows.sort("step").select("step", "value", "verdict").rows() == [
        (-1, 0.5, "ok"), (0, 1.0, "ok"), (1, 0.0, "ok"), (2, None, "missing"),
    ]  # fmt: skip


def test_known_verdicts_are_taken_over_while_the_evidence_is_the_same() -> None:
    check = SPEC.validate_python({"method": "regex", "pattern": "4"})
    first = verify(check, [[_subject("4")]], {})
    known = {("t", -1, first["evidence_hash"][0]): (0.25, "ok", 9.0)}
    assert verify(check, [[_subject("4")]], {}, known)["duration"].to_list() == [9.0]
    assert verify(check, [[_subject("44")]], {}, known)["value"].to_list() == [1.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "regex", "pattern": "("},
        {"method": "json_schema", "schema": {"type": "nothing"}},
        {"method": "function", "function": "no_such_module:f"},
        {"method": "regex", "pattern": "x", "tool": "sql"},
        {"method": "math", "reference": "1", "references": "f"},
        {"method": "unheard of"},
    ],
)
def test_a_wrong_verifier_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SPEC.validate_python(wrong)
