"""Korean names: a known surname, and a cue before or after."""

from __future__ import annotations

from transforms.privacy.coined import LONG_SURNAMES, SURNAMES
from transforms.privacy.rule import Rule
from transforms.privacy.words import words

_LONG = "(?:" + "|".join(sorted(LONG_SURNAMES)) + ")"
_SHORT = "[" + "".join(sorted(SURNAMES)) + "]"
_NOT_NAMES = frozenset(
    words(
        "고객 회원 선생 부모 교수 주인 하나 손님 사장 원장 여러 사용자 주문자 신청자 담당자 관리자 이용자 "
        "이름 이메일 정보 주소 연락 전화 번호 문의 "
        "안내 주문 신청 정상 전체 공지 이용 한국 서울 부산 이것 그것 저것 이번 지난 모든 어떤 이런 그런 "
        "우리 변호 의사 기사 강사 조교 차장 "
        "정말 지금 이제 현재 오늘 내일 조금 이미 여기 주로 성함 성명 지원 채용 배송 반품 환불 교환 구매 결제 신규 기존"
    )
)
_UNLESS = r"(?!이름|이메일|주문|신청|성함|성명|연락|전화|주소|고객|배송|반품|교환|구매|문의|정보|안내|지원)"
NAME = rf"{_UNLESS}(?:{_LONG}[가-힣]{{1,2}}|{_SHORT}[가-힣]{{2}}|{_SHORT}[가-힣])"
_AFTER = (
    r"(?=이고|이며|입니다|이에요|예요|이라고|라고|이라는|라는|님|씨|께|은|는|이|가|을|를|의|와|과|"
    r"에게|한테|으로|로|[^가-힣]|$)"
)
_CUES = (
    r"(?:이름은|이름이|이름|성함은|성함이|성함|성명은|성명|고객명|고객|담당자는|담당자|담당|예금주|수취인|환자명|환자|작성자|신청자|보호자|보낸\s?사람|받는\s?사람|"
    r"수신인|발신인|회원명|예약자명|주문자명|신청자명|예약자|주문자|저는|나는)"
)
_TITLES = (
    r"(?=\s?(?:님|씨|군(?![가-힣])|양(?![가-힣])|고객님|선생님|대리|과장|차장|부장|팀장|사원|교수|"
    r"박사|변호사|의사)(?![가-힣]{3}))"
)


def _name(text: str) -> bool:
    return text not in _NOT_NAMES


RULES = (
    Rule(
        "PERSON",
        "korean name after a cue",
        rf"{_CUES}\s{{0,3}}[:：은는]?\s{{0,3}}(?P<v>{NAME}){_AFTER}",
        0.8,
        (
            "이름",
            "성함",
            "성명",
            "고객",
            "담당",
            "예금주",
            "수취인",
            "환자",
            "작성자",
            "신청자",
            "보호자",
            "사람",
            "수신인",
            "발신인",
            "회원명",
            "예약자",
            "주문자",
            "저는",
            "나는",
        ),
        valid=_name,
    ),
    Rule(
        "PERSON",
        "korean name after a sure cue",
        rf"(?:이름은|이름이|성함은|성함이|성명은|저는|나는)\s{{0,3}}(?P<v>{_SHORT}[가-힣]{{2}})"
        r"(?=입니다|이에요|예요|이고|이며|이라고|라고|님|씨|[^가-힣]|$)",
        0.8,
        ("이름", "성함", "성명", "저는", "나는"),
        valid=_name,
    ),
    Rule(
        "PERSON",
        "korean name before a title",
        rf"(?<![가-힣])(?P<v>{NAME}|{_SHORT}[가-힣]{{2}}){_TITLES}",
        0.8,
        ("님", "씨", "군", "양", "대리", "과장", "차장", "부장", "팀장", "사원", "교수", "박사", "변호사", "의사"),
        valid=_name,
    ),
)
