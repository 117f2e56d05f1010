"""A small weather station with a REST API, for weather-adapter.md: ``python weather_station.py 8090``."""

import json
import re
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

STATIONS = {
    "harbour": {"id": "harbour", "title": "Harbour", "height": 4},
    "hill": {"id": "hill", "title": "Hill", "height": 612},
    "moor": {"id": "moor", "title": "Moor", "height": 88},
}
SKIES = ("sunny", "cloudy", "rainy")
KEY = "weather-key"


class Station(BaseHTTPRequestHandler):
    """Answers in JSON. What is changed is forgotten when it ends."""

    stations: ClassVar[Mapping[str, dict[str, object]]] = STATIONS

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/v1/stations":
            start, size = int(query.get("offset", "0")), int(query.get("limit", "2"))
            found = list(self.stations.values())
            self.answer(200, {"stations": found[start : start + size], "total": len(found)})
        elif found_id := re.fullmatch(r"/v1/stations/([^/]+)/forecast", url.path):
            self.forecast(unquote(found_id[1]), int(query.get("days", "3")))
        else:
            self.answer(404, {"message": "there is nothing here"})

    def do_PATCH(self) -> None:
        found = re.fullmatch(r"/v1/stations/([^/]+)", self.path)
        station = self.stations.get(unquote(found[1])) if found else None
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        if self.headers.get("X-Weather-Key") != KEY:
            self.answer(401, {"message": "the key is wrong"})
        elif station is None:
            self.answer(404, {"message": "there is no such station"})
        else:
            station.update(given)
            self.answer(200, station)

    def forecast(self, station: str, days: int) -> None:
        if station not in self.stations:
            self.answer(404, {"message": "there is no such station"})
            return
        self.answer(200, {"station": station, "days": [{"day": day, "sky": SKIES[day % 3]} for day in range(days)]})

    def answer(self, status: int, data: object) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8090
    with ThreadingHTTPServer(("127.0.0.1", port), Station) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
