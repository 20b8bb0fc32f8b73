"""Whoever writes in a language is answered in it: what is said around the answer, and why there is none."""

from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import Draft, RepairRequest
from actors.evidence.claims import Citation, Claim, Resolution
from actors.evidence.earlier_answers import cite_ticket, names_ticket
from actors.evidence.passages import Reason, SearchHits
from actors.evidence.places import render_places, strip_leads
from actors.helpdesk.output_schemas import Analysis
from actors.helpdesk.workflow import TicketCase
from actors.ports import Completion, ModelRequest, Recall
from actors.text.catalogue import CATALOGUES, say
from actors.workflow.outcome import Outcome
from runtime.families import extractive
from runtime.families.helpdesk import FAMILY, make_research
from runtime.settings import Settings
from runtime.tickets import Ticket
from tests.fakes import ANSWER, PASSAGE, Remembers, Stage, Thinks

ASKED = {
    "en": "How do I stop my VPN from dropping?",
    "de": "Warum trennt sich mein VPN immer?",
    "zh": "VPN 总是断开怎么办？",
    "ko": "VPN이 자꾸 끊깁니다. 어떻게 해야 하나요?",
}
LEAD = {
    "en": "These places come closest:",
    "de": "Diese Stellen kommen der Frage am nächsten:",
    "zh": "以下内容与问题最接近：",
    "ko": "다음 내용이 질문에 가장 가깝습니다:",
}
MISSING = {language: say("nothing_near", language) for language in CATALOGUES}
NEAR = SearchHits((PASSAGE,), MISSING["en"], reason=Reason("nothing_near"))


def case(text: str) -> TicketCase:
    made: TicketCase = FAMILY.make_case(Ticket(id="T-1", text=text), Settings())  # type: ignore[assignment]
    return made


class Finds:
    def __init__(self, found: SearchHits) -> None:
        self._found = found

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        return self._found


class Recalls(Remembers):
    def __init__(self, recall: Recall) -> None:
        super().__init__()
        self._recall = recall

    async def recall(self, text: str, *, within: float) -> Recall:
        return self._recall


class Says(Thinks):
    """A model that names a language, and writes this draft."""

    def __init__(self, code: str = "", draft: Draft | None = None) -> None:
        super().__init__()
        self._code, self._draft = code, draft

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Analysis:
            return Completion(Analysis("incident", "normal", task.material.ticket, self._code))
        if shape is Draft and self._draft is not None:
            if isinstance(task.material, RepairRequest):
                return Completion(Draft())
            return Completion(self._draft, task.findings.passages if task.findings else (), judged=True)
        return await super().fill(shape, task, within=within)


async def end(text: str, *, model: Any = None, found: SearchHits = NEAR, memory: Any = None) -> Outcome:
    return await Stage(case=case(text), model=model or extractive(), knowledge=Finds(found), memory=memory).end()


@pytest.mark.parametrize("language", CATALOGUES)
async def test_the_sentence_above_the_places_is_in_the_tickets_language(language: str) -> None:
    outcome = await end(ASKED[language])

    assert outcome.language == language
    assert outcome.resolution is not None
    assert outcome.resolution.text.startswith(f"{LEAD[language]}\n\n[1] ")


@pytest.mark.parametrize("language", CATALOGUES)
async def test_why_there_is_no_answer_is_told_in_the_tickets_language(language: str) -> None:
    outcome = await end(ASKED[language], model=Says(draft=Draft()))

    assert (outcome.status, outcome.language) == ("not_found", language)
    assert outcome.detail.startswith(MISSING[language])


async def test_how_much_was_left_out_is_told_in_the_tickets_language() -> None:
    claims = (Claim(ANSWER, 1, ANSWER), Claim("Reinstall it.", 1, "Reinstall the system now."))
    outcome = await end(ASKED["de"], model=Says(draft=Draft(claims)))

    assert outcome.resolution is not None
    assert outcome.resolution.text.endswith(
        "1 von 2 Aussagen wurde in dieser Antwort weggelassen (das Zitat dazu wurde nicht gefunden)."
    )


@pytest.mark.parametrize(("code", "language"), [("ko", "zh"), ("xx", "zh"), ("", "zh"), ("ja", "ja"), ("zh-TW", "zh")])
async def test_a_models_word_on_the_language_counts_if_it_is_one_that_it_may_be(code: str, language: str) -> None:
    outcome = await end(ASKED["zh"], model=Says(code, Draft()))

    assert outcome.language == language
    assert outcome.detail.startswith(MISSING.get(language, MISSING["en"]))


async def test_a_run_that_nobody_could_analyse_ends_in_the_tickets_language() -> None:
    stage = Stage(case=case(ASKED["ko"]))
    stage.live.cancel()

    outcome = await stage.end()

    assert (outcome.language, outcome.detail) == ("ko", "취소되었습니다.")


@pytest.mark.parametrize("lead", [LEAD["en"], "How older versions said it:"])
async def test_a_rejected_answer_never_comes_back_in_other_words_of_ours(lead: str) -> None:
    shown = (await end(ASKED["de"])).resolution
    assert shown is not None
    rejected = shown.text.replace(LEAD["de"], lead)

    outcome = await end(ASKED["de"], memory=Recalls(Recall("miss", rejected=(rejected,))))

    assert (outcome.status, outcome.resolution) == ("not_found", None)
    assert outcome.detail.startswith("Gefunden wurde nur, was schon einmal als falsch bezeichnet wurde.")


async def test_an_answer_from_memory_says_so_in_the_tickets_language() -> None:
    known = Recall(
        "hit", Resolution(ANSWER, (), "resolved"), "T-0", "Ticket T-0 is alike (the score 9).", told="Wie T-0."
    )

    outcome = await end(ASKED["de"], memory=Recalls(known))

    assert (outcome.language, outcome.summary) == ("de", "Beantwortet wie ein früheres Ticket. Wie T-0.")


@pytest.mark.parametrize("language", CATALOGUES)
def test_our_sentences_around_places_and_tickets_are_known_again(language: str) -> None:
    places = [Claim(ANSWER, 1, ANSWER)]
    text, _ = render_places(places, [PASSAGE], language)

    assert strip_leads(text) == strip_leads(render_places(places, [PASSAGE], "en")[0])
    assert LEAD[language] not in strip_leads(text)
    assert names_ticket(cite_ticket("T-0", Resolution(ANSWER), language))
    assert not names_ticket(Citation(1, "ticket T-0.md", "Notes", "", "", 0, 0))


def test_a_research_for_a_ticket_writes_in_the_tickets_language() -> None:
    from actors.helpdesk.messages import ResolveTicket

    asked = ResolveTicket("T-1", "VPN?", None, Recall("miss"), "", "", language="ko")

    assert make_research(asked, "R-1.1", Settings()).language == "ko"


def test_what_was_stored_before_there_were_languages_can_be_read() -> None:
    outcome = Outcome(run="R", ticket="T", workflow="helpdesk", status="resolved", why="completed", by="t", state="s")  # type: ignore[arg-type]
    old = msgspec.to_builtins(outcome)
    del old["language"]

    assert msgspec.convert(old, Outcome).language == ""
