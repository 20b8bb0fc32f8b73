"""A run that asks: its questions are kept, answers are durable before they count, and the ticket goes on with all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from actors.evidence.passages import SearchHits
from actors.helpdesk.workflow import TicketCase
from actors.workflow.outcome import (
    ASK_CHARACTERS,
    MOST_QUESTIONS,
    MOST_ROUNDS,
    AnswerRound,
    EndReason,
    GivenAnswer,
    Outcome,
    Question,
    limit_questions,
)
from runtime import families
from runtime.engine.service import Answers, TicketService, answer_ticket, check_answers
from runtime.service_error import ServiceError
from runtime.storage.records import StoredRun
from runtime.tickets import Ticket
from runtime.upkeep.purge import purge
from tests.fakes import MAC_PASSAGE, ON_A_MAC, PASSAGE, AsksBack
from tests.runtime.families.asking import BOAT, HOURS, NAME, RENTAL, Hired
from tests.runtime.families.test_research_runs import opened
from tests.runtime.http.kit import Interface, interface
from tests.runtime.http.test_own_tickets import make_token
from tests.runtime.upkeep.kit import files_with

ASKED = "I want to be on the water."
TICKET = Ticket(
    id="B-1", text=ASKED, subject="Boat", requester="Kim", workflow="rental", options=Hired("south")
)  # fmt: skip
GIVEN = {"boat": "Canoe", "hours": " 3 "}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, RENTAL))


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[TicketService]:
    async with opened(folder) as node:
        service = TicketService(node)
        service.ready = True
        yield service


async def submit(service: TicketService, ticket: Ticket = TICKET) -> tuple[StoredRun, Outcome]:
    handle = await service.node.submit(ticket)
    outcome = await handle.outcome()
    return await service.node.journal.run(handle.run), outcome


async def answer(service: TicketService, run: StoredRun, *, named: bool = False, **given: Any) -> StoredRun:
    return await answer_ticket(service, run, Answers(**given), named=named)


async def end_of(service: TicketService, run: StoredRun) -> Outcome:
    outcome = await service.outcome(run.id, 30)
    assert outcome is not None
    return outcome


async def test_a_run_asks_and_the_ticket_goes_on_with_the_answers_its_text_and_its_options(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        asking, outcome = await submit(service)
        assert (outcome.status, outcome.why, outcome.questions) == ("needs_input", "completed", (BOAT, HOURS, NAME))
        assert await service.node.journal.outcome(asking) == outcome

        follows = await answer(service, asking, given=GIVEN, text="With a dog.")
        went_on = await end_of(service, follows)

        assert (went_on.ticket, went_on.status, went_on.questions) == ("B-1", "resolved", ())
        assert went_on.resolution is not None
        assert went_on.resolution.text == f"Boat\n\n{ASKED}\n\nWith a dog. / boat canoe, hours 3 / south"
        case = service.node.journal.case(follows)
        assert case.answers == (
            AnswerRound(
                asking.id,
                (GivenAnswer("boat", "canoe"), GivenAnswer("hours", "3")),
                "With a dog.",
                asked=(BOAT.ask, HOURS.ask, NAME.ask),
            ),
        )
        said = await service.read_question(follows)
        assert (said.question, said.subject, said.requester) == (ASKED, "Boat", "Kim")
        assert service.node.is_same(follows, TICKET), "who submits the ticket again follows it"


async def test_the_same_answers_again_follow_the_same_run_and_others_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        asking, _ = await submit(service)
        follows = await answer(service, asking, given=GIVEN)

        assert (await answer(service, asking, given={"hours": "3", "boat": "canoe", "name": " "})).id == follows.id
        assert (await end_of(service, follows)).status == "resolved"
        assert (await answer(service, asking, given=GIVEN, named=True)).id == follows.id
        with pytest.raises(ServiceError, match=r"^B-1 waits for no answers: it ended as resolved; .*status B-1"):
            await answer(service, follows, given={**GIVEN, "hours": "4"})
        assert len([run for run in await service.node.journal.latest(9) if run.ticket == "B-1"]) == 2


async def test_the_same_words_to_the_next_question_count_when_its_run_is_named_or_they_have_a_key(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as service:
        first, _ = await submit(service)
        second = await answer(service, first, text="yes", key="k-1")
        assert (await end_of(service, second)).status == "needs_input"

        assert (await answer(service, second, text="yes")).id == second.id, "it may be the first one, sent again"
        assert (await answer(service, second, text="yes", key="k-1")).id == second.id
        with pytest.raises(ServiceError, match="This Idempotency-Key came with other answers before") as refused:
            await answer(service, second, text="no", key="k-1")
        assert refused.value.kind == "key_reused"
        third = await answer(service, second, text="yes", key="k-2")
        assert third.id != second.id
        await end_of(service, third)
        fourth = await answer(service, third, text="yes", named=True)
        assert fourth.id != third.id
        assert [each.text for each in service.node.journal.case(fourth).answers] == ["yes"] * 3
        await end_of(service, fourth)
        with pytest.raises(ServiceError, match=rf"^Run {first.id} was answered before, with other words; "):
            await answer(service, first, text="no", named=True)


@pytest.mark.parametrize("others", [{"given": {**GIVEN, "hours": "4"}}, {"given": GIVEN}], ids=["other", "same"])
async def test_of_two_at_once_one_wins(tmp_path: Path, others: dict[str, Any]) -> None:
    async with serving(tmp_path) as service:
        asking, _ = await submit(service)

        came = await asyncio.gather(
            answer(service, asking, given=GIVEN), answer(service, asking, **others), return_exceptions=True
        )

        runs = {each.id for each in came if isinstance(each, StoredRun)}
        assert len(runs) == 1
        refused = [each for each in came if isinstance(each, ServiceError)]
        assert len(refused) == (0 if others["given"] is GIVEN else 1)
        assert all(each.kind == "conflict" and "somebody else at the same moment" in str(each) for each in refused)
        assert len(await service.node.journal.latest(9)) == 2
        (follows,) = runs
        await service.outcome(follows, 30)


async def test_one_of_another_process_wins_by_the_database_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as one, serving(tmp_path) as other:
        asking, _ = await submit(one)

        came = await asyncio.gather(
            answer(one, asking, given=GIVEN), answer(other, asking, given={**GIVEN, "hours": "4"}),
            return_exceptions=True,
        )  # fmt: skip

        assert sorted(type(each).__name__ for each in came) == ["ServiceError", "StoredRun"], came
        assert len(await one.node.journal.latest(9)) == 2
        latest = await one.node.journal.latest_of("B-1")
        assert latest is not None
        await one.outcome(latest.id, 30)


async def test_it_asks_five_times_and_then_ends_with_what_is_missing(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        run, outcome = await submit(service, Ticket(id="B-1", text="Ask forever.", workflow="rental"))
        for number in range(MOST_ROUNDS):
            assert outcome.status == "needs_input"
            run = await answer(service, run, text=f"No idea, {number}.")
            outcome = await end_of(service, run)

        assert (outcome.status, outcome.why, outcome.questions) == (
            "error", EndReason.ASKED_TOO_OFTEN, (BOAT, HOURS, NAME),
        )  # fmt: skip
        assert outcome.detail == "It was asked 5 times for what was missing, and something still is."
        with pytest.raises(ServiceError, match=r"^B-1 was asked as often as may be\. Submit it again, "):
            await answer(service, run, text="More.")


async def test_a_terminator_that_asks_nothing_that_can_be_answered_has_failed(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        _, outcome = await submit(service, Ticket(text="nonsense", workflow="rental"))

    assert (outcome.status, outcome.why, outcome.questions) == ("error", EndReason.ANSWERS_REFUSED, ())
    assert outcome.detail == "An agent gave no valid answer. Please try again later."


async def test_a_ticket_that_does_not_wait_is_refused_before_anything_is_kept(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        done, outcome = await submit(service, Ticket(text="This is all I know.", workflow="rental"))
        assert outcome.status == "resolved"
        with pytest.raises(ServiceError, match=r"waits for no answers: it ended as resolved") as refused:
            await answer(service, done, given=GIVEN)
        assert refused.value.kind == "conflict"
        assert len(await service.node.journal.latest(9)) == 1


async def test_a_purge_takes_questions_and_answers_with_the_ticket(tmp_path: Path) -> None:
    async with serving(tmp_path) as service:
        asking, _ = await submit(service)
        await end_of(service, await answer(service, asking, given=GIVEN, text="Seven dogs."))
        folder = service.node.folder
        assert files_with(folder, "Seven dogs")

        assert (await asyncio.to_thread(purge, folder, ["B-1"], judged=True)).runs == 2

        assert await service.node.journal.latest(9) == []
    assert files_with(folder, "Seven dogs") == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"given": {"boot": "canoe"}}, "Nobody asked for 'boot'. Did you mean 'boat'?"),
        (
            {"given": {"boat": "canoe"}},
            "Still to be answered: hours. Answer each, or say in a text what is known.",
        ),
        ({"given": {"boat": "ship", "hours": "1"}}, "'ship' is none of the answers to boat: canoe, dinghy."),
        (
            {"given": {"boat": "canoe", "hours": "1\0"}},
            "The answers hold the character U+0000, which is in no text. Remove it.",
        ),
        ({"text": "x" * 2000}, "What was answered is over 1 KB. Shorten it, or raise [run] ticket_kilobytes."),
        ({}, "Still to be answered: boat, hours. Answer each, or say in a text what is known."),
    ],
)  # fmt: skip
def test_what_answers_nothing_is_refused_in_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check_answers((BOAT, HOURS, NAME), Answers(**given), 1)
    assert str(refused.value) == sentence


def test_optional_questions_may_stay_open_but_not_unseen() -> None:
    assert check_answers((NAME,), Answers(given={"name": " "})) == ()
    with pytest.raises(ServiceError, match="No question was answered"):
        check_answers((NAME,), Answers())
    assert check_answers((BOAT, HOURS), Answers(text="Any boat.")) == ()


def test_questions_are_bounded_in_number_and_length() -> None:
    many = [Question(f"q{number % 30}", "Why? " * 500, choices=("a", "a", " ", "b")) for number in range(60)]

    kept = limit_questions([Question("", "No name."), Question("a=b", "No name."), *many])

    assert [each.name for each in kept] == [f"q{number}" for number in range(MOST_QUESTIONS)]
    assert all(len(each.ask) <= ASK_CHARACTERS and each.choices == ("a", "b") for each in kept)


async def read_report(web: Interface, path: str) -> tuple[str, bytes]:
    async with web.client.get(path) as response:
        assert response.status == 200
        return response.headers["Content-Type"], await response.read()


async def test_http_shows_the_questions_and_takes_the_answers(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        asked = await web.submit(ASKED, wait=20, id="B-1", workflow="rental")
        assert asked["status"] == "needs_input"
        _, stands = await web.ask("GET", "/tickets/B-1")
        assert (stands["status"], stands["outcome"]["questions"]) == ("needs_input", asked["questions"])
        assert asked["questions"][0] == {"name": "boat", "ask": BOAT.ask, "choices": ["canoe", "dinghy"]}
        at = stands["links"]["answers"]
        assert at == "/tickets/B-1/answers"

        for wrong, status, said in (
            ({"answers": {"boot": "x"}}, 400, "Nobody asked for 'boot'."),
            ({"answers": {"boat": ["x"]}}, 400, "The body must be a JSON object"),
            ({"text": "x", "run": "R-none"}, 404, "There is no run R-none."),
        ):
            refused, sentence = await web.refusal("POST", at, json=wrong)
            assert (refused, sentence.startswith(said)) == (status, True), sentence
        status, receipt = await web.ask("POST", at, json={"answers": {"boat": "canoe", "hours": 3}})
        assert (status, receipt["ticket"], receipt["question"]) == (202, "B-1", ASKED)
        status, ended = await web.ask("POST", f"{at}?wait=20", json={"answers": {"boat": "canoe", "hours": 3}})
        assert (status, ended["run"], ended["status"]) == (200, receipt["run"], "resolved")
        assert await read_report(web, stands["links"]["report"]) == (
            "text/markdown; charset=utf-8", b"# Lease\n\n**Boat**: boat canoe, hours 3\n",
        )  # fmt: skip
        kind, content = await read_report(web, "/tickets/B-1/report?format=docx")
        assert (kind.endswith("wordprocessingml.document"), content[:2]) == (True, b"PK")
        assert (await web.refusal("GET", "/tickets/B-1/report?format=pdf"))[0] == 400
        refused, sentence = await web.refusal("POST", at, json={"text": "more"})
        assert (refused, "waits for no answers" in sentence) == (409, True)
        again = await web.submit(ASKED, wait=20, id="B-1", workflow="rental")
        assert again["run"] == receipt["run"], "the same ticket again is what it has become"
        _, described = await web.ask("GET", "/openapi.json")
        assert "/tickets/{id}/answers" in described["paths"]
        assert "needs_input" in described["components"]["schemas"]["Outcome"]["properties"]["status"]["enum"]


async def test_who_submitted_a_ticket_answers_what_it_asks_and_others_only_operate(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        owner, other = await make_token(web, "owner"), await make_token(web, "other")
        desk, reader = await make_token(web, "desk", "operate"), await make_token(web, "reader", "read")
        for ticket in ("B-1", "B-2"):
            body = {"text": ASKED, "id": ticket, "workflow": "rental"}
            _, asked = await web.ask("POST", "/tickets?wait=20", json=body, headers=owner)
            assert asked["status"] == "needs_input"

        answers = {"answers": {"boat": "canoe", "hours": 3}}
        assert (await web.refusal("POST", "/tickets/B-1/answers", json=answers, headers=other))[0] == 404
        status, sentence = await web.refusal("POST", "/tickets/B-1/answers", json=answers, headers=reader)
        assert (status, "B-1 was submitted by somebody else" in sentence) == (403, True)
        for ticket, who in (("B-1", owner), ("B-2", desk)):
            status, ended = await web.ask("POST", f"/tickets/{ticket}/answers?wait=20", json=answers, headers=who)
            assert (status, ended["status"]) == (200, "resolved")


class Finds:
    """A knowledge in which two passages answer two cases."""

    async def search(self, question: str, **_: object) -> SearchHits:
        await asyncio.sleep(0)
        return SearchHits((PASSAGE, MAC_PASSAGE))


@pytest.mark.parametrize("said", [{"answers": {"detail": "Yes, a Mac."}}, {"text": "Yes, a Mac."}])
async def test_a_helpdesk_ticket_that_asks_goes_on_as_a_conversation(tmp_path: Path, said: dict[str, Any]) -> None:
    async with interface(tmp_path, model=AsksBack(), memory=True) as web:
        web.node.knowledge = cast("Any", Finds())
        ticket = {"id": "T-9", "subject": "VPN", "text": "It drops every hour."}
        _, asking = await web.ask("POST", "/tickets?wait=20", json=ticket)
        assert asking["status"] == "needs_input"
        assert [each["ask"] for each in asking["questions"]] == ["Do you use a Mac?"]

        _, ended = await web.ask("POST", "/tickets/T-9/answers?wait=20", json=said)
        assert ended["status"] == "resolved"
        assert ON_A_MAC in ended["resolution"]["text"]
        run = await web.node.journal.latest_of("T-9")
        assert run is not None
        case = cast("TicketCase", web.node.journal.case(run))
        assert [(each.role, each.text) for each in case.said_before] == [
            ("customer", "VPN\n\nIt drops every hour."), ("terminus", "Do you use a Mac?"),
        ]  # fmt: skip
        assert case.text == "Yes, a Mac."
        _, again = await web.ask("POST", "/tickets", json=ticket)
        assert again["run"] == run.id, "who submits the ticket again follows it"
