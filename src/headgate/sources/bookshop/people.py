"""The people of the bookshop: names and cities of many countries, and authors of old whose works are everybody's."""

# ruff: noqa: RUF001  (names of other alphabets)

from typing import Final, NamedTuple

from headgate.sources.bookshop.words import phrases

__all__ = ["CLASSICS", "COUNTRIES", "LANGUAGES", "Classic", "Country"]


class Country(NamedTuple):
    """Where authors and customers come from, and what they are called there."""

    name: str
    language: str
    given: tuple[str, ...]
    family: tuple[str, ...]
    cities: tuple[str, ...]
    family_first: bool = False

    def full_name(self, given: str, family: str) -> str:
        """A person's name in the order of the country."""
        return f"{family}{given}" if self.family_first else f"{given} {family}"


class Classic(NamedTuple):
    """An author of old."""

    name: str
    country: str
    born: str | None
    died: str | None
    titles: tuple[str, ...]


def _country(name: str, language: str, given: str, family: str, cities: str, *, family_first: bool = False) -> Country:
    return Country(name, language, phrases(given), phrases(family), phrases(cities), family_first)


COUNTRIES: Final = (
    _country(
        *("Norway", "no", "Ingrid Solveig Åse Ragnhild Tuva Håkon Eirik Sverre Øystein Leif Bjørn Mari"),
        *(
            "Haugland Solbakken Bøe Fjeldstad Nygård Strømme Kvåle Myhre Brekke Ødegård Lien",
            "Oslo Bergen Tromsø Ålesund",
        ),
    ),
    _country(
        *("Sweden", "sv", "Astrid Märta Elsa Signe Åsa Gunnar Björn Torsten Nils Örjan"),
        *("Lindqvist Sjögren Ekström Hedlund Åkesson Norrby Dahlgren Wallin Öberg", "Stockholm Göteborg Malmö Umeå"),
    ),
    _country(
        *("Denmark", "da", "Kirsten Mette Freja Søren Jørgen Rasmus Asger Inger Åge"),
        *("Møllegård Skovgaard Kjær Bærentsen Nørgaard Holmstrup Østergaard", "København Aarhus Odense"),
    ),
    _country(
        *("Finland", "fi", "Aino Helmi Sisko Eino Väinö Toivo Päivi Matti Jyrki"),
        *("Mäkelä Koskela Hämäläinen Salmela Lehtovaara Pöysti Järvelä", "Helsinki Turku Jyväskylä Oulu"),
    ),
    _country(
        *("Iceland", "is", "Guðrún Sigríður Þóra Ísold Jökull Ragnar Ævar"),
        *("Þórsdóttir Jónsdóttir Grímsson Ketilsson Eiríksdóttir", "Reykjavík Akureyri"),
    ),
    _country(
        *("Germany", "de", "Käthe Lieselotte Jürgen Günther Hannelore Matthias Ännchen Friedrich Ulrike"),
        *("Weißmüller Großmann Brückner Schönfeld Täuber Vogelsang Kranich Hölzer", "Berlin Köln München Görlitz"),
    ),
    _country(
        *("Austria", "de", "Leopoldine Resi Alois Xaver Vroni Kajetan"),
        *("Edelmoser Hinterhölzl Pichlbauer Zwölfer Grünwald", "Wien Graz Sankt_Pölten"),
    ),
    _country(
        *("France", "fr", "Hélène Amélie Célestine Édouard Gaël Zoé Rémi Aurélie Théo Noëlle"),
        *("Lefèvre Beauséjour Garçonnet Dubreuil Fontanel Châtelain Maréchal", "Paris Lyon Besançon Orléans"),
    ),
    _country(
        *("Spain", "es", "Begoña Íñigo Lucía Álvaro Inés Rocío Ramón Nieves"),
        *("Ibáñez Quiñones Montalbán Cárdenas Olmedo Peñalver Zubiría", "Madrid Málaga Cádiz Logroño"),
    ),
    _country(
        *("Portugal", "pt", "Conceição Inês João Graça Tomás Leonor"),
        *("Guimarães Brandão Simões Magalhães Falcão", "Lisboa Porto Évora"),
    ),
    _country(
        *("Brazil", "pt", "Iracema Thaís Caetana Otávio Júlia Moacir Antônia"),
        *("Assunção Cavalcanti Sampaio Figueirôa Leitão Vasconcelos", "São_Paulo Salvador Belém Brasília"),
    ),
    _country(
        *("Italy", "it", "Nicolò Fiammetta Ludovica Amedeo Ginevra Tancredi Mirella"),
        *("Bellincioni Quaranta Dell'Orto Cantalupo Serafini Malatesta", "Roma Torino Forlì Palermo"),
    ),
    _country(
        *("Poland", "pl", "Żaneta Małgorzata Władysław Łucja Jędrzej Stanisława Grażyna"),
        *("Wróblewicz Jabłonka Dąbek Świerczyński Gołąb Źródlak", "Warszawa Łódź Kraków Poznań"),
    ),
    _country(
        *("Czechia", "cs", "Růžena Zdeněk Otakar Jiřina Květa Bořivoj"),
        *("Hruška Vltavský Sedláček Kopřiva Žďárský", "Praha Brno Plzeň"),
    ),
    _country(
        *("Greece", "el", "Καλλιόπη Δημήτρης Ελένη Νίκος Αθηνά Σοφία"),
        *("Θαλασσινός Παπαγιάννης Μελισσηνός Ροδίτης", "Αθήνα Θεσσαλονίκη Πάτρα"),
    ),
    _country(
        *("United Kingdom", "en", "Harriet Winifred Alistair Rhiannon Clement Prudence Jasper Beatrix Nigel"),
        *("Ashdown Thistlewood Pemberton Wetherby Llewellyn Fairbairn Marlowe Quill", "London York Leeds Aberystwyth"),
    ),
    _country(
        *("Ireland", "en", "Siobhán Niamh Cormac Éamon Róisín Fintan"),
        *("Ó_Dálaigh Gallagher Ní_Bhriain Donoghue Tierney", "Dublin Galway Cork"),
    ),
    _country(
        *("United States", "en", "Loretta Emmett Dakota Wanda Silas Mabel Otis Juniper Hank Theodora"),
        *(
            "Hollister Whitlock Abernathy Castellanos Beaumont Larkspur Tallchief O'Dell",
            "Boston Santa_Fe Duluth Savannah",
        ),
    ),
    _country(
        *("Canada", "en", "Geneviève Duncan Maisie Étienne Blythe Russell"),
        *("MacAllister Thibodeau Lachance Fraserburgh Kettle", "Montréal Halifax Saskatoon"),
    ),
    _country(
        *("Japan", "ja", "花子 遥 健一 直樹 美咲 千尋 蓮 文"),
        *("青山 雪村 月島 藤原 小鳥遊 水野 桜井", "東京 京都 札幌 金沢"),
        family_first=True,
    ),
    _country(
        *("China", "zh", "文君 明月 思远 雨桐 子墨 清风"),
        *("柳 沈 苏 江 白 秦", "北京 上海 成都 苏州"),
        family_first=True,
    ),
    _country(
        *("India", "en", "Ananya Devdas Lakshmi Kabir Meera Harish Nandini"),
        *("Chatterjee Iyengar Deshpande Malhotra Raghavan Banerji", "Kolkata Pune Mysuru"),
    ),
    _country(
        *("Turkey", "tr", "Gülşen Çağla Ömer Şirin Tuğrul Işıl"),
        *("Yıldızoğlu Karagöz Çınar Gökdere Üçüncü", "İstanbul İzmir Eskişehir"),
    ),
    _country(
        *("Nigeria", "en", "Adaeze Chidi Folasade Ngozi Tunde Ifeoma"),
        *("Okonjo-Bello Adeyinka Nwosu Olatunji Eze", "Lagos Ibadan Enugu"),
    ),
    _country(
        *("Chile", "es", "Violeta Matías Ximena Nahuel Rosario"),
        *("Huenchumilla Carreño Arrayán Godoy Llanquihue", "Santiago Valparaíso Concepción"),
    ),
)

LANGUAGES: Final = {country.name: country.language for country in COUNTRIES} | {"Russia": "ru"}

CLASSICS: Final = (
    Classic(
        *("Jane Austen", "United Kingdom", "1775-12-16", "1817-07-18"),
        ("Pride and Prejudice", "Emma", "Persuasion", "Sense and Sensibility"),
    ),
    Classic("Charlotte Brontë", "United Kingdom", "1816-04-21", "1855-03-31", ("Jane Eyre", "Villette", "Shirley")),
    Classic("Mary Shelley", "United Kingdom", "1797-08-30", "1851-02-01", ("Frankenstein", "The Last Man")),
    Classic("George Eliot", "United Kingdom", "1819-11-22", "1880-12-22", ("Middlemarch", "Silas Marner")),
    Classic("Henrik Ibsen", "Norway", "1828-03-20", "1906-05-23", ("Et dukkehjem", "Peer Gynt", "Vildanden")),
    Classic("Camilla Collett", "Norway", "1813-01-23", "1895-03-06", ("Amtmandens Døttre",)),
    Classic("Amalie Skram", "Norway", "1846-08-22", "1905-03-15", ("Constance Ring", "Hellemyrsfolket")),
    Classic("Selma Lagerlöf", "Sweden", "1858-11-20", "1940-03-16", ("Gösta Berlings saga", "Jerusalem")),
    Classic("Hans Christian Andersen", "Denmark", "1805-04-02", "1875-08-04", ("Eventyr", "Billedbog uden Billeder")),
    Classic("Aleksis Kivi", "Finland", "1834-10-10", "1872-12-31", ("Seitsemän veljestä",)),
    Classic("Snorri Sturluson", "Iceland", None, "1241-09-23", ("Heimskringla", "Snorra Edda")),
    Classic(
        *("Johann Wolfgang von Goethe", "Germany", "1749-08-28", "1832-03-22"),
        ("Faust", "Die Leiden des jungen Werthers"),
    ),
    Classic("Adalbert Stifter", "Austria", "1805-10-23", "1868-01-28", ("Bunte Steine", "Der Nachsommer")),
    Classic("Victor Hugo", "France", "1802-02-26", "1885-05-22", ("Les Misérables", "Notre-Dame de Paris")),
    Classic(
        "Jules Verne", "France", "1828-02-08", "1905-03-24", ("Vingt mille lieues sous les mers", "L'Île mystérieuse")
    ),
    Classic("Miguel de Cervantes", "Spain", None, "1616-04-22", ("Don Quijote de la Mancha", "Novelas ejemplares")),
    Classic("José Maria de Eça de Queirós", "Portugal", "1845-11-25", "1900-08-16", ("Os Maias",)),
    Classic("Machado de Assis", "Brazil", "1839-06-21", "1908-09-29", ("Dom Casmurro", "Quincas Borba")),
    Classic("Dante Alighieri", "Italy", None, "1321-09-14", ("La Divina Commedia", "Vita nuova")),
    Classic("Adam Mickiewicz", "Poland", "1798-12-24", "1855-11-26", ("Pan Tadeusz", "Dziady")),
    Classic("Božena Němcová", "Czechia", None, "1862-01-21", ("Babička",)),
    Classic("Ὅμηρος", "Greece", None, None, ("Ἰλιάς", "Ὀδύσσεια")),
    Classic("Лев Толстой", "Russia", "1828-09-09", "1910-11-20", ("Война и мир", "Анна Каренина")),
    Classic("Фёдор Достоевский", "Russia", "1821-11-11", "1881-02-09", ("Преступление и наказание", "Идиот")),
    Classic("Oscar Wilde", "Ireland", "1854-10-16", "1900-11-30", ("The Picture of Dorian Gray", "De Profundis")),
    Classic(
        "Mark Twain", "United States", "1835-11-30", "1910-04-21", ("Adventures of Huckleberry Finn", "Roughing It")
    ),
    Classic("Herman Melville", "United States", "1819-08-01", "1891-09-28", ("Moby-Dick", "Bartleby, the Scrivener")),
    Classic("夏目漱石", "Japan", "1867-02-09", "1916-12-09", ("吾輩は猫である", "こころ", "坊っちゃん")),
    Classic("紫式部", "Japan", None, None, ("源氏物語",)),
    Classic("曹雪芹", "China", None, None, ("红楼梦",)),
    Classic("Rabindranath Tagore", "India", "1861-05-07", "1941-08-07", ("Gitanjali", "The Home and the World")),
)
