"""Who may only submit meets and changes no ticket of another's."""

from pathlib import Path
from typing import Any

from runtime.access.roles import Role
from runtime.access.tokens import TokenBook
from tests.runtime.http.kit import TEXT, Interface, interface


async def make_token(web: Interface, name: str, role: Role = "submit") -> dict[str, str]:
    return {"Authorization": f"Bearer {await TokenBook(web.node.journal.store).create(name, role)}"}


class TestAnIdOfATicketThatHasEnded:
    async def test_with_another_text_is_refused_to_who_may_only_submit(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            owner, other = await make_token(web, "owner"), await make_token(web, "other")
            _, first = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-1"}, headers=owner)
            for body in ({"text": "Mine.", "id": "T-1"}, {"text": TEXT, "subject": "Mine", "id": "T-1"}):
                status, why = await web.refusal("POST", "/tickets", json=body, headers=other)
                assert status == 403
                assert "T-1 was submitted by somebody else" in why

            _, same = await web.ask("POST", "/tickets", json={"text": TEXT, "id": "T-1"}, headers=other)
            assert same["run"] == first["run"]
            status, _ = await web.refusal("POST", "/tickets", json={"text": "Mine.", "id": "T-1"}, headers=other)
            assert status == 403, "who sent the same did not submit it"

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
