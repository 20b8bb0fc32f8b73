"""`trace` on a terminal and for programs: short first, all with --full, and nothing in it is obeyed."""

import asyncio
from pathlib import Path

import pytest

from runtime.engine.node import Node
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step
from tests.runtime.cli.commands.program import QUESTION, Place
from tests.solving import Finds, alter_numbers, solves


def solve(place: Place, step: Step, text: str = "What must I know about the press?") -> None:
    """A ticket T-1 that a model answered, in another process than the one that is asked about it."""

    async def run() -> None:
        async with FakeOpenAI(step) as server:
            model = ModelSettings(base_url=server.url, name="small-1")
            storage = StorageSettings(folder=str(place.folder / "task-data"))
            async with Node.open(Settings(model=model, storage=storage)) as node:
                node.knowledge = Finds()
                await (await node.submit(Ticket(id="T-1", text=text))).outcome()

    asyncio.run(run())


def test_a_trace_says_what_was_searched_claimed_and_asked(place: Place) -> None:
    solve(place, solves(alter_numbers))

    shown = place.run("trace", "T-1").out

    assert "worker searched the documents: “What must I know about the press?”" in shown
    assert "\nClaims (6)\n" in shown
    assert "worker: 3 kept, 3 dropped\n" in shown
    dropped = "Dropped, for it gives another number than its quote: “In short: the press needs 52 minutes to warm up.”"
    assert dropped in shown
    assert "its quote: “The press needs 45 minutes to warm up.”" in shown
    assert "model small-1: Draft; 100 + 20 tokens\n" in shown
    assert "worker: resolution obtained\n" in shown
    assert "Events" not in shown
    assert "asked for Draft" not in shown, "it stands among the spans"


def test_full_shows_what_the_short_form_only_counts(place: Place) -> None:
    solve(place, solves(alter_numbers))

    short, full = place.run("trace", "T-1").out, place.run("trace", "T-1", "--full").out

    kept = "Kept: “In short: it must not be moved while the red lamp burns.”"
    assert kept not in short
    assert "and 3 more\n" in short
    assert kept in full
    assert "from kb/press.md" in full
    assert "resolution text: " in full, "and what each event says"
    assert "resolution text: " not in short
    assert "worker asked for Draft (small-1) as json schema, with tools: 100 tokens in, 20 out; " in full
    assert "; 1 try\n" in full
    assert len(short.splitlines()) < len(full.splitlines())


def test_a_program_gets_all_of_it_as_json(place: Place) -> None:
    solve(place, solves(alter_numbers))

    why = place.run("trace", "T-1", "--json").json["why"]

    assert why["searches"][0]["found"][0]["source"] == "kb/press.md"
    assert [each["fate"] for each in why["answers"][0]["claims"]].count("dropped") == 3
    assert [(each["shape"], each["form"], each["tries"]) for each in why["calls"]][:2] == [
        ("Analysis", "json_schema", 1),
        ("Draft", "json_schema", 1),
    ]
    assert why["calls"][0]["tokens_in"] == 100
    assert (why["omitted"], why["notes"]) == (0, [])


@pytest.mark.req("LG-26", "LG-27")
def test_a_trace_is_found_by_its_id_and_tells_its_spans(place: Place) -> None:
    solve(place, solves(alter_numbers))

    told = place.run("trace", "T-1", "--json").json

    assert [each["kind"] for each in told["spans"]][:2] == ["run", "agent"]
    assert f"Trace {told['trace']}\n" in place.run("trace", told["trace"]).out
    assert place.run("status", "T-1", "--json").json["trace"] == told["trace"]


def test_an_answer_without_a_model_shows_its_search_and_its_quotes(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", "--id", "HD-1", QUESTION)

    shown = place.run("trace", "HD-1").out

    assert "manual/printer.md" in shown
    assert "Kept: “When the printer reports a paper jam" in shown
    assert "Model calls: none" in shown


def test_what_a_ticket_and_a_model_say_cannot_command_a_terminal(place: Place) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u2066"

    def spoil(claims: list[dict[str, str]]) -> list[dict[str, str]]:
        return [{**each, "text": f"{each['text']} {hostile} 4711"} for each in claims]

    solve(place, solves(spoil), f"What of the press {hostile}?")

    for words in ([], ["--full"], ["--json"]):
        shown = place.run("trace", "T-1", *words).out
        assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(shown), words
        assert "4711" in shown


def test_a_ticket_of_an_earlier_version_says_that_nothing_is_known(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.run("submit", "--quiet", "--id", "HD-1", "one")

    async def forget() -> None:
        async with Node.open(Settings(storage=StorageSettings(folder=str(place.folder / "task-data")))) as node:
            await node.database.run(("DELETE FROM record", ()))

    asyncio.run(forget())
    shown = place.run("trace", "HD-1").out

    assert "Searches: none" in shown
    assert "or an earlier version of this program ran it" in shown


def test_a_trace_goes_with_its_ticket(place: Place) -> None:
    solve(place, solves(alter_numbers))

    async def count() -> int:
        async with Node.open(Settings(storage=StorageSettings(folder=str(place.folder / "task-data")))) as node:
            return int(node.database.rows("SELECT count(*) FROM record")[0][0])

    assert asyncio.run(count()) > 0
    assert place.run("purge", "T-1", "--yes").status == 0
    assert asyncio.run(count()) == 0
