"""Tickets over HTTP: taken in once, durable before anybody is told, answered when they end."""

import asyncio
import datetime
import json
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from runtime.engine.run_record import join_records, make_record
from runtime.families import extractive
from runtime.tickets import make_id_of_key
from runtime.user_text import as_json
from tests.fakes import ANSWER, PASSAGE
from tests.patience import promised
from tests.runtime.http.kit import TEXT, Held, interface, until


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two tell the same end; the seconds of the one that waited may count the writing down."""
    return {**one, "seconds": 0} == {**other, "seconds": 0}


def seconds(moment: str) -> float:
    """Seconds since 1970."""
    return datetime.datetime.fromisoformat(moment).timestamp()


@pytest.mark.req("SY-4")
async def test_a_ticket_is_accepted_with_where_to_go_on(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held()) as web:
        status, receipt = await web.ask("POST", "/tickets", json={"text": TEXT, "subject": "VPN", "requester": "ann"})

        assert (status, receipt["status"]) == (202, "running")
        stored = await web.node.journal.find(receipt["run"])
        assert (stored.ticket, stored.ended) == (receipt["ticket"], None)
        for link in ("ticket", "run"):
            status, standing = await web.ask("GET", receipt["links"][link])
            assert (status, standing["run"], standing["status"]) == (200, receipt["run"], "running")
            assert (standing["ended"], standing["outcome"]) == (None, None)
            said = ("links", "question", "subject", "requester", "created")
            assert [standing[name] for name in said] == [receipt[name] for name in said]


@pytest.mark.req("HD-1.4", "HD-7.5", "SY-4")
async def test_who_waits_has_the_outcome_within_two_seconds_of_the_end(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        outcome = await web.submit(wait=20)
        at = time.time()

        _, standing = await web.ask("GET", f"/runs/{outcome['run']}")
        assert at - seconds(standing["ended"]) < promised(2.0)
        assert same(standing["outcome"], {name: outcome[name] for name in standing["outcome"]})
        assert (outcome["status"], outcome["why"], outcome["by"]) == ("resolved", "completed", "ticketing")
        assert ANSWER in outcome["resolution"]["text"]
        assert [each["target"] for each in outcome["handoffs"]][:3] == ["memory", "orchestrator", "ticketing"]


@pytest.mark.req("HD-1.4", "HD-1.5")
async def test_a_hundred_that_wait_side_by_side_each_get_their_own_answer_at_once(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:

        async def ticket(number: int) -> tuple[float, Any]:
            outcome = await web.submit(f"{TEXT} And {number}.", wait=20, id=f"T-{number}")
            return time.time(), outcome

        waiting = [asyncio.ensure_future(ticket(number)) for number in range(100)]
        await until(lambda: web.node.live == 100)
        model.free.set()

        done = await asyncio.gather(*waiting)
        bound = promised(2.0)
        for number, (at, outcome) in enumerate(done):
            assert outcome["ticket"] == f"T-{number}"
            _, standing = await web.ask("GET", f"/runs/{outcome['run']}")
            assert at - seconds(standing["ended"]) < bound


async def test_an_outcome_has_the_same_form_as_that_of_the_command_line(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        outcome = web.handle(receipt["run"])
        waiting = asyncio.ensure_future(web.submit(id=receipt["ticket"], wait=20))
        await model.asked.wait()
        model.free.set()

        ended = await outcome.outcome()
        stored, _ = await web.node.status(ended.run)
        assert await waiting == json.loads(
            as_json(join_records(ended, make_record(stored, await web.node.journal.store.read_question(stored))))
        )


async def test_every_answer_says_what_was_asked_by_whom_and_when(tmp_path: Path) -> None:
    wrote: dict[str, Any] = {"subject": "VPN", "requester": "kim@example.org"}
    async with interface(tmp_path, memory=True) as web:
        before = time.time()
        outcome = await web.submit(id="HD-1", wait=20, **wrote)
        after = time.time()
        receipt = await web.submit(id="HD-1", **wrote)
        _, standing = await web.ask("GET", "/tickets/HD-1")
        _, noted = await web.ask("POST", "/tickets/HD-1/feedback", json={"right": True})

    for said in (outcome, receipt, standing, noted):
        assert {key: said[key] for key in ("question", *wrote)} == {"question": TEXT, **wrote}
    for said in (outcome, standing):
        assert before - 1 < seconds(said["created"]) <= seconds(said["started"]) <= seconds(said["ended"]) < after + 1
    assert standing["seconds"] == pytest.approx(outcome["seconds"], abs=0.01)
    assert receipt["created"] == standing["created"]


async def test_an_older_run_says_what_it_was_asked_not_what_came_later_under_the_same_id(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        first = await web.submit("The printer jams.", id="HD-1", subject="Printer", wait=20)
        await web.submit("VPN again.", id="HD-1", wait=20)

        assert (await web.ask("GET", "/tickets/HD-1"))[1]["question"] == "VPN again."
        assert (await web.ask("GET", f"/runs/{first['run']}"))[1]["question"] == "Printer\n\nThe printer jams."


async def test_a_wait_that_is_too_short_is_answered_with_the_receipt_and_harms_nothing(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit(wait=0.01)
        assert receipt["status"] == "running"
        model.free.set()

        assert (await web.end(receipt["run"])).status == "resolved"


async def test_a_client_that_goes_away_leaves_its_ticket_at_work(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        waiting = asyncio.ensure_future(web.submit(wait=20, id="T-1"))
        await model.asked.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        await until(lambda: not web.desk._waiting)
        model.free.set()

        assert (await web.end("T-1")).status == "resolved"


@pytest.mark.parametrize("media", ["text/plain", "text/markdown; charset=utf-8"])
async def test_a_text_is_taken_as_it_is(tmp_path: Path, media: str) -> None:
    text = "---\nid: not-front-matter\n---\nMein VPN bricht ab: täglich 🙁"
    async with interface(tmp_path) as web:
        status, receipt = await web.ask("POST", "/tickets", data=text.encode(), headers={"Content-Type": media})

        assert status == 202
        assert web.node.journal.case(await web.node.journal.find(receipt["run"])).text == text  # type: ignore[attr-defined]


class TestTheSameAgain:
    async def test_gives_the_same_run_while_it_goes_on_and_when_it_has_ended(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model) as web:
            first = await web.submit(id="HD-7", subject="VPN")
            assert await web.submit(id="HD-7", subject="VPN") == first
            model.free.set()
            await web.end(first["run"])

            again = await web.submit(id="HD-7", subject="VPN", wait=20)
            assert (again["run"], again["status"]) == (first["run"], "resolved")
            assert (await web.submit(id="HD-7", subject="VPN"))["status"] == "resolved"

    async def test_gives_the_same_run_after_a_restart(self, tmp_path: Path) -> None:
        key = {"Idempotency-Key": "a4f0"}
        async with interface(tmp_path) as web:
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=key)
        async with interface(tmp_path) as web:
            _, again = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=key)

        assert same(again, first)

    @pytest.mark.parametrize("by", ["id", "key"])
    async def test_sent_at_once_by_many_is_one_run(self, tmp_path: Path, by: str) -> None:
        body = {"text": TEXT} | ({"id": "HD-7"} if by == "id" else {})
        headers = {"Idempotency-Key": "a4f0"} if by == "key" else {}
        async with interface(tmp_path, model=Held()) as web:
            answers = await asyncio.gather(
                *(web.ask("POST", "/tickets", json=body, headers=headers) for _ in range(30))
            )

            assert {status for status, _ in answers} == {202}
            assert len({receipt["run"] for _, receipt in answers}) == 1
            assert web.node.live == len(await web.node.journal.latest(99)) == 1

    async def test_key_with_another_ticket_is_refused(self, tmp_path: Path) -> None:
        key = {"Idempotency-Key": "a4f0"}
        async with interface(tmp_path) as web:
            await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=key)
            status, why = await web.refusal("POST", "/tickets", json={"text": "Other."}, headers=key)

            assert status == 422
            assert "new key" in why
            assert (await web.node.journal.find(make_id_of_key("a4f0"))).ended is not None

    async def test_id_with_another_text_waits_for_the_first_and_then_is_a_new_run(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model) as web:
            first = await web.submit(id="HD-7")
            status, why = await web.refusal("POST", "/tickets", json={"text": "VPN again.", "id": "HD-7"})
            assert (status, "HD-7" in why) == (409, True)
            model.free.set()
            await web.end(first["run"])

            second = await web.submit("VPN again.", id="HD-7", wait=20)
            assert second["run"] != first["run"]
            assert (await web.ask("GET", "/tickets/HD-7"))[1]["run"] == second["run"]
            assert (await web.ask("GET", f"/runs/{first['run']}"))[1]["outcome"]["run"] == first["run"]


class TestTooMuch:
    async def test_tickets_above_the_limit_are_refused_until_one_ends(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model, max_runs=2) as web:
            answers = await asyncio.gather(
                *(web.client.post("/tickets", json={"text": f"{TEXT} {number}"}) for number in range(12))
            )
            statuses = sorted(each.status for each in answers)
            assert statuses == [202, 202, *[429] * 10]
            late = next(each for each in answers if each.status == 429)
            assert int(late.headers["Retry-After"]) > 0
            assert web.node.live == 2

            model.free.set()
            await until(lambda: web.node.live == 0)
            assert (await web.submit(wait=20))["status"] == "resolved"

    async def test_a_ticket_that_is_known_is_found_even_then(self, tmp_path: Path) -> None:
        async with interface(tmp_path, model=Held(), max_runs=1) as web:
            first = await web.submit(id="T-1")
            assert await web.submit(id="T-1") == first

    async def test_a_server_that_stops_takes_no_more_and_still_tells(self, tmp_path: Path) -> None:
        async with interface(tmp_path, model=Held()) as web:
            receipt = await web.submit()
            web.desk.stop()

            async with web.client.post("/tickets", json={"text": TEXT}) as response:
                assert (response.status, int(response.headers["Retry-After"]) > 0) == (503, True)
            assert (await web.ask("GET", receipt["links"]["run"]))[0] == 200
            assert (await web.ask("GET", "/health"))[0] == 503

    async def test_a_ticket_that_cannot_be_written_down_is_not_accepted(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            await web.node.database.run(
                ("CREATE TRIGGER full BEFORE INSERT ON ticket BEGIN SELECT RAISE(FAIL, 'x'); END", ())
            )
            status, why = await web.refusal("POST", "/tickets", json={"text": TEXT})

            assert (status, "send it again" in why) == (503, True)
            assert web.node.live == 0
            await web.node.database.run(("DROP TRIGGER full", ()))
            assert (await web.submit(wait=20))["status"] == "resolved"


class TestAnEnd:
    async def test_is_asked_for_and_comes(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model, run={"cancel_seconds": 0.0}) as web:
            receipt = await web.submit()
            await model.asked.wait()
            ending = asyncio.ensure_future(web.end(receipt["run"]))
            assert (await web.ask("POST", receipt["links"]["cancel"]))[0] == 202

            assert (await ending).status in {"cancelled", "error"}
            status, later = await web.ask("POST", receipt["links"]["cancel"])
            assert (status, later["status"] != "running") == (200, True)

    async def test_of_another_process_is_waited_for_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("runtime.engine.runs.LOOK_SECONDS", 0.01)
        model = Held()
        async with interface(tmp_path, model=model) as first, interface(tmp_path) as second:
            receipt = await first.submit(id="T-1")
            waiting = asyncio.ensure_future(second.submit(id="T-1", wait=20))
            await until(lambda: bool(second.desk._waiting))
            model.free.set()

            outcome = await waiting
            assert (outcome["run"], outcome["status"]) == (receipt["run"], "resolved")
            assert second.node.live == 0


class TestNames:
    async def test_a_ticket_that_is_called_like_a_run_and_that_run_are_two(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model, run={"cancel_seconds": 0.0}) as web:
            first = await web.submit(id="HD-1")
            named = await web.submit("Something else.", id=first["run"])

            assert (await web.ask("GET", f"/tickets/{first['run']}"))[1]["run"] == named["run"]
            assert (await web.ask("GET", f"/runs/{first['run']}"))[1]["ticket"] == "HD-1"
            assert (await web.refusal("GET", f"/tickets/{named['run']}"))[0] == 404
            assert (await web.ask("POST", "/tickets/HD-1/cancel"))[0] == 202
            await until(lambda: web.node.runs.here(first["run"]) is None)
            assert (await web.ask("GET", "/tickets/HD-1"))[1]["status"] != "running"
            assert (await web.ask("GET", f"/tickets/{first['run']}"))[1]["status"] == "running"


class TestARunThatNobodyRuns:
    @pytest.mark.parametrize("how", ["posted again", "looked at", "cancelled", "listened to"])
    async def test_goes_on_where_it_is_asked_for(self, tmp_path: Path, how: str) -> None:
        async with interface(tmp_path, model=Held()) as dead:
            receipt = await dead.submit(id="HD-1")
            async with interface(tmp_path) as web:  # which resumed nothing: the other one lived
                dead.node.runs.live.abandon()
                os.close(dead.node.owner._file)
                dead.node.owner._file = os.open(tmp_path / "gone", os.O_CREAT)
                if how == "posted again":
                    assert (await web.submit(id="HD-1", wait=20))["run"] == receipt["run"]
                elif how == "looked at":
                    assert (await web.ask("GET", "/tickets/HD-1"))[0] == 200
                elif how == "cancelled":
                    assert (await web.ask("POST", "/tickets/HD-1/cancel"))[0] == 202
                else:
                    async with web.client.get(receipt["links"]["events"]) as response:
                        assert b"event: ended" in await response.read()
                await until(lambda: not web.node.database.rows("SELECT 1 FROM run WHERE ended IS NULL"))
                stood = (await web.ask("GET", f"/runs/{receipt['run']}"))[1]
                assert stood["status"] in {"resolved", "cancelled"}

    async def test_goes_on_by_itself_in_a_daemon(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("runtime.engine.runs.ORPHAN_SECONDS", 0.02)
        async with interface(tmp_path, model=Held()) as dead:
            receipt = await dead.submit(id="HD-1")
            async with interface(tmp_path) as web:
                watching = asyncio.create_task(web.node.runs.watch_orphans())
                await asyncio.sleep(0.1)
                assert web.node.live == 0, "its process lives"

                dead.node.runs.live.abandon()
                os.close(dead.node.owner._file)
                dead.node.owner._file = os.open(tmp_path / "gone", os.O_CREAT)

                await until(lambda: not web.node.database.rows("SELECT 1 FROM run WHERE ended IS NULL"))
                assert (await web.ask("GET", f"/runs/{receipt['run']}"))[1]["status"] == "resolved"
                watching.cancel()
                await asyncio.wait([watching])


class TwoPlaces:
    """Documents in which two places come close to whatever is asked."""

    async def search(self, question: str, *, within: float, **_: object) -> SearchHits:
        other = msgspec.structs.replace(PASSAGE, id="kb/b.md#1", source="kb/b.md", title="Notes", heading="")
        return SearchHits((PASSAGE, other))


class TestFeedback:
    async def test_that_it_was_wrong_keeps_memory_from_saying_it_again(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            first = await web.submit(wait=20, id="T-1")
            again = await web.submit(wait=20, id="T-2")
            assert len(again["handoffs"]) < len(first["handoffs"])

            status, noted = await web.ask("POST", "/tickets/T-1/feedback", json={"right": False})

            words, said = {"question": TEXT, "subject": "", "requester": ""}, first["resolution"]["text"]
            assert (status, noted) == (200, {"ticket": "T-1", "right": False, "answers": 1, **words, "answer": said})
            third = await web.submit(wait=20, id="T-3")
            assert (third["status"], third["resolution"]) == ("not_found", None)
            assert "called wrong before" in third["summary"]

    async def test_a_persons_answer_is_given_from_then_on(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            await web.submit("A question that no document answers.", wait=20, id="T-1")
            given = {"answer": "Ask Ann.", "person": "Bob"}
            status, noted = await web.ask("POST", "/tickets/T-1/feedback", json=given)
            again = await web.submit("A question that no document answers.", wait=20)

            assert (status, noted["answer"], noted["right"], noted["answers"]) == (200, "Ask Ann.", True, 1)
            assert (again["status"], again["resolution"]["text"]) == ("resolved", "Ask Ann.")
            assert "Bob answered it on 20" in again["summary"]

    async def test_of_several_places_the_right_one_is_named_and_only_it_is_remembered(self, tmp_path: Path) -> None:
        async with interface(tmp_path, model=extractive(), memory=True) as web:
            web.node.knowledge = TwoPlaces()
            first = await web.submit(wait=20, id="T-1")
            assert len(first["resolution"]["citations"]) == 2

            for given in ({"right": True}, {"right": True, "places": [3]}, {"right": False, "places": [1]}):
                status, why = await web.refusal("POST", "/tickets/T-1/feedback", json=given)
                assert (status, "place" in why) == (400, True)
            status, noted = await web.ask("POST", "/tickets/T-1/feedback", json={"right": True, "places": [2]})
            again = await web.submit(wait=20, id="T-2")

            assert (status, noted["places"], noted["answers"]) == (200, [2], 1)
            assert again["status"] == "resolved"
            assert [(each["number"], each["source"]) for each in again["resolution"]["citations"]] == [(1, "kb/b.md")]

    async def test_on_what_memory_does_not_hold_is_refused(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            await web.submit("A question that no document answers.", wait=20, id="T-1")
            status, why = await web.refusal("POST", "/tickets/T-1/feedback", json={"right": True})

            assert (status, "T-1" in why) == (409, True)

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{}",
            b'{"right": "yes"}',
            b'{"right": true, "left": 1}',
            b"[true]",
            b'{"right": true, "answer": "No."}',
        ],
    )
    async def test_that_says_something_else_is_refused(self, tmp_path: Path, body: bytes) -> None:
        async with interface(tmp_path, memory=True) as web:
            await web.submit(id="T-1")
            headers = {"Content-Type": "application/json"}
            status, why = await web.refusal("POST", "/tickets/T-1/feedback", data=body, headers=headers)

            assert (status, '"right"' in why) == (400, True)


async def test_health_counts_and_tells_no_secret(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held(), token="a-long-secret-token") as web:
        await web.submit()
        status, health = await web.ask("GET", "/health")

        assert (status, health["live"], health["ready"], health["runs"], health["streams"]) == (200, True, True, 1, 0)
        assert {"dead_letters", "abandoned", "workers_killed"} < set(health)
        assert health["commits"] >= 1
        assert "secret" not in json.dumps(health)


async def test_why_an_answer_is_as_it_is_can_be_asked_while_it_is_made_and_after_a_restart(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit(id="T-1")
        path = receipt["links"]["trace"]
        assert path == "/tickets/T-1/trace"
        assert (await web.ask("GET", path))[1]["status"] == "running"
        model.free.set()
        await web.end("T-1")
        status, here = await web.ask("GET", path)
        assert (status, here["run"], here["omitted"]) == (200, receipt["run"], 0)
        assert (await web.refusal("GET", "/tickets/T-2/trace"))[0] == 404

    async with interface(tmp_path) as web:
        later = (await web.ask("GET", path))[1]

    assert {**later, "status": ""} == {**here, "status": ""}
    (search,) = later["searches"]
    assert (search["by"], search["where"]) == ("worker", "documents")
    assert search["found"] == [
        {
            "source": "kb/vpn.md",
            "heading": "VPN > Drops",
            "meaning": None,
            "quality": None,
            "left_out": "",
        }
    ]
    assert [(each["quote"], each["fate"]) for each in later["answers"][0]["claims"]] == [(ANSWER, "kept")]
