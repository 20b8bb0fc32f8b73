"""`helpdesk`: a connection is begun, looked at, and payloads are mapped; nothing is written to a helpdesk."""

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from runtime.intake.adapter_file import list_systems
from runtime.intake.connections import read_connection
from tests.runtime.cli.commands.program import QUESTION, Place
from tests.runtime.intake.fake_helpdesk import SECRET, FakeHelpdesk, fake_helpdesk

RT = {"event": "ticket.create", "event_id": "txn-1", "ticket": {"id": 7}, "transaction": {"creator": "ann"}}


@pytest.mark.parametrize("system", list_systems())
def test_init_writes_a_connection_that_can_be_used_as_soon_as_there_is_a_token(place: Place, system: str) -> None:
    done = place.run("helpdesk", "init", system)

    assert (done.status, done.err) == (0, "")
    assert f"helpdesks/{system}.toml is written" in done.out
    assert f"{system.upper()}_TOKEN" in done.out
    path = place.folder / "helpdesks" / f"{system}.toml"
    connection = read_connection(path, {f"{system.upper()}_{what}": "t" for what in ("TOKEN", "CLIENT_SECRET")})
    assert (connection.settings.mode, connection.settings.system) == ("draft", system)
    assert connection.settings.bot


def test_init_never_overwrites_and_says_what_there_is(place: Place) -> None:
    assert place.run("helpdesk", "init", "rt", "--name", "desk", "--url", 'https://rt.example.org/"x').status == 0
    path = place.folder / "helpdesks" / "desk.toml"
    assert tomllib.loads(path.read_text(encoding="utf-8"))["url"] == 'https://rt.example.org/"x'
    path.write_text("mine", encoding="utf-8")

    again = place.run("helpdesk", "init", "roundup", "--name", "desk")
    unknown = place.run("helpdesk", "init", "lotus_notes")
    outside = place.run("helpdesk", "init", "rt", "--name", "../desk")

    assert (again.status, unknown.status, outside.status) == (2, 2, 2)
    assert "is there already" in again.err
    assert "it is one of" in unknown.err
    assert path.read_text(encoding="utf-8") == "mine"


async def check(place: Place, desk: FakeHelpdesk, **more: Any) -> Any:
    desk.connect(place.folder, **more)
    done = await asyncio.to_thread(place.run, "helpdesk", "check", "desk", "--json")
    found = {each["name"]: each for each in done.json["helpdesks"]["desk"]}
    assert done.status == (0 if done.json["healthy"] else 1)
    return found


async def test_check_says_each_finding_with_its_remedy_and_only_reads(place: Place, tmp_path: Path) -> None:
    async with fake_helpdesk() as desk:
        desk.write("7", "ann", "My VPN drops.")
        good = await check(place, desk)
        nobody = await check(place, desk, bot="")
        (tmp_path / "wrong").write_text("wrong", encoding="utf-8")
        forbidden = await check(place, desk, token=f"file:{tmp_path / 'wrong'}")
        desk.down = True
        down = await check(place, desk)
        away = await check(place, desk, url="http://127.0.0.1:1")

        assert desk.writes == []
    assert {each["state"] for each in good.values()} == {"ok"}
    assert good["Ticket"]["found"] == "7: status open (open), 1 message: 1 of customer"
    assert good["Writing"]["found"] == "note, reply, status, untag, assign (not tried)"
    assert (nobody["Account"]["state"], "Name the account" in nobody["Account"]["remedy"]) == ("problem", True)
    assert "The token is wrong" in forbidden["Poll"]["remedy"]
    assert "answered with 503" in down["Poll"]["found"]
    assert "cannot be reached" in away["Poll"]["found"]


async def test_check_names_the_account_that_the_token_is_of(place: Place) -> None:
    async with fake_helpdesk() as desk:
        desk.write("1", "bot", "Of the account itself.")
        desk.connect(place.folder)
        file = place.folder / "helpdesks" / "desk.toml"
        account = 'bot = "body.requester"\ncall = { path = "/tickets/1" }\n'
        file.write_text(f"{file.read_text()}\n[adapter.account]\n{account}")
        right = await asyncio.to_thread(place.run, "helpdesk", "check")
        file.write_text(file.read_text().replace('bot = "bot"', 'bot = "agentbot"', 1))
        wrong = await asyncio.to_thread(place.run, "helpdesk", "check")

    assert (right.status, wrong.status) == (0, 1)
    assert 'Write bot = "bot".' in wrong.out


def test_a_payload_is_shown_with_the_expression_of_each_value(place: Place) -> None:
    file = place.folder / "delivery.json"
    file.write_text(json.dumps({"delivery": {"headers": {}, "body": RT}}), encoding="utf-8")

    wrapped = place.run("helpdesk", "test-map", "delivery.json", "--source", "rt", "--json")
    file.write_text(json.dumps(RT), encoding="utf-8")
    bare = place.run("helpdesk", "test-map", "delivery.json", "--source", "rt", "--json")
    lines = place.run("helpdesk", "test-map", "delivery.json", "--source", "rt")

    assert wrapped.json == bare.json
    assert (bare.status, bare.json["problem"]) == (0, "")
    assert bare.json["made"] | {"source": ""} == {
        "source": "", "id": "txn-1", "ticket": "7", "kind": "created", "actor": "ann", "message_id": "",
        "automatic": False, "at": "",
    }  # fmt: skip
    assert {"name": "ticket", "expression": "body.ticket.id", "value": 7, "problem": ""} in bare.json["values"]
    assert "body.transaction.creator" in lines.out


@pytest.mark.parametrize(
    ("body", "failed"), [({}, "id"), (RT | {"event_id": None}, "id"), (RT | {"ticket": {}}, "ticket")]
)
def test_the_expression_that_gives_nothing_is_named(place: Place, body: Any, failed: str) -> None:
    (place.folder / "delivery.json").write_text(json.dumps(body), encoding="utf-8")

    done = place.run("helpdesk", "test-map", "delivery.json", "--source", "rt", "--json")

    assert done.status == 1
    assert done.json["made"] is None
    assert "does not say" in done.json["problem"]
    assert [each["problem"] for each in done.json["values"] if each["name"] == failed] == ["It gives nothing."]


def test_what_an_expression_cannot_take_is_said(place: Place) -> None:
    (place.folder / "delivery.json").write_text("{}", encoding="utf-8")

    done = place.run("helpdesk", "test-map", "delivery.json", "--source", "roundup", "--json")

    problems = {each["name"]: each["problem"] for each in done.json["values"]}
    assert problems["id"].startswith("In function join(), invalid type")


def test_what_cannot_be_looked_at_is_refused_with_a_sentence(place: Place) -> None:
    (place.folder / "text").write_text("no JSON", encoding="utf-8")

    for words, told in {
        ("check",): "No helpdesk is connected",
        ("check", "desk"): "There is no file helpdesks/desk.toml",
        ("test-map", "none", "--source", "rt"): "none cannot be read",
        ("test-map", "text", "--source", "rt"): "text is no JSON",
        ("test-map", "text"): "No helpdesk is connected",
    }.items():
        done = place.run("helpdesk", *words)
        assert (done.status, told in done.err, "Traceback" in done.err) == (2, True, False), done.err


async def test_replay_says_what_would_have_been_said_and_writes_nothing_anywhere(place: Place) -> None:
    place.article()
    assert (await asyncio.to_thread(place.run, "index", "manual")).status == 0
    async with fake_helpdesk() as desk:
        desk.write("1", "ann", QUESTION)
        desk.write("1", "helen", "Look behind the cover.\n\nIt is grey.\x1b[2J")
        desk.tickets["1"]["status"] = "solved"
        desk.write("2", "ann", "How do I reserve the tennis court on the roof?")
        desk.write("3", "ann", QUESTION)
        desk.tickets["3"]["tags"] = ["ai-off"]
        desk.connect(place.folder)
        done = await asyncio.to_thread(place.run, "helpdesk", "replay", "desk", "--dry-run", "--json")
        few = await asyncio.to_thread(place.run, "helpdesk", "replay", "desk", "--dry-run", "--most", "1")
        shown = await asyncio.to_thread(place.run, "helpdesk", "replay", "desk", "--dry-run")

        assert desk.writes == []
    assert done.status == 0, done.err
    assert done.json["counts"] == {"answered": 1, "asked back": 0, "not found": 1, "failed": 0, "left alone": 1}
    assert done.json["left_alone"] == {"switched off": 1}
    answered = next(each for each in done.json["tickets"] if each["ticket"] == "1")
    assert "open the rear cover" in answered["answer"]
    assert answered["people"] == "Look behind the cover.\n\nIt is grey.\x1b[2J"
    assert "  then: Look behind the cover.\n    It is grey.\\x1b[2J\n" in shown.out
    assert "\\x0a" not in shown.out
    assert "1 tickets: 0 answered, 0 asked back, 0 not found, 0 failed, 1 left alone" in few.out
    assert (await asyncio.to_thread(place.run, "status", "past.desk.1")).status == 3, "it is no ticket here"


def test_replay_needs_to_be_told_that_nothing_is_written(place: Place) -> None:
    assert place.run("helpdesk", "init", "rt").status == 0
    without = place.run("helpdesk", "replay", "rt")
    never = place.run("helpdesk", "replay", "rt", "--dry-run", "--since", "soon", RT_TOKEN="t")

    assert (without.status, never.status) == (2, 2)
    assert "--dry-run" in without.err
    assert "--since must be an age" in never.err


async def test_record_keeps_what_the_helpdesk_says_and_test_map_reads_it(place: Place) -> None:
    async with fake_helpdesk() as desk:
        desk.write("7", "ann", f"My VPN drops. By the way, {SECRET}.")
        desk.connect(place.folder)
        done = await asyncio.to_thread(place.run, "helpdesk", "record", "desk", "--json")

        assert (done.status, desk.writes) == (0, [])
    poll, ticket = map(Path, done.json["files"])
    assert (poll.name, ticket.name) == ("01-poll.json", "02-ticket.json")
    assert SECRET not in ticket.read_text()
    assert {each.stat().st_mode & 0o077 for each in (poll, ticket, poll.parent)} == {0}
    mapped = [place.run("helpdesk", "test-map", str(each), "--json").json for each in (poll, ticket)]
    assert [each["kind"] for each in mapped] == ["poll", "fetch"]
    assert mapped[0]["made"][0]["ticket"] == mapped[1]["made"]["id"] == "7"
    assert mapped[1]["made"]["messages"][0]["text"] == "My VPN drops. By the way, ***."
