"""Who may only submit meets and changes no ticket of another's."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from runtime.access import tokens
from runtime.access.tokens import Role, TokenBook
from runtime.families import extractive
from runtime.tickets import make_id_of_key
from tests.runtime.http.kit import TEXT, Held, Interface, interface
from tests.runtime.http.pages.test_page_routes import read_key, send

COMPLAINT = {"text": "请帮我写一份民事起诉状。原告：张三。被告：李四。", "workflow": "legal"}


@pytest.fixture(autouse=True)
def _tokens_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)


async def make_token(web: Interface, name: str, role: Role = "submit") -> dict[str, str]:
    return {"Authorization": f"Bearer {await TokenBook(web.node.journal.store).create(name, role)}"}


class TestAnIdThatATicketHas:
    @pytest.mark.parametrize("role", ["submit", "read"])
    async def test_is_taken_to_who_may_only_submit_whatever_text_they_guess(self, tmp_path: Path, role: Role) -> None:
        async with interface(tmp_path) as web:
            owner, other = await make_token(web, "owner"), await make_token(web, "other", role)
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=owner)
            guesses: tuple[dict[str, Any], ...] = (
                {"text": TEXT}, {"text": "Mine."}, {"text": TEXT, "subject": "Mine"}, {"text": TEXT, "research": True},
            )  # fmt: skip
            told = {
                await web.refusal("POST", "/tickets?wait=20", json={**each, "id": "T-1"}, headers=other)
                for each in guesses
            }
            (told_alike,) = told
            assert told_alike[0] == 409
            assert "The id T-1 is taken" in told_alike[1]
            assert [each.id for each in await web.node.journal.latest(5)] == [first["run"]]

    async def test_is_taken_while_its_ticket_goes_on_and_while_it_is_taken_in(self, tmp_path: Path) -> None:
        model = Held()
        async with interface(tmp_path, model=model) as web:
            both = [await make_token(web, "one"), await make_token(web, "two")]
            body = {"text": TEXT, "id": "T-1"}
            got = await asyncio.gather(*(web.ask("POST", "/tickets", json=body, headers=each) for each in both))
            assert sorted(status for status, _ in got) == [202, 409]
            late = both[[status for status, _ in got].index(409)]
            assert (await web.refusal("POST", "/tickets?wait=20", json=body, headers=late))[0] == 409
            assert (await web.refusal("GET", "/tickets/T-1?wait=20", headers=late))[0] == 404
            model.free.set()

    async def test_may_not_be_one_that_anothers_key_becomes(self, tmp_path: Path) -> None:
        """Whoever had it first would be told the ticket of that key, or keep it from its owner."""
        async with interface(tmp_path) as web:
            owner, other = await make_token(web, "owner"), await make_token(web, "other")
            guessed = make_id_of_key("token:owner\n1")
            body = {"text": TEXT, "id": guessed}
            assert (await web.refusal("POST", "/tickets", json=body, headers=other))[0] == 409
            key = {**owner, "Idempotency-Key": "1"}
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=key)
            assert first["ticket"] == guessed
            assert (await web.refusal("POST", "/tickets", json=body, headers=other))[0] == 409
            assert (await web.ask("POST", "/tickets", json=body, headers=owner))[1]["run"] == first["run"]

    async def test_with_another_text_is_a_new_run_for_its_owner_and_for_who_may_operate(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            owner, desk = await make_token(web, "owner"), await make_token(web, "desk", "operate")
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=owner)
            _, second = await web.ask("POST", "/tickets?wait=20", json={"text": "More.", "id": "T-1"}, headers=owner)
            _, third = await web.ask("POST", "/tickets?wait=20", json={"text": "Else.", "id": "T-1"}, headers=desk)
            assert len({first["run"], second["run"], third["run"]}) == 3


async def test_the_same_key_of_two_clients_is_of_two_tickets(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        one, other = await make_token(web, "one"), await make_token(web, "other")
        more: dict[str, Any] = {"json": {"text": TEXT}}
        key = {"Idempotency-Key": "1"}
        _, first = await web.ask("POST", "/tickets?wait=20", **more, headers={**one, **key})
        _, again = await web.ask("POST", "/tickets?wait=20", **more, headers={**one, **key})
        _, second = await web.ask("POST", "/tickets?wait=20", **more, headers={**other, **key})
        assert first["run"] == again["run"] != second["run"]
        status, _ = await web.ask("POST", "/tickets?wait=20", json={"text": "Else."}, headers={**other, **key})
        assert status == 422


class TestTheRoleSubmit:
    async def test_lists_and_finds_its_own_page_by_page_and_nobody_elses(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            owner, other = await make_token(web, "owner"), await make_token(web, "other")
            for number in range(5):
                for name, headers in (("A", owner), ("B", other)):
                    body = {"text": f"The printer of {name} jams.", "id": f"{name}-{number}"}
                    await web.ask("POST", "/tickets?wait=20", json=body, headers=headers)
            found, path = list[str](), "/tickets?limit=2"
            while path:
                _, page = await web.ask("GET", path, headers=owner)
                found += [each["ticket"] for each in page["tickets"]]
                path = page["next"]
            assert found == ["A-4", "A-3", "A-2", "A-1", "A-0"]
            _, sought = await web.ask("GET", "/tickets?q=of+B", headers=owner)
            assert (sought["tickets"], sought["next"]) == ([], "")
            _, traces = await web.ask("GET", "/traces", headers=owner)
            assert {each["ticket"] for each in traces["traces"]} == {f"A-{number}" for number in range(5)}

    async def test_has_no_ticket_of_one_whose_name_begins_as_its_own_does(self, tmp_path: Path) -> None:
        roles = {"*": "submit"}
        async with interface(tmp_path, proxy=("127.0.0.1",), roles=roles) as web:
            for name in ("ann", "ann/x", "ann x", "Ann"):
                headers = {"X-Forwarded-User": name}
                await web.ask("POST", "/tickets?wait=20", json={"text": f"{name}: {TEXT}"}, headers=headers)
            for name in ("ann", "ann/x", "ann x", "Ann"):
                _, page = await web.ask("GET", "/tickets", headers={"X-Forwarded-User": name})
                assert [each["requester"] for each in page["tickets"]] == [name]

    async def test_judges_its_own_and_gives_memory_no_answer(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            owner = await make_token(web, "owner")
            _, told = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=owner)
            assert told["status"] == "resolved"
            status, said = await web.ask("POST", "/tickets/T-1/feedback", json={"answer": "Ask Ann."}, headers=owner)
            assert status == 403, said
            for body in ({"right": True}, {"right": False}):
                status, said = await web.ask("POST", "/tickets/T-1/feedback", json=body, headers=owner)
                assert status == 200, said
            _, now = await web.ask("GET", "/tickets/T-1", headers=owner)
            done = {each["what"]: each["by"] for each in now["actions"]}
            assert done == dict.fromkeys(("submitted", "called right", "called wrong"), "token:owner")

    async def test_changes_by_its_verdict_nothing_that_others_are_told(self, tmp_path: Path) -> None:
        async with interface(tmp_path, memory=True) as web:
            ann, bob = await make_token(web, "ann"), await make_token(web, "bob")
            desk, memory = await make_token(web, "desk", "operate"), web.node.memory

            async def recall() -> tuple[str, str, bool]:
                found = await memory.recall(TEXT, within=5)
                return found.verdict, found.ticket_id, found.vouched

            async def judge(who: dict[str, str], ticket: str, right: bool) -> int:
                path = f"/tickets/{ticket}/feedback"
                status, said = await web.ask("POST", path, json={"right": right}, headers=who)
                assert (status, said["ticket"]) == (200, ticket), said
                return int(said["answers"])

            for who, ticket in ((ann, "T-1"), (bob, "T-2")):
                body = {"text": TEXT, "id": ticket}
                _, told = await web.ask("POST", "/tickets?wait=20", json=body, headers=who)
            assert told["handoffs"][-1]["target"] == "ticketing", "the second is answered by memory"
            assert await recall() == ("hit", "T-1", False)
            key = await read_key(web, "/ui/tickets/T-2", **bob)
            sent = await send(web, "/ui/tickets/T-2/feedback", {"form_key": key, "right": "yes"}, **bob)
            assert (sent.status, await recall()) == (303, ("hit", "T-1", False)), "nor by the page"
            for right, shown in ((True, "confirmed that it helped"), (False, "did not help")):
                assert await judge(bob, "T-2", right) == 0
                assert await recall() == ("hit", "T-1", False), "what another was told is as it was"
                async with web.client.get("/ui/tickets/T-2", headers={**bob, "Accept": "text/html"}) as page:
                    assert shown in await page.text()
            assert await judge(ann, "T-1", right=True) == 0
            assert await recall() == ("hit", "T-1", False), "nobody vouches for their own answer"
            assert await judge(ann, "T-1", right=False) == 1
            assert (await recall())[0] == "miss", "its own is not repeated"
            assert await judge(desk, "T-1", right=True) == 1
            assert await recall() == ("hit", "T-1", True)
            assert await judge(ann, "T-1", right=False) == 0
            assert await recall() == ("hit", "T-1", True), "what somebody has judged who may stays"

    async def test_has_a_ticket_still_that_somebody_else_answered_for_it(self, tmp_path: Path) -> None:
        async with interface(tmp_path, model=extractive()) as web:
            owner, desk = await make_token(web, "owner"), await make_token(web, "desk", "operate")
            other = await make_token(web, "other")
            _, told = await web.ask("POST", "/tickets?wait=20", json=COMPLAINT, headers=owner)
            assert told["status"] == "needs_input", told
            path = f"/tickets/{told['ticket']}"
            status, _ = await web.ask("POST", f"{path}/answers?wait=20", json={"text": "蓝色"}, headers=desk)
            assert status == 200
            _, now = await web.ask("GET", path, headers=owner)
            assert now["run"] != told["run"]
            _, page = await web.ask("GET", "/tickets", headers=owner)
            assert [each["run"] for each in page["tickets"]] == [now["run"]]
            for address in (path, f"/runs/{now['run']}", f"/runs/{told['run']}"):
                assert (await web.refusal("GET", address, headers=other))[0] == 404

    async def test_may_not_go_on_behind_an_event_of_a_run_that_is_not_its_own(self, tmp_path: Path) -> None:
        """It was operate when it put another ticket in the place of somebody's."""
        async with interface(tmp_path) as web:
            owner, desk = await make_token(web, "owner"), await make_token(web, "desk", "operate")
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=owner)
            await web.ask("POST", "/tickets?wait=20", json={"text": "Mine.", "id": "T-1"}, headers=desk)
            book = TokenBook(web.node.journal.store)
            await book.revoke("desk")
            desk = await make_token(web, "desk")
            assert (await web.ask("GET", "/tickets/T-1", headers=desk))[0] == 200
            status, why = await web.refusal("GET", f"/tickets/T-1/events?after={first['run']}:0", headers=desk)
            assert (status, why) == (404, f"There is no run {first['run']}.")
            status, _ = await web.refusal("GET", f"/events?after={first['run']}:0", headers=desk)
            assert status == 410


async def test_the_feed_tells_submit_of_its_own_alone_and_read_of_all(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        held = {name: await make_token(web, name) for name in ("one", "two")}
        held["all"] = await make_token(web, "all", "read")
        heard = {name: await web.client.get("/events", headers=headers) for name, headers in held.items()}
        for number in range(3):
            for name in ("two", "one"):
                body = {"text": f"{TEXT} {number}", "id": f"{name}-{number}"}
                await web.ask("POST", "/tickets?wait=20", json=body, headers=held[name])
        ended = {}
        for name, response in heard.items():
            ended[name] = [await read_end(response) for _ in range(6 if name == "all" else 3)]
        for response in heard.values():
            response.close()
    assert ended["one"] == ["one-0", "one-1", "one-2"]
    assert ended["two"] == ["two-0", "two-1", "two-2"]
    assert set(ended["all"]) == {*ended["one"], *ended["two"]}


async def read_end(response: aiohttp.ClientResponse) -> str:
    """The ticket of the next end that a stream tells of."""
    while await response.content.readline() != b"event: ended\n":
        assert not response.content.at_eof()
    ticket: str = json.loads((await response.content.readline()).removeprefix(b"data: "))["ticket"]
    return ticket
