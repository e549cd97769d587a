"""Nobody but the page of this run is served, and nothing but what was named or uploaded."""

import http.client
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.batch.batches import PATIENCE
from tests.studio.studios import Served, png, waves

API = ["/", "/api/state", "/api/events", "/api/pictures/1/tiles/before/0/0/0", "/api/pictures/1/mask.png"]


def cookie(shared: Served) -> dict[str, str]:
    return {"Cookie": f"studio={shared.studio.place.secret}"}


@pytest.mark.parametrize("path", API)
def test_without_the_secret_nothing_is_served(shared: Served, path: str) -> None:
    with shared.stranger() as client:
        assert client.get(path).status_code == 403
        assert client.get(path, params={"token": "guess"}).status_code == 403
        assert client.get(path, headers={"Cookie": "studio=guess"}).status_code == 403


def test_the_secret_in_the_address_opens_the_page_alone(shared: Served) -> None:
    secret = {"token": shared.studio.place.secret}
    with shared.stranger() as client:
        assert client.get("/api/state", params=secret).status_code == 403
        answer = client.get("/", params=secret)
        assert answer.status_code == 200
        said = answer.headers["set-cookie"]
        assert "HttpOnly" in said
        assert "SameSite=Strict" in said
        assert f"Path={shared.studio.place.path};" in said  # other servers of this machine do not get it
        assert client.get("/api/state").status_code == 200  # the cookie is sent from now on


def test_without_its_path_nothing_is_served(shared: Served) -> None:
    with httpx.Client(base_url=shared.origin, headers=cookie(shared)) as client:
        assert client.get("/", params={"token": shared.studio.place.secret}).status_code == 404
        assert client.get("/api/state").status_code == 404


@pytest.mark.parametrize(
    "foreign", ['prefs={"a":1}', "flag", "user=José", "=", "a=b=c", 'quoted="', "studio=guess"]
)
@pytest.mark.parametrize("order", ["{0}; {1}", "{1}; {0}", "{1};{0};{1}"])
def test_cookies_of_others_do_not_matter(shared: Served, foreign: str, order: str) -> None:
    """Browsers send what any server of this machine has set, in whatever form."""
    ours = f"studio={shared.studio.place.secret}"
    with shared.stranger() as client:
        sent = order.format(ours, foreign).encode()
        assert client.get("/api/state", headers={b"Cookie": sent}).status_code == 200
        assert client.get("/api/state", headers={b"Cookie": foreign.encode()}).status_code == 403


@pytest.mark.parametrize("digits", [20, 150, 5000])
def test_numbers_of_any_length_are_told(shared: Served, digits: int) -> None:
    number = "9" * digits
    for path in (f"{number}/mask.png", f"{number}/tiles/before/0/0/0", f"1/tiles/before/{number}/0/0"):
        assert shared.get(f"/api/pictures/{path}").status_code in (400, 404, 414)


@pytest.mark.parametrize("letter", ["a", "é", "照", "😀"])
def test_uploads_may_have_long_names(shared: Served, letter: str) -> None:
    number = shared.upload(png(waves(20, 20)), quote(f"{letter * 120}.png"))
    shared.stroke(number, (10, 10))
    task = shared.task(shared.post(f"/api/pictures/{number}/save", {"format": "png", "quality": "fast"}))
    assert task["state"] == "done", task["reason"]
    assert letter in task["result"]["names"][0]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://127.0.0.1"])
def test_a_foreign_origin_is_refused_even_with_the_cookie(shared: Served, origin: str) -> None:
    with shared.stranger(**cookie(shared), Origin=origin) as client:
        assert client.get("/api/state").status_code == 403
        assert client.post("/api/pictures/1/open", json={}).status_code == 403


def test_a_request_that_changes_something_tells_its_origin(shared: Served) -> None:
    with shared.stranger(**cookie(shared)) as client:
        assert client.get("/api/state").status_code == 200
        assert client.post("/api/pictures/1/open", json={}).status_code == 403
        assert client.get("/api/state", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_foreign_host_is_refused(shared: Served, host: str) -> None:
    """A name that somebody binds to this machine's address makes a foreign page look like ours."""
    with shared.stranger(**cookie(shared)) as client:
        name = host.format(port=shared.studio.place.port)
        assert client.get("/api/state", headers={"Host": name}).status_code in (400, 403)
        secret = {"token": shared.studio.place.secret}
        assert client.get("/", params=secret, headers={"Host": name}).status_code in (400, 403)


def test_answers_may_not_be_framed_sniffed_or_kept(shared: Served) -> None:
    headers = shared.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/secret.txt",
        "/../secret.txt",
        "/api/pictures/1/tiles/../../../../etc/passwd",
        "/api/pictures/1/tiles/before/0/0/..%2f..%2fsecret.txt",
        "/api/pictures/1/tiles/..%2fbefore/0/0/0",
        "/api/pictures/1/tiles/before/-1/0/0",
        "/api/pictures/1/tiles/before/0/999999/0",
        "/api/pictures/99/mask.png",
        "/api/pictures/..%2f..%2fetc/mask.png",
        "/%2e%2e/%2e%2e/etc/passwd",
    ],
)
def test_no_path_of_a_request_reaches_the_disk(shared: Served, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", shared.studio.place.port, timeout=PATIENCE)
    connection.request("GET", shared.studio.place.path.rstrip("/") + path, headers=cookie(shared))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    assert answer.status in (400, 404)
    assert b"root:" not in content
    assert b"not named" not in content


@pytest.mark.parametrize("name", ["../../evil.png", "/etc/evil.png", "..\\evil.png", "a/b/../../evil.png"])
def test_uploads_stay_in_the_folder_of_the_session(shared: Served, name: str) -> None:
    number = shared.upload(png(waves(20, 20)), name)
    source = shared.studio.wishes.session.entry(number).source
    assert source.name == "evil.png"
    assert source.is_relative_to(shared.studio.wishes.session.folder)


@pytest.mark.parametrize("name", ["evil.html", "evil", ".png", "evil.png.exe", "%00.txt"])
def test_uploads_that_are_no_pictures_are_refused(shared: Served, name: str) -> None:
    answer = shared.client.post("/api/pictures", content=b"x", headers={"X-Name": name})
    assert answer.status_code == 400


def test_what_is_too_long_is_refused_and_not_kept(shared: Served) -> None:
    session = shared.studio.wishes.session
    before = len(session.entries)

    def endless() -> object:
        for _ in range(64):
            yield b"\x89PNG" * 16384

    answer = shared.client.post("/api/pictures", content=bytes(2_000_001), headers={"X-Name": "a.png"})
    assert answer.status_code == 413
    try:  # the server may hang up before all is sent
        refused = shared.client.post("/api/pictures", content=endless(), headers={"X-Name": "a.png"})  # type: ignore[arg-type]
        assert refused.status_code == 413
    except httpx.TransportError:
        pass
    assert len(session.entries) == before
    assert not [path for path in session.folder.rglob("a.png") if path.stat().st_size > 1_000_000]


def test_too_many_pixels_are_refused_by_the_commands_limit(shared: Served) -> None:
    number = shared.upload(png(waves(500, 500)))
    assert "the limit is 200000" in shared.picture(number)["failure"]


def test_long_and_strange_requests_are_refused(shared: Served) -> None:
    number = shared.upload(png(waves(20, 20)))
    path = f"/api/pictures/{number}/mask"
    assert shared.client.post(path, content=b"[" * 3_000_000).status_code == 413
    for content in (b"{", b"[]", b'{"tool":"brush"}', b'{"tool":"brush","radius":1,"points":[[1]]}'):
        assert shared.client.post(path, content=content).status_code == 400
    assert shared.client.post(path, content=b"[" * 1_000_000).status_code == 400
    for points in ([[float("1e9"), 0]], [[10**400, 0]], [["a", "b"]], [[None, 1]], []):
        assert shared.post(path, {"tool": "brush", "radius": 3, "points": points}).status_code == 400
    for radius in (0, -1, 1e9, "x", None):
        assert shared.post(path, {"tool": "brush", "radius": radius, "points": [[1, 1]]}).status_code == 400
    assert shared.post(path, {"tool": "flags"}).status_code == 400  # no method of ours by its name
    assert shared.picture(number)["sheet"]["mask"]["pixels"] == 0


def test_hostile_names_are_told_but_change_no_header(shared: Served) -> None:
    name = 'x"y\r\nSet-Cookie: a=b.png'
    number = shared.upload(png(waves(20, 20)), name.replace("\r\n", "%0d%0a"))
    answer = shared.get(f"/api/pictures/{number}/mask.png")
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-disposition"].count('"') == 2


def test_a_folder_shows_its_pictures_and_nothing_else(shared: Served, folder: Path) -> None:
    named = [p["name"] for p in shared.get("/api/state").json()["pictures"] if not p["upload"]]
    assert named == ["a.png", "b.png", "small.png"]
