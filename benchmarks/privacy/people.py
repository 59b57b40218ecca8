# ruff: noqa: E501  (tables are read across)
"""Invented people: names of many languages, and what belongs to a person (addresses, dates, accounts).

The lists are this benchmark's own; none is read by the recognisers, and every given name stands outside their lists.
Half of the surnames are put together from syllables, so that no list could hold them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

LATIN = {
    "english": (
        "Alistair Beatrix Cormac Dahlia Everett Fenella Gideon Hattie Isolde Jasper Keziah Leopold Maisie Nigel Ottilie "
        "Percival Rosalind Peregrine Tamsin Winifred",
        "Ashdown Birtwistle Copplestone Dunmore Eastlake Featherstone Gathercole Hawksworth Inglethorpe Kettlewell "
        "Langstaff Mossgrove Northcott Pemberley Ravensdale Satterthwaite Thistlewood Underhay Wetherby Yardleigh",
    ),
    "romance": (
        "Aurélie Baptiste Cosimo Dolores Estefanía Fiorella Guillermo Héloïse Ignacio Jacinta Leocadia Matteo Noémie "
        "Octavio Paloma Raffaele Solène Thibault Ximena Valentim",
        "Abruzzese Bermúdez Castellano Desrosiers Escobedo Fontanelli Guimarães Herrejón Iturralde Lachapelle Montalvão "
        "Navarrete Ottaviani Quintanilla Rochefort Santamaría Tremblay Valdivieso Zamorano Beaumarchais",
    ),
    "german": (
        "Annegret Burkhard Dietlinde Eckhard Friederike Gottfried Heinrike Ingeborg Jürgen Konstanze Liselotte Mechthild "
        "Ortwin Roswitha Siegfried Traudl Ulrike Volkmar Wiebke Zenzi",
        "Achterberg Brandstetter Dörrfeld Eisenhauer Feldkirchner Grünewald Haberkorn Knopfler Lindenthal Mühlbauer "
        "Oberhuber Pfannenstiel Rosskamp Schwarzkopf Tiefenbach Uhlenbrock Vogelsang Weisshaupt Zimmerli Ziegenbalg",
    ),
    "slavic": (
        "Agnieszka Bogdan Czesława Dobromir Evdokia Fyodor Grażyna Ivanka Jaroslava Kazimierz Ludmila Miroslav Nadezhda "
        "Oleksandr Przemysław Radoslava Svetlana Tomasz Vesna Zbigniew",
        "Antonenko Borkowski Czarnecka Dvořáková Gavrilov Horváthová Jabłoński Kowalczyk Lewandowska Milošević Novotný "
        "Ostrowski Petrenko Radulović Sokolova Szczepański Tkachenko Vasiliev Wojciechowska Zielińska",
    ),
    "nordic": (
        "Asbjørn Birgitta Dagfinn Eydís Frode Gunnhild Hjalmar Ingvild Jorunn Kjell Linnéa Magnhild Njål Oddvar Ragnhild "
        "Sigrún Torbjörn Ulrikke Vigdís Åse",
        "Abrahamsson Bjørklund Dahlström Engebretsen Fjeldstad Gyllenhaal Hallgrímsdóttir Isaksson Jørgensen Kvarnström "
        "Lindqvist Mikkelsen Nygård Ødegaard Pettersen Rasmussen Skjelbred Thorvaldsen Vestergaard Åkerblom",
    ),
    "asian": (
        "Akihiro Bhavesh Chandrika Dilnoza Eun-ji Farrukh Gayatri Haruka Indrajit Jayalakshmi Kenjiro Lakshmi Meiling "
        "Nguyet Ojas Pranav Ruixin Sakshi Thanawat Yutaka",
        "Anantharaman Bhattacharya Chakraborty Deshpande Fujiwara Gopalakrishnan Hasegawa Iyengar Jayawardena "
        "Kobayashi Mukherjee Nakagawa Ouyang Phongsawat Ramaswamy Srinivasan Takahashi Venkatesan Wickremasinghe Zhuang",
    ),
    "african and arabic": (
        "Abimbola Bashir Chukwuemeka Desta Ekene Faizah Ghassan Haile Ikram Jamila Kwabena Lindiwe Mandla Nneka Olufemi "
        "Rashida Sipho Tariq Wambui Zeinab",
        "Abubakar Boateng Chikwanha Dlamini Elmahdi Fakhoury Gebreselassie Habibullah Igwebuike Kariuki Lumumba Mensah "
        "Nakamba Okonjo Qureshi Ramaphala Sesay Tshabalala Umarov Zuberi",
    ),
}  # fmt: skip
ONSETS, NUCLEI = (
    ["Bl", "Cr", "D", "Fr", "G", "H", "K", "L", "M", "N", "P", "R", "S", "T", "Tr", "V", "W", "Z"],
    ["a", "e", "i", "o", "u", "ai", "ea", "ie"],
)
CODAS = [
    "bury",
    "dale",
    "ford",
    "gate",
    "holm",
    "kins",
    "land",
    "more",
    "ner",
    "rick",
    "ridge",
    "son",
    "stead",
    "thorpe",
    "velt",
    "wicz",
    "wood",
    "worth",
]
KOREAN_SURNAMES = [
    "김",
    "이",
    "박",
    "최",
    "정",
    "강",
    "조",
    "윤",
    "장",
    "임",
    "한",
    "오",
    "서",
    "신",
    "권",
    "황",
    "안",
    "송",
    "류",
    "홍",
    "전",
    "고",
    "문",
    "손",
    "양",
    "배",
    "백",
    "허",
    "남",
    "심",
]
KOREAN_FIRST = [
    "가",
    "건",
    "규",
    "나",
    "다",
    "도",
    "동",
    "라",
    "민",
    "보",
    "빈",
    "상",
    "서",
    "선",
    "성",
    "소",
    "수",
    "승",
    "시",
    "아",
    "연",
    "영",
    "예",
    "용",
    "우",
    "유",
    "은",
    "인",
    "재",
    "정",
    "주",
    "준",
    "지",
    "진",
    "채",
    "태",
    "하",
    "현",
    "혜",
    "효",
]
KOREAN_SECOND = [
    "경",
    "나",
    "라",
    "람",
    "린",
    "미",
    "민",
    "빈",
    "서",
    "석",
    "선",
    "섭",
    "솔",
    "수",
    "숙",
    "아",
    "안",
    "연",
    "영",
    "우",
    "욱",
    "원",
    "윤",
    "율",
    "은",
    "인",
    "준",
    "진",
    "찬",
    "철",
    "하",
    "혁",
    "현",
    "형",
    "호",
    "환",
    "훈",
    "희",
]
STREETS = [
    "Alderwick",
    "Bramblecote",
    "Cinderford",
    "Dovetail",
    "Elderflower",
    "Foxglove",
    "Gossamer",
    "Hollybrook",
    "Ironbridge",
    "Juniper",
    "Kestrel",
    "Lavender",
    "Millrace",
    "Nettlebed",
    "Orchard",
    "Primrose",
    "Quarry",
    "Rookery",
    "Saltmarsh",
    "Tannery",
    "Umber",
    "Vinegate",
    "Willowherb",
    "Yarrow",
]
STREET_KINDS = [
    "Street",
    "St",
    "Avenue",
    "Ave",
    "Road",
    "Rd",
    "Drive",
    "Dr",
    "Lane",
    "Ln",
    "Boulevard",
    "Blvd",
    "Court",
    "Ct",
    "Way",
    "Place",
    "Terrace",
    "Circle",
    "Parkway",
    "Trail",
]
US_CITIES = [("Boise", "ID", "837"), ("Tulsa", "OK", "741"), ("Dayton", "OH", "454"), ("Fresno", "CA", "937"), ("Mobile", "AL", "366"), ("Albany", "NY", "122"), ("El Paso", "TX", "799"), ("St. Paul", "MN", "551")]  # fmt: skip
UK_TOWNS = [("Norwich", "NR"), ("Exeter", "EX"), ("Leeds", "LS"), ("York", "YO"), ("Bath", "BA"), ("Cardiff", "CF")]
KOREAN_PLACES = [("서울특별시", "마포구"), ("서울시", "송파구"), ("부산광역시", "해운대구"), ("경기도 수원시", "영통구"), ("대전", "유성구"), ("인천광역시", "연수구"), ("강원도", "춘천시"), ("전라남도", "순천시")]  # fmt: skip
KOREAN_ROADS = [
    "가람로",
    "누리길",
    "다솔로",
    "모란로",
    "백양대로",
    "소나무길",
    "은행나무로",
    "찬샘로",
    "큰별로",
    "한빛대로",
]
WORLD_ADDRESSES = [
    "Rua das {w} {n}, 1200-{z3} Lisboa", "{w}straße {n}, {z5} Dresden", "{n} rue des {w}s, {z5} Nantes",
    "Via {w} {n}, {z5} Verona", "{w}gatan {n}, 114 {z2} Stockholm", "Calle {w} {n}, {z5} Sevilla",
]  # fmt: skip


@dataclass(frozen=True)
class Person:
    """One person; `names` are the words of the name, given name first."""

    first: str
    last: str
    korean: str
    born: date

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


def person(rng: random.Random) -> Person:
    """Somebody new."""
    born = date(1938, 1, 1) + timedelta(days=rng.randrange(24_000))
    born += timedelta(days=born.month == born.day == 1)  # the first of January is what is left of a birthday
    return Person(*latin_name(rng), korean_name(rng), born)


def latin_name(rng: random.Random) -> tuple[str, str]:
    """Given name and surname; half of the surnames are in no list."""
    given, family = rng.choice(list(LATIN.values()))
    last = rng.choice(family.split()) if rng.random() < 0.5 else composed(rng)
    if rng.random() < 0.06:
        last = f"{last}-{composed(rng)}"
    return rng.choice(given.split()), last


def composed(rng: random.Random) -> str:
    """A surname of two syllables and an ending."""
    return rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice("ldnrst") + rng.choice(CODAS)


def korean_name(rng: random.Random) -> str:
    """Surname by frequency, given name of two syllables, seldom of one."""
    weights = [1 / (rank + 2) for rank in range(len(KOREAN_SURNAMES))]
    surname = rng.choices(KOREAN_SURNAMES, weights)[0]
    if rng.random() < 0.03:
        surname = rng.choice(["남궁", "선우", "황보"])
    given = rng.choice(KOREAN_FIRST) + (rng.choice(KOREAN_SECOND) if rng.random() < 0.97 else "")
    return surname + given


def us_address(rng: random.Random) -> str:
    city, state, zip3 = rng.choice(US_CITIES)
    unit = rng.choice(
        [
            "",
            "",
            f" Apt {rng.randrange(1, 40)}{rng.choice('ABC')}",
            f", Unit {rng.randrange(2, 900)}",
            f" #{rng.randrange(2, 99)}",
        ]
    )
    way = rng.choice(["", "", "N ", "West ", "SE "])
    street = f"{rng.randrange(3, 19_999)} {way}{rng.choice(STREETS)} {rng.choice(STREET_KINDS)}{unit}"
    return f"{street}, {city}, {state} {zip3}{rng.randrange(100):02d}"


def uk_address(rng: random.Random) -> str:
    town, area = rng.choice(UK_TOWNS)
    house = rng.choice(["", "", f"Flat {rng.randrange(1, 30)}, "])
    code = f"{area}{rng.randrange(1, 20)} {rng.randrange(1, 10)}{rng.choice('ABDEFGHJ')}{rng.choice('LNPQRSTU')}"
    kind = rng.choice(["Street", "Road", "Close", "Crescent", "Gardens", "Lane", "Mews"])
    return f"{house}{rng.randrange(1, 300)} {rng.choice(STREETS)} {kind}, {town} {code}"


def korean_address(rng: random.Random) -> str:
    region, district = rng.choice(KOREAN_PLACES)
    number = f"{rng.randrange(1, 400)}" + rng.choice(["", "", f"-{rng.randrange(1, 30)}"])
    rest = rng.choice(["", f" {rng.randrange(101, 120)}동 {rng.randrange(101, 2500)}호", f", {rng.randrange(2, 20)}층"])
    if rng.random() < 0.25:
        return f"{region} {district} {rng.choice(['역삼', '노은', '반여', '송도', '망원'])}{rng.choice(['동', '1동'])} {number}번지"
    return f"{region} {district} {rng.choice(KOREAN_ROADS)} {number}{rest}"


def world_address(rng: random.Random) -> str:
    """An address in another form, which only its key gives away."""
    return rng.choice(WORLD_ADDRESSES).format(
        w=rng.choice(STREETS), n=rng.randrange(1, 200), z2=f"{rng.randrange(10, 99)}", z3=f"{rng.randrange(100, 999)}",
        z5=f"{rng.randrange(10_000, 99_999)}",
    )  # fmt: skip
