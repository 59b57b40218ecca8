"""The policy: what is kept, dropped, allowed, and what users add."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.detector import RULES
from transforms.privacy.policy import TYPES, PrivacyPolicy, UserPattern, UserRecogniser
from transforms.privacy.unscannable import ModelMissing

KEY = b"a tenant's key, 32 bytes at least"


def test_kept_types_stay_and_are_no_leak() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None, entities={"IP_ADDRESS": "keep"}), KEY)
    text = "203.0.113.77 jane@mail.test"
    cleaner.learn("t", text)
    made = cleaner.clean(text, ["t"]).value
    assert made.startswith("203.0.113.77 ") and "jane" not in made
    assert cleaner.audit([("row", made)]) == []


def test_dropped_types_leave_a_bare_tag() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None, entities={"EMAIL_ADDRESS": "drop"}), KEY)
    made = cleaner.clean("to jane@mail.test", []).value
    assert made == "to [EMAIL_ADDRESS]" == cleaner.clean(made, []).value


@pytest.mark.parametrize("text", ["SW1A 1AA TX 00000", "+1-415-555-0142 or 2125550187"])
def test_a_tag_is_no_cue_for_what_stands_beside_it(text: str) -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None, entities={"ZIP_CODE": "drop", "PHONE_NUMBER": "drop"}), KEY)
    made = cleaner.clean(text, []).value
    assert cleaner.clean(made, []).value == made


def test_dates_of_birth_keep_their_year_only() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    assert cleaner.clean({"dob": "1990-04-05"}, []).value == {"dob": "1990-01-01"}
    assert cleaner.clean({"dob": "1911-04-05"}, []).value == {"dob": "1936-01-01"}
    assert cleaner.clean({"date": "1990-04-05"}, []).value == {"date": "1990-04-05"}


def test_allowed_values_stay() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None, allow=("desk@acme.test",)), KEY)
    assert cleaner.clean("desk@acme.test support@acme.test", []).value == "desk@acme.test support@acme.test"
    strict = Deidentifier(PrivacyPolicy(model=None, keep_role_accounts=False), KEY)
    assert "support" not in strict.clean("support@acme.test", []).value


def test_a_user_adds_a_recogniser_the_presidio_way() -> None:
    loyalty = UserRecogniser(
        name="loyalty",
        supported_entity="LOYALTY_NUMBER",
        patterns=(UserPattern(name="card", regex=r"LX\d{6}", score=0.2),),
        context=("loyalty",),
    )
    cleaner = Deidentifier(PrivacyPolicy(model=None, recognisers=(loyalty,)), KEY)
    assert cleaner.clean("part LX123456", []).value == "part LX123456"
    made = cleaner.clean("loyalty card LX123456", [])
    assert "LX123456" not in made.value and made.findings[0].entity == "LOYALTY_NUMBER"
    assert cleaner.clean(made.value, []).value == made.value


def test_a_wrong_policy_is_refused_without_its_values() -> None:
    with pytest.raises(ValidationError) as problem:
        PrivacyPolicy.model_validate({"entities": {"PERSON": "generalise"}})
    assert "replace, drop or keep" in str(problem.value)
    with pytest.raises(ValidationError, match="EMAIL_ADDRES: no such type; known: .*EMAIL_ADDRESS"):
        PrivacyPolicy.model_validate({"entities": {"EMAIL_ADDRES": "drop"}})
    with pytest.raises(ValidationError) as broken:
        UserPattern(name="x", regex="(jane@mail", score=0.5)
    assert "jane" not in str(broken.value)


def test_a_policy_knows_the_types_that_rules_find() -> None:
    assert {rule.entity for rule in RULES} <= set(TYPES)


def test_a_model_that_is_not_installed_is_an_error_not_a_download() -> None:
    with pytest.raises(ModelMissing, match="not installed"):
        Deidentifier(PrivacyPolicy(model="en_core_web_huge"), KEY)


def test_cleaning_loads_neither_torch_nor_transformers_and_hides_them_from_nobody() -> None:
    program = (
        "import sys\n"
        "from transforms.privacy.deidentifier import Deidentifier\n"
        "from transforms.privacy.policy import PrivacyPolicy\n"
        "d = Deidentifier(PrivacyPolicy(), b'k' * 32)\n"
        "d.clean('Yesterday Barbara Hussein came.', [])\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
        "import torch\n"
        "assert torch.ones(1).item() == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
