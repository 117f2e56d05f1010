"""The words that titles, summaries, reviews and publishers of the bookshop are made of."""

# ruff: noqa: RUF001  (words of other alphabets)

from typing import Final

__all__ = [
    "AWARDS",
    "GENRES",
    "KEYWORDS",
    "LOCAL_TITLES",
    "NOTES",
    "OPENINGS",
    "PUBLISHER_HEADS",
    "PUBLISHER_TAILS",
    "REMARKS",
    "TITLE_FORMS",
    "TITLE_PARTS",
    "TURNS",
    "VERDICTS",
    "phrases",
]


def phrases(text: str) -> tuple[str, ...]:
    """Words and, joined by underscores, names of several words."""
    return tuple(word.replace("_", " ") for word in text.split())


GENRES: Final = (
    ("Fiction", None),
    ("Non-fiction", None),
    ("Children's books", None),
    ("Poetry", None),
    ("Drama", None),
    ("Crime", "Fiction"),
    ("Fantasy", "Fiction"),
    ("Science fiction", "Fiction"),
    ("Historical novel", "Fiction"),
    ("Romance", "Fiction"),
    ("Short stories", "Fiction"),
    ("Nordic crime", "Crime"),
    ("Cosy crime", "Crime"),
    ("History", "Non-fiction"),
    ("Nature", "Non-fiction"),
    ("Travel", "Non-fiction"),
    ("Cookery", "Non-fiction"),
    ("Memoir", "Non-fiction"),
    ("Picture books", "Children's books"),
    ("Fairy tales", "Children's books"),
)
"""Each with the genre that it is a part of, which stands before it."""

TITLE_PARTS: Final = {
    "adjective": phrases(
        "Silent Copper Forgotten Northern Winter Hollow Crooked Gentle Borrowed Salt Paper Second Wandering Blue "
        "Sleeping Patient Burning Lost Glass Quiet"
    ),
    "noun": phrases(
        "Lighthouse Meadow Clockmaker River Heron Cartographer Harbour Piano Garden Fox Winter Letter Mountain "
        "Beekeeper Bridge Compass Lantern Tide Window Ferryman Snow Map Forest Suitcase Station Lagoon"
    ),
    "plural": phrases("Stones Herons Letters Winters Islands Keys Mirrors Shadows Apples Bells Wolves Rivers"),
    "deed": phrases("Counting Crossing Mending Remembering Drawing Stealing Feeding Answering Leaving"),
    "person": phrases("Gardener Ferryman Baker Cartographer Widow Postmaster Printer Translator Violinist"),
}
TITLE_FORMS: Final = (
    "The {adjective} {noun}",
    "The {adjective} {plural}",
    "A {noun} in {city}",
    "The {noun} and the {person}",
    "{deed} {plural}",
    "{deed} the {noun}",
    "The Last {person} of {city}",
    "Letters from {city}",
    "The {person}'s {noun}",
    "What the {person} Knew of {plural}",
    "Seven {adjective} {plural}",
    "{adjective} {plural}",
)
LOCAL_TITLES: Final = {
    "no": (("Fjorden", "Vinteren", "Øya", "Brevet", "Huset"), (" om natten", " i {city}", " uten navn", " ved sjøen")),
    "sv": (("Sjön", "Ängeln", "Trädgården", "Vintern"), (" i {city}", " och havet", " som försvann")),
    "da": (("Øen", "Håbet", "Æblehaven", "Brevet"), (" i {city}", " ved åen", " uden ende")),
    "fi": (("Järvi", "Yö", "Metsän ääni", "Talvi"), (" ja meri", " ilman kelloa", ": {city}")),
    "is": (("Jökullinn", "Þögnin", "Eyjan"), (" og hafið", " í snjónum", " um nótt")),
    "de": (("Der Nachtgärtner", "Die Brücke", "Das Mädchen", "Größe"), (" von {city}", " im Süden", " und das Meer")),
    "fr": (("L'été", "La forêt", "Le cœur", "Une fenêtre"), (" à {city}", " sans retour", " et la mer")),
    "es": (("El niño", "La montaña", "Mañana", "El jardín"), (" en {city}", " y el mar", " sin sueño")),
    "pt": (("A estação", "O coração", "Amanhã", "O pão"), (" em {city}", " e o mar", " sem nome")),
    "it": (("La città", "L'isola", "Perché", "Il giardino"), (" a {city}", " e il mare", " di notte")),
    "pl": (("Źródło", "Łódka", "Śnieg"), (" o świcie", " nad rzeką", ": {city}")),
    "cs": (("Řeka", "Žlutý dům", "Hodinář"), (" v mlze", " a moře", ": {city}")),
    "el": (("Το νησί", "Η θάλασσα", "Ο κήπος"), (" της νύχτας", " και το φως", ": {city}")),
    "ja": (("雪", "月", "図書館", "猫"), ("の手紙", "と海", "の夜", "の{city}")),
    "zh": (("秋雨", "明月", "书店", "长河"), ("之夜", "与海", "的秘密", "：{city}")),
    "tr": (("Gölge", "Çay bahçesi", "Işık"), (" ve deniz", " gecesi", ": {city}")),
}

OPENINGS: Final = (
    "A {person} comes home to {city} and finds a {noun} nobody will speak of.",
    "In {city}, a {person} inherits a {adjective} {noun} and the debts that go with it.",
    "Three sisters, one {noun}, and a winter in {city} that will not end.",
    "When the {noun} disappears, a {person} is the only one who noticed.",
    "The story of a {adjective} friendship between a {person} and a {person2}.",
    "Every morning a {person} in {city} writes a letter and does not send it.",
)
TURNS: Final = (
    "What begins as a favour becomes the work of a life.",
    "Nothing in the family album is what it seemed.",
    "Tender, funny and exact.",
    "A mystery told backwards, with a map.",
    "By the time the ice breaks, somebody will have to tell the truth.",
    "An unhurried book about time, bread and forgiveness.",
    "Then the telephone rings.",
)
KEYWORDS: Final = phrases("sea winter family letters music mountains war cooking trains friendship islands memory")
AWARDS: Final = ("Silver Quill", "Harbour Prize", "Golden Bookmark", "Readers' Choice", "Lantern Award")

PUBLISHER_HEADS: Final = phrases(
    "Lantern Heron Fjordlys Papageno Nordstjerne Kestrel Blå_Tårn Œuvre Quercus_Lane Sakura Meridian Zephyr "
    "Ampersand Windrose Øresund Müßiggang Saltmarsh Octavo Nightingale Larkfield"
)
PUBLISHER_TAILS: Final = ("Press", "& Daughters", "Forlag", "Verlag", "Éditions", "Books")

VERDICTS: Final = {
    1: ("Not for me", "Gave up", "Disappointing"),
    2: ("Uneven", "Too long", "Promising start"),
    3: ("Fine for a train ride", "Pleasant enough", "Mixed feelings"),
    4: ("Very good", "Warmly recommended", "Lovely prose"),
    5: ("A masterpiece", "Could not stop", "My book of the year", "Großartig!", "Fantastisk", "最高でした"),
}
REMARKS: Final = (
    "The ending stayed with me for days.",
    "I bought three copies for friends.",
    "The translation is excellent.",
    "The middle chapters could be shorter.",
    "My daughter wants the sequel now.",
    "Arrived with a bent corner, but what a story.",
    "The characters feel like neighbours.",
    "I did not believe a word of the last chapter.",
    "Nydelig språk, litt lang.",
    "À lire au coin du feu.",
)
NOTES: Final = (
    "Please wrap it in blue paper.",
    "Leave it with the neighbour, please.",
    "Happy birthday, Grandma!",
    "No hurry.",
    "Ring twice; the bell is old.",
)
