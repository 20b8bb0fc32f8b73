"""The note for a ticket's history makes up no number, date or name."""

from typing import Any

import pytest

from actors.evidence.passages import SearchHits
from actors.helpdesk.output_schemas import Summary
from actors.helpdesk.summarization import is_supported
from actors.ports import Completion, ModelRequest
from tests.fakes import ANSWER, Stage, Thinks

SILENCE = SearchHits(abstain="The documents hold nothing on this.")

MATERIAL = "Since 3 May 2025 I get AUTH_FAILED.\nWait 15 minutes, then set keep-alive to 30 seconds. [1]"


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("Log-in failed; wait, then raise the keep-alive.", True),
        ("AUTH_FAILED since 2025-05-03; to wait 15 min and set keep-alive to 30 s.", True),
        ("等 15 分钟，然后把 keep-alive 设为 30 秒。", True),
        ("To wait 20 minutes.", False),
        ("AUTH_FAILED since 4 May 2025.", False),
        ("CERT_EXPIRED since 3 May 2025.", False),
    ],
)
def test_what_a_summary_says_must_stand_in_the_ticket_or_the_resolution(summary: str, expected: bool) -> None:
    assert is_supported(summary, MATERIAL) is expected


class Invents(Thinks):
    """A model whose summaries hold a remedy that nobody found."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Summary:
            return Completion(Summary("Switch it to TCP port 443."))
        return await super().fill(shape, task, within=within)


class Silent:
    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return SILENCE


async def test_an_invented_remedy_does_not_reach_the_note() -> None:
    found, silent = await Stage(model=Invents()).end(), await Stage(model=Invents(), knowledge=Silent()).end()

    assert found.summary == f"VPN > Drops: {ANSWER} [1]"
    assert (silent.status, silent.summary) == ("not_found", f"Not found. {SILENCE.abstain}")
