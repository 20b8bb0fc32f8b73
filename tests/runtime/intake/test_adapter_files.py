"""Adapter files: those that ship can be read; in one that is wrong the place is named; payloads give bounded texts."""

from pathlib import Path
from typing import Any

import pytest

from runtime.intake.adapter import UnreadablePayload, read_event, read_ticket
from runtime.intake.adapter_file import PRESETS, AdapterError, compile_query, load_tables, read_adapter
from runtime.intake.connections import load_connections
from tests.runtime.intake.fake_helpdesk import ADAPTER


@pytest.mark.parametrize("system", sorted(each.stem for each in PRESETS.glob("*.toml")))
def test_each_system_that_ships_can_be_read(system: str) -> None:
    adapter = read_adapter(load_tables(system, Path()), system)

    assert adapter.write.reply or adapter.write.note
    assert adapter.poll is not None or adapter.signature.scheme != "none", "it can be heard of in no way"


@pytest.mark.parametrize(
    ("changed", "to", "told"),
    [
        ('id = "body.id"', 'id = "body.["', "'body.[' is no JMESPath expression"),
        ('id = "body.id"', 'ids = "body.id"', "unknown field `ids`"),
        ('path = "/tickets/{ticket}"', 'path = "/tickets/{tickte}"', "fetch: nothing is called {tickte} there"),
        ('"{text}", public = true', '"{txt}"', "write.reply: nothing is called {txt}"),
        ('X-Token = "{token}"', 'X-Token = "{secret}"', "headers: nothing is called {secret}"),
        ('scheme = "hmac"', 'scheme = "rot13"', "Invalid enum value 'rot13'"),
        ('path = "/events"', 'path = "https://elsewhere.example"', "Expected `str` matching regex '^/'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, changed: str, to: str, told: str) -> None:
    assert changed in ADAPTER
    (tmp_path / "mine.toml").write_text(ADAPTER.replace(changed, to, 1), encoding="utf-8")

    with pytest.raises(AdapterError) as caught:
        read_adapter(load_tables("mine.toml", tmp_path), "mine.toml")
    assert told in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('system = "rt"\nurl = "rt.example.org"', "url must be an address"),
        ('system = "nothing"\nurl = "https://rt.example.org"', "There is no helpdesk system 'nothing': it is one of"),
        ('system = "rt"\nurl = "https://rt.example.org"\ntoken = "s3cret"', "does not stand in the file itself"),
        ('system = "rt"\nurl = "https://rt.example.org"\ntoken = "env:NOT_SET"', "NOT_SET is not set"),
        ('system = "rt"\nurl = "https://rt.example.org"\ntoken = "file:none"', "the file none cannot be read"),
        ('system = "rt"\nurl = "https://rt.example.org"\nmode = "yolo"', "Invalid enum value 'yolo'"),
        ('system = "rt"\nurl = "https://rt.example.org"\n[adapter.poll]\ncall = 3', "Expected `object`, got `int`"),
    ],
)
def test_a_connection_that_cannot_be_is_refused(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "desk.toml").write_text(lines, encoding="utf-8")

    with pytest.raises(AdapterError) as caught:
        load_connections(tmp_path, {})
    assert told in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_connection_changes_single_keys_of_its_adapter(tmp_path: Path) -> None:
    lines = 'system = "rt"\nurl = "https://rt.example.org/"\ntoken = "env:T"\n[adapter]\nsolved_status = "done"\n'
    (tmp_path / "desk.toml").write_text(lines + '[adapter.poll]\nstart = "100"\n', encoding="utf-8")

    (found,) = load_connections(tmp_path, {"T": "1-2-3"})

    assert (found.file.solved_status, found.file.open_status) == ("done", "open")
    assert found.file.poll is not None
    assert (found.file.poll.start, found.file.poll.call.path) == ("100", "/REST/2.0/transactions")
    assert found.values["origin"] == "https://rt.example.org"


@pytest.mark.parametrize(
    "body",
    [None, [], "x", 3, {}, {"id": "1"}, {"ticket": "1"}, {"id": "1", "ticket": ".."}, {"id": {}, "ticket": []}],
)
def test_a_payload_that_says_nothing_is_no_event(body: Any) -> None:
    adapter = read_adapter(load_tables("roundup", Path()), "roundup")

    with pytest.raises(UnreadablePayload):
        read_event(adapter, "r", {}, body)


def test_whatever_a_ticket_holds_only_bounded_texts_come_of_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(ADAPTER, encoding="utf-8")
    adapter = read_adapter(load_tables("mine.toml", tmp_path), "mine.toml")
    strange = {
        "subject": ["not", "a", "text"], "status": 3, "requester": None, "assignee": True, "queue": "q" * 10_000,
        "tags": ["a", {"b": 1}, None],
        "messages": [3, None, *({"id": n, "text": "x" * 1_000_000, "role": "root"} for n in range(600))],
    }  # fmt: skip

    found = read_ticket(adapter, "7", {"ticket": {"status": 200, "headers": {}, "body": strange}})

    assert (found.subject, found.status, found.requester, found.assignee) == ("", "3", "", "")
    assert len(found.queue) == 200
    assert found.tags == ("a", "", "")
    assert len(found.messages) == 500
    assert {len(each.text) for each in found.messages} == {100_000}
    assert {each.role for each in found.messages} == {"unknown"}


def test_lists_are_joined_by_a_key() -> None:
    find = compile_query("join_on(left, right, 'of', 'id')[].[text, other.kind]")

    left = [{"of": 1, "text": "a"}, {"of": "2", "text": "b"}, {"of": 3, "text": "c"}, "no object"]
    assert find({"left": left, "right": [{"id": "1", "kind": "x"}, {"id": 2, "kind": "y"}]}) == [
        ["a", "x"], ["b", "y"], ["c", None],
    ]  # fmt: skip
    assert find({"left": None, "right": None}) == []
    assert compile_query("split(tags, ',')")({"tags": "a, b,,c "}) == ["a", "b", "c"]
