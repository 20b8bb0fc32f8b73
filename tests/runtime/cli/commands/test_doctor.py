"""What is configured, reachable and missing, and how to get it."""

import contextlib
import http.server
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.cli.diagnostics import checks, model, model_server, storage, web_pages, web_search
from runtime.cli.view.check_lines import Check
from runtime.knowledge.index_check import look_at_index
from runtime.settings import (
    DuckduckgoSettings,
    EmbeddingsSettings,
    FeedsSettings,
    ModelSettings,
    Settings,
    StorageSettings,
    TavilySettings,
)
from tests.runtime.cli.commands.program import Place


@contextmanager
def answering(status: int, *, asked: list[tuple[str, str]], completion: object = None) -> Iterator[str]:
    """A model server that answers everything with this status, and what it is asked with this; its base_url."""
    body = json.dumps(completion).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization", "")))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Quiet."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def by_name(found: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in found}


def test_it_says_what_is_there_and_how_to_get_what_is_not(place: Place) -> None:
    before = place.run("doctor")
    place.article()
    place.run("submit", "--quiet", "When do I change the toner?")
    after = place.run("doctor", "--json")

    assert (before.status, before.err) == (0, "")
    assert "! Knowledge" in before.out
    assert "Run `python -m runtime index FOLDER`" in before.out
    assert "none yet; the first ticket makes it" in before.out
    found = {check["name"]: check["found"] for check in after.json["checks"]}
    assert after.json["healthy"] is True
    assert found["Knowledge"].startswith("1 document, 1 passage, of ")
    assert found["Database"].startswith("1 ticket, 1 run, none of them unfinished")
    assert found["Model"].startswith("extractive: ")
    assert "no key and no base_url is set" in found["Model"]
    assert set(found) >= {"Python", "SQLite", "Configuration", "Storage", "Memory", "Model server", "Live view"}


def test_it_changes_nothing(place: Place) -> None:
    assert place.run("doctor").status == 0

    assert list(place.folder.iterdir()) == []


def test_it_works_where_nothing_can_be_written(place: Place) -> None:
    (place.folder / "file").write_text("x", encoding="utf-8")

    done = place.run("doctor", TERMINUS_STORAGE_FOLDER="file/below")

    assert done.status == 1
    assert "✘ Storage" in done.out
    assert "Set [storage] folder or TERMINUS_STORAGE_FOLDER" in done.out
    assert "Traceback" not in done.err


def test_it_finds_a_damaged_database_and_index(place: Place) -> None:
    (place.folder / "task-data").mkdir()
    for name in ("terminus.db", "knowledge.db"):
        (place.folder / "task-data" / name).write_bytes(b"this is no database " * 100)

    done = place.run("doctor", "--json")

    states = {check["name"]: check["state"] for check in done.json["checks"]}
    assert done.status == 1
    assert [name for name, state in states.items() if state == "problem"] == ["Database", "Memory", "Knowledge"]


def test_it_names_the_file_and_the_variables_in_force(place: Place) -> None:
    (place.folder / "config.toml").write_text("[run]\nretries = 2\n", encoding="utf-8")

    found = place.run("doctor").out

    assert f"{place.folder}/config.toml, changed by TERMINUS_STORAGE_FOLDER" in found


@pytest.mark.parametrize(
    ("status", "fallback", "state", "words"),
    [
        (200, True, "ok", "answers (200)"),
        (404, True, "ok", "answers (404)"),
        (401, True, "warning", "refuses the key (401)"),
        (401, False, "problem", "refuses the key (401)"),
        (503, True, "warning", "answers with 503"),
    ],
)
def test_a_model_server_on_this_machine_is_asked(status: int, fallback: bool, state: str, words: str) -> None:
    asked: list[tuple[str, str]] = []
    with answering(status, asked=asked) as base_url:
        settings = ModelSettings(base_url=base_url, api_key="sesame", fallback=fallback)
        check = model_server(settings, reach=False)

    assert (check.state, words in check.found) == (state, True)
    assert asked == [("/v1/models", "Bearer sesame")]


def test_a_model_server_that_is_not_there_is_said_with_the_remedy() -> None:
    with answering(200, asked=[]) as base_url:
        pass

    check = model_server(ModelSettings(base_url=base_url), reach=False)

    assert check.state == "warning"
    assert "does not answer (Connection refused)" in check.found
    assert "until then the extractive model answers" in check.remedy


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        ({"choices": [{"message": {"content": '{"word": "terminus"}'}}]}, "ok", "and small-model answers in form"),
        (
            {"choices": [{"message": {"content": "Hello!"}}]},
            "warning",
            "was asked again and did not give the JSON object that was asked for",
        ),
        ({"error": {"message": "model 'small-model' not found", "code": 404}}, "warning", "has no model small-model"),
    ],
)
def test_with_reach_the_model_has_to_answer_in_form(answer: object, state: str, words: str) -> None:
    asked: list[tuple[str, str]] = []
    with answering(200, asked=asked, completion=answer) as base_url:
        check = model_server(ModelSettings(base_url=base_url, name="small-model"), reach=True)

    assert (check.state, words in check.found) == (state, True), check.found
    assert "small-model does not: " not in check.found, "what is wrong names the model itself"
    assert [path for path, _ in asked] == ["/v1/models"]


def test_a_server_elsewhere_is_only_contacted_when_asked_to() -> None:
    check = model_server(ModelSettings(api_key="sesame"), reach=False)

    assert check.found == "https://api.openai.com/v1 was not contacted"
    assert "--reach" in check.remedy


def test_it_says_who_thinks_and_why() -> None:
    assert "(no key and no base_url is set)" in model(ModelSettings()).found
    assert "([model] provider says so)" in model(ModelSettings(provider="extractive", api_key="x")).found
    assert "(a key or a base_url is set), key set" in model(ModelSettings(api_key="x")).found
    assert model(ModelSettings(provider="openai")).state == "problem"


def test_no_secret_is_shown(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "model": ModelSettings(api_key="openai-sesame", base_url="http://example.org/v1"),
        "tavily": TavilySettings(api_key="tavily-sesame"),
    }
    found = checks(Settings(storage=StorageSettings(folder=str(tmp_path)), **settings), None, reach=False)

    assert "sesame" not in json.dumps([[check.found, check.remedy] for check in found])
    assert by_name(found)["Web search"].found == "Tavily, key set"


def test_a_password_in_an_address_is_shown_nowhere(place: Place) -> None:
    feed = "https://me:hunter2@feeds.example/x"
    for url in ("http://me:hunter2@127.0.0.1:9/v1", "http://me:hunter2@host.example/v1", "http://hunter2@127.0.0.1:9/"):
        for words in (("doctor",), ("doctor", "--json"), ("submit", "--quiet", "My VPN drops")):
            done = place.run(*words, OPENAI_BASE_URL=url, TERMINUS_FEEDS_URLS=feed)

            assert done.status != 0
            assert "hunter2" not in done.out + done.err
    assert "***@127.0.0.1:9" in done.err or "base_url" in done.err
    assert "hunter2" not in place.log.read_text(encoding="utf-8")


def test_variables_of_kubernetes_are_named_as_passed_over(place: Place) -> None:
    done = place.run("doctor", TERMINUS_PORT="tcp://10.0.0.1:8421", TERMINUS_SERVER_PORT="tcp://10.0.0.1:8421")

    assert done.status == 0
    assert "changed by TERMINUS_STORAGE_FOLDER; not ours but Kubernetes', so passed over: TERMINUS_PORT" in done.out
    assert "127.0.0.1:8421" in done.out


def test_a_folder_that_is_not_there_yet_is_made_later(tmp_path: Path) -> None:
    check = storage(tmp_path / "not" / "yet")

    assert check.state == "ok"
    assert check.found.endswith("made when it is first needed")


FEED = FeedsSettings(urls=("https://a.example/feed", "https://b.example/feed"))


@pytest.mark.parametrize(
    ("sections", "state", "found", "remedy"),
    [
        ({}, "ok", "none configured", "Set TAVILY_API_KEY"),
        ({"tavily": TavilySettings(api_key="tvly-secret")}, "ok", "Tavily, key set", ""),
        ({"tavily": TavilySettings(keyless=True)}, "ok", "key not set, so for a few queries only", ""),
        ({"duckduckgo": DuckduckgoSettings(enabled=True), "feeds": FEED}, "ok", "2 feeds; DuckDuckGo", ""),
        ({"feeds": FeedsSettings(urls=("file:///x",))}, "warning", "file:///x is no web address", "[feeds] urls"),
    ],
)
def test_it_says_where_research_may_search(sections: Any, state: str, found: str, remedy: str) -> None:
    check = web_search(Settings(**sections))

    assert check.state == state
    assert found in check.found
    assert remedy in check.remedy
    assert "tvly-secret" not in str(check)


@pytest.mark.parametrize(
    ("module", "sections", "remedy"),
    [
        ("tavily", {"tavily": TavilySettings(api_key="tvly-secret")}, "tavily-python"),
        ("ddgs", {"duckduckgo": DuckduckgoSettings(enabled=True)}, ".[duckduckgo]"),
        ("fastfeedparser", {"feeds": FEED}, ".[research]"),
    ],
)
def test_it_says_what_a_source_lacks(module: str, sections: Any, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else name)

    check = web_search(Settings(**sections))

    assert check.state == "warning"
    assert f"{module} is not installed" in check.found
    assert remedy in check.remedy


def test_it_says_what_reads_web_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert web_pages().state == "ok"

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert web_pages().found.startswith("trafilatura and protego not installed")
    assert ".[research]" in web_pages().remedy


def test_an_index_of_another_version_is_said_and_made_anew_by_the_next_ticket(place: Place) -> None:
    place.article()
    with contextlib.closing(sqlite3.connect(place.folder / "task-data" / "knowledge.db")) as db:
        db.execute("PRAGMA user_version = 3")
    found = {each["name"]: each for each in place.run("doctor", "--json").json["checks"]}["Knowledge"]
    answer = place.run("submit", "--quiet", "When do I change the toner?")

    assert (found["state"], "another version of Terminus" in found["found"]) == ("warning", True)
    assert "4000 pages" in answer.out
    after = {each["name"]: each for each in place.run("doctor", "--json").json["checks"]}["Knowledge"]
    assert (after["state"], after["found"].startswith("1 document, 1 passage, of ")) == ("ok", True)


def test_it_counts_the_passages_that_meaning_does_not_reach(place: Place) -> None:
    place.article()
    file = place.folder / "task-data" / "knowledge.db"
    server = EmbeddingsSettings(provider="server", base_url="http://127.0.0.1:9/v1", model="small")
    assert look_at_index(file, EmbeddingsSettings())[0] == "ok"
    state, found, remedy = look_at_index(file, server)
    assert state == "warning"
    assert found.endswith("; 1 of the passages are found by their words only")
    assert "index" in remedy

    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO vectors SELECT digest, 'x' FROM passages")
        db.execute("INSERT INTO vector_model VALUES ('multilingual/e5-small/1')")
    multilingual = EmbeddingsSettings(provider="multilingual", model="of a server that was set up before")
    assert look_at_index(file, multilingual)[0] == "ok"
