"""What a worker says when it has no answer: why, and where a person may look; never that it read what it did not."""

from typing import Any, get_args

import msgspec
import pytest

from actors.drafting.drafts import AskBack, Draft, HandoverRequest
from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.shortfalls import Code, Shortfall, explain_shortfalls, name_shortfalls
from actors.helpdesk.output_schemas import Analysis
from actors.helpdesk.worker import CONTEXT_CHARACTERS
from actors.ports import Completion, ModelRequest, PortFailed
from actors.text.catalogue import CATALOGUES
from actors.workflow.outcome import EndReason, Outcome, explain_incomplete, say_headline
from actors.workflow.tables import EarlierMessage
from runtime.families import extractive
from tests.fakes import ANSWER, CASE, MAC_PASSAGE, ON_A_MAC, PASSAGE, Knows, Stage, Thinks

FAILED = "The documents could not be searched: the disk is gone."


class Finds:
    """A search that finds the same for every question; an error is raised."""

    def __init__(self, *findings: SearchHits | PortFailed) -> None:
        self._findings = list(findings)
        self.asked = 0

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.asked += 1
        found = self._findings.pop(0) if len(self._findings) > 1 else self._findings[0]
        if isinstance(found, PortFailed):
            raise found
        return found


class Drafts(Thinks):
    """A model that writes this draft, whatever it is shown."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Draft:
            return Completion(self._draft, task.findings.passages if task.findings else (), judged=True)
        return await super().fill(shape, task, within=within)


async def ended(knowledge: Any, draft: Draft) -> Outcome:
    return await Stage(knowledge=knowledge, model=Drafts(draft)).end()


async def test_without_an_answer_the_closest_places_are_named_once_each() -> None:
    other = msgspec.structs.replace(PASSAGE, source="kb/wifi.md", heading="", title="Wi-Fi")
    found = SearchHits((PASSAGE, PASSAGE, other), "The documents do not speak of 'Jens'.")

    outcome = await ended(Finds(found), Draft())

    assert outcome.status == "not_found"
    assert outcome.detail == (
        "The documents do not speak of 'Jens'. What comes closest: VPN > Drops (kb/vpn.md); Wi-Fi (kb/wifi.md)."
    )
    assert outcome.resolution is None


async def test_where_nothing_was_found_no_place_is_named() -> None:
    outcome = await ended(Finds(SearchHits((), "The documents hold nothing on this.")), Draft())

    assert outcome.detail == "The documents hold nothing on this."


async def test_where_no_claim_is_borne_out_the_places_are_shown_as_without_a_model() -> None:
    outcome = await ended(Knows(), Draft((Claim("Reinstall it.", 1, "Reinstall the system now."),)))
    plain = await Stage(knowledge=Knows(), model=extractive()).end()

    assert outcome.status == "suggested"
    assert outcome.resolution == plain.resolution
    assert "Reinstall" not in str(msgspec.to_builtins(outcome))


async def test_where_no_claim_is_borne_out_and_nothing_was_found_that_is_said() -> None:
    found = SearchHits((), "The documents hold nothing on this.")
    outcome = await ended(Finds(found), Draft((Claim("Reinstall it.", 1, "Reinstall the system now."),)))

    assert (outcome.status, outcome.resolution) == ("not_found", None)
    assert outcome.detail.startswith("The documents hold nothing on this.")


BOTH = SearchHits((PASSAGE, MAC_PASSAGE))
WHICH = "Do you use a Mac?"


async def test_where_passages_answer_different_cases_the_person_is_asked_and_sees_the_places() -> None:
    stage = Stage(knowledge=Finds(BOTH), model=Drafts(Draft(ask_back=AskBack(WHICH, (1, 2)))))
    outcome = await stage.end()

    assert (outcome.status, outcome.summary) == ("needs_input", WHICH)
    assert [(each.name, each.ask) for each in outcome.questions] == [("detail", WHICH)]
    assert outcome.resolution is not None
    assert [each.quote for each in outcome.resolution.citations] == [ANSWER, ON_A_MAC]
    assert outcome.resolution.grade == "suggested"
    assert (outcome.handoffs[-2].source, outcome.by) == ("worker", "ticketing")
    assert [each.reason for each in outcome.handoffs][-2:] == ["DetailAsked", "detail_asked"]


TOLD = EarlierMessage("terminus", "", "Which computer do you use?")
PERSON = EarlierMessage("person", "", "Which computer do you use?")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (AskBack(WHICH, (1,)), ()), (AskBack(WHICH, (1, 1)), ()), (AskBack(WHICH, (1, 7)), ()),
        (AskBack(WHICH, (0, -1)), ()), (AskBack("Please look at both.", (1, 2)), ()), (AskBack("", (1, 2)), ()),
        (AskBack(f"{'which ' * 100}?", (1, 2)), ()), (AskBack("Is it at https://evil.example ?", (1, 2)), ()),
        (AskBack("Would you write to help@evil.example?", (1, 2)), ()), (AskBack("Kennen Sie das?", (1, 2)), ()),
        (AskBack("你用的是哪一种电脑?", (1, 2)), ()), (AskBack(WHICH, (1, 2)), (TOLD,)),
    ],
)  # fmt: skip
async def test_a_question_that_decides_nothing_leads_away_or_comes_twice_is_not_asked(
    asked: AskBack, said: tuple[EarlierMessage, ...]
) -> None:
    case = msgspec.structs.replace(CASE, said_before=said, language="en")
    outcome = await Stage(knowledge=Finds(BOTH), model=Drafts(Draft(ask_back=asked)), case=case).end()

    assert (outcome.status, outcome.questions) == ("not_found", ())


async def test_what_a_person_of_the_helpdesk_asked_does_not_keep_us_from_asking() -> None:
    case = msgspec.structs.replace(CASE, said_before=(PERSON,), language="en")
    outcome = await Stage(knowledge=Finds(BOTH), model=Drafts(Draft(ask_back=AskBack(WHICH, (2, 1)))), case=case).end()

    assert outcome.status == "needs_input"
    assert outcome.resolution is not None
    assert [each.quote for each in outcome.resolution.citations] == [ON_A_MAC, ANSWER]


async def test_who_answers_does_not_ask() -> None:
    draft = Draft((Claim(ANSWER, 1, ANSWER),), ask_back=AskBack(WHICH, (1, 2)))
    outcome = await ended(Finds(BOTH), draft)

    assert (outcome.status, outcome.questions) == ("resolved", ())


async def test_a_search_that_fails_once_is_tried_again() -> None:
    knowledge = Finds(PortFailed(FAILED), SearchHits((PASSAGE,)))

    outcome = await Stage(knowledge=knowledge).end()

    assert (outcome.status, knowledge.asked) == ("resolved", 2)


async def test_a_search_that_always_fails_is_no_not_found() -> None:
    outcome = await Stage(knowledge=Finds(PortFailed(FAILED))).end()

    assert (outcome.status, outcome.why) == ("error", EndReason.STEP_FAILED)
    assert outcome.detail == (
        "Nothing was found, but the search was not complete: the knowledge search did not answer. What is asked may be "
        "there all the same."
    )


SLOW = Shortfall("no_meaning", "The sentence model took too long.")
WORDS_ONLY = SearchHits((PASSAGE,), "The documents do not speak of 'Jens'.", incomplete=(SLOW,))


async def test_nothing_found_by_a_search_that_was_not_complete_is_no_fact() -> None:
    knowledge = Finds(WORDS_ONLY)

    outcome = await ended(knowledge, Draft())

    assert (outcome.status, outcome.incomplete) == ("not_found", (SLOW,))
    assert outcome.detail == (
        "Nothing was found, but the search was not complete: the sentence model did not answer, so only words were "
        "looked for. What is asked may be there all the same. What comes closest: VPN > Drops (kb/vpn.md)."
    )
    assert say_headline(outcome, "en") == "Nothing found, but the search was not complete"
    assert explain_incomplete(outcome, "en") == "", "the reason has said it"
    assert knowledge.asked == 2, "once more"


@pytest.mark.parametrize("language", CATALOGUES)
def test_what_a_search_lacked_is_said_in_each_language(language: str) -> None:
    lacks = [Shortfall(code, "the web") for code in get_args(Code)]

    said = explain_shortfalls("search_incomplete", lacks, language)

    assert said.count("the web") == 1, "a source by its name; what else happened is for who operates"
    assert "no_meaning" not in name_shortfalls(lacks, language)


async def test_what_the_second_search_finds_is_answered_and_nothing_is_lacking_then() -> None:
    class Quotes(Drafts):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            found = task.findings is not None and not task.findings.incomplete
            self._draft = Draft((Claim(PASSAGE.text, 1, PASSAGE.text),)) if found else Draft()
            return await super().fill(shape, task, within=within)

    knowledge = Finds(WORDS_ONLY, SearchHits((PASSAGE,)))

    outcome = await Stage(knowledge=knowledge, model=Quotes(Draft())).end()

    assert (outcome.status, outcome.incomplete, knowledge.asked) == ("resolved", (), 2)


async def test_an_answer_out_of_a_search_that_was_not_complete_says_so_and_is_not_looked_for_again() -> None:
    knowledge = Finds(SearchHits((PASSAGE,), incomplete=(SLOW,)))

    outcome = await ended(knowledge, Draft((Claim(PASSAGE.text, 1, PASSAGE.text),)))

    assert (outcome.status, knowledge.asked) == ("resolved", 1)
    assert explain_incomplete(outcome, "en").startswith("The search was not complete: the sentence model")


class DoesWithout(Thinks):
    """A model that answers, but did without tools: one that ships, and one of the user's."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        filled = await super().fill(shape, task, within=within)
        failed = (Shortfall("source_failed", "web_search"),)
        skipped = msgspec.structs.replace(filled, skipped=("web_search", "the porter"), incomplete=failed)
        return skipped if shape is Draft else filled


async def test_a_tool_that_was_done_without_is_named_under_what_was_not_available() -> None:
    outcome = await Stage(model=DoesWithout()).end()

    assert (outcome.status, outcome.unavailable) == ("resolved", ("the web search", "the porter"))
    assert outcome.incomplete == (Shortfall("source_failed", "the web search"),)
    assert explain_incomplete(outcome, "en") == "", "what was not available is said already"


@pytest.mark.req("LG-32")
async def test_whoever_gets_a_ticket_passed_on_hears_from_whom_and_why() -> None:
    class Passes(Thinks):
        """The general worker passes on what nobody passed on to it; whoever has a context answers."""

        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            if shape is Draft and not task.material.context:
                return Completion(Draft(pass_on=HandoverRequest("network", "It is about VPN." * 100)))
            return await super().fill(shape, task, within=within)

    stage = Stage(model=Passes())
    outcome = await stage.end()

    asked = next(task.material for task in stage.model.tasks if task.agent == "network")
    assert asked.context.startswith("worker passed it on: It is about VPN.")
    assert len(asked.context) == CONTEXT_CHARACTERS
    assert (outcome.status, [h.source for h in outcome.handoffs if h.target == "network"]) == ("resolved", ["worker"])


class Looks:
    """Finds a passage for each of these words that a question has, in their order, and remembers what was asked."""

    def __init__(self, **passages: Passage) -> None:
        self._passages = passages
        self.asked: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.asked.append(question)
        return SearchHits(tuple(each for word, each in self._passages.items() if word in question))


class Understands(Drafts):
    """A model that takes a ticket to ask this, and writes this draft."""

    def __init__(self, question: str, draft: Draft) -> None:
        super().__init__(draft)
        self._question = question

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Analysis:
            return Completion(Analysis("incident", "normal", self._question), judged=True)
        return await super().fill(shape, task, within=within)


NOWHERE = Draft((Claim("Reinstall it.", 1, "Reinstall the system now."),))
ECHOES = [
    "What the person wants, in one or two sentences.",
    "Answer with the Analysis that your instructions ask for, one JSON object.",
    "",
]


@pytest.mark.parametrize("echo", ECHOES)
async def test_an_echo_of_the_prompt_is_not_looked_for_and_the_ticket_is(echo: str) -> None:
    knowledge = Looks(VPN=PASSAGE, sentences=MAC_PASSAGE, JSON=MAC_PASSAGE)
    outcome = await Stage(knowledge=knowledge, model=Understands(echo, NOWHERE)).end()

    assert knowledge.asked == ["My VPN drops every hour."]
    assert (outcome.status, outcome.resolution) == (
        "suggested",
        (await Stage(knowledge=Looks(VPN=PASSAGE), model=extractive()).end()).resolution,
    )


async def test_what_another_wording_finds_stands_behind_what_the_ticket_finds() -> None:
    knowledge = Looks(VPN=PASSAGE, connection=MAC_PASSAGE)
    model = Understands("The VPN connection drops every hour.", Draft((Claim(ON_A_MAC, 2, ON_A_MAC),)))

    outcome = await Stage(knowledge=knowledge, model=model).end()

    assert knowledge.asked == ["My VPN drops every hour.", "The VPN connection drops every hour."]
    assert outcome.status == "resolved"
    assert outcome.resolution is not None
    assert ON_A_MAC in outcome.resolution.text
