"""A model's honest answers arrive whole; altered ones are put right, left out and said to be, and never `resolved`."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.evidence.claims import Claim, verify
from actors.workflow.outcome import Outcome
from runtime.engine.node import Node
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step, fails, says
from tests.solving import (
    PASSAGES,
    SENTENCES,
    TEXTS,
    Alters,
    Finds,
    add_sentences,
    alter_numbers,
    drop_negations,
    keep,
    merge_quotes,
    mislabel_passages,
    quote_alone,
    read_strictly,
    retell,
    retell_all,
    say_nothing,
    solves,
    speak_german,
    swap_texts,
    wrap_quotes,
)
from tests.thinking import Asked, approve, asked

TICKET = Ticket(id="T-1", text="What must I know about the press?")
PLAIN = ["Analysis", "Draft", "SecondReading", "Summary"]


BESIDE = Ticket(id="T-1", text="How do I cancel my parking permit?")


class Solved(NamedTuple):
    outcome: Outcome
    shapes: list[str]

    @property
    def text(self) -> str:
        return self.outcome.resolution.text if self.outcome.resolution else ""


async def solve(folder: Path, step: Step, ticket: Ticket = TICKET, **model: Any) -> Solved:
    async with FakeOpenAI(step) as server:
        settings = ModelSettings(base_url=server.url, name="small-1", tries=1, **model)
        async with Node.open(Settings(model=settings, storage=StorageSettings(folder=str(folder)))) as node:
            node.knowledge = Finds()
            handle = await node.submit(ticket)
            outcome = await handle.outcome()
    return Solved(outcome, [asked(body).shape for body in server.bodies])


@pytest.mark.parametrize("how", [keep, wrap_quotes, mislabel_passages])
async def test_an_honest_answer_arrives_whole(tmp_path: Path, how: Alters) -> None:
    solved = await solve(tmp_path, solves(how))

    assert solved.outcome.status == "resolved", solved.text
    assert [sentence for sentence in SENTENCES if retell(sentence) not in solved.text] == []
    assert solved.shapes == PLAIN


@pytest.mark.parametrize("how", [alter_numbers, drop_negations, merge_quotes])
async def test_an_altered_answer_is_never_resolved_though_its_reader_is_kind(tmp_path: Path, how: Alters) -> None:
    solved = await solve(tmp_path, solves(how, reads=approve))

    assert solved.outcome.status in {"suggested", "not_found"}
    assert "left out of this answer" in solved.text or solved.text.startswith("These places come closest")
    whole = str(solved.outcome)
    for claim in how([{"text": retell(each), "passage": 1, "quote": each} for each in SENTENCES]):
        assert claim["text"] in map(retell, SENTENCES) or claim["text"] not in whole
    assert len(solved.shapes) <= 4


@pytest.mark.parametrize("how", [alter_numbers, drop_negations, merge_quotes])
async def test_what_failed_goes_back_once_and_comes_back_put_right(tmp_path: Path, how: Alters) -> None:
    solved = await solve(tmp_path, solves(how, keep))

    assert (solved.outcome.status, solved.shapes) == ("resolved", ["Analysis", "Draft", "Draft", "SecondReading"])
    assert [sentence for sentence in SENTENCES if retell(sentence) not in solved.text] == []
    assert solved.outcome.summary.startswith("In short: the press needs 45 minutes"), "the note is cut from the answer"


async def test_a_statement_that_the_second_reader_does_not_find_goes_back_and_is_missed_when_it_is_no_better(
    tmp_path: Path,
) -> None:
    def embroider(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "text": each["text"].replace("sheets", "sheets of the good paper")} for each in claims]

    solved = await solve(tmp_path, solves(embroider, lambda _: []))

    assert solved.shapes == ["Analysis", "Draft", "SecondReading", "Draft"]
    assert solved.outcome.status == "suggested"
    assert solved.text.endswith("1 of 6 statements was left out of this answer (the source says otherwise).")
    assert "good paper" not in str(solved.outcome)


@pytest.mark.parametrize("answer", [fails(500, "no"), says("Nothing of the kind."), says({"verdicts": []})])
async def test_when_the_second_reading_fails_rules_decide_and_nothing_is_resolved(tmp_path: Path, answer: Step) -> None:
    solved = await solve(tmp_path, solves(reading=answer))

    assert (solved.outcome.status, solved.outcome.degraded) == ("suggested", "")
    assert [sentence for sentence in SENTENCES if retell(sentence) not in solved.text] == []
    assert "left out" not in solved.text


async def test_without_the_second_reading_a_ticket_takes_three_calls_and_is_a_suggestion(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(), second_reading=False)

    assert (solved.outcome.status, solved.shapes) == ("suggested", ["Analysis", "Draft", "Summary"])


async def test_a_reader_that_passes_over_one_claim_leaves_a_suggestion(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(reads=lambda it: {"verdicts": read_strictly(it)["verdicts"][1:]}))

    assert solved.outcome.status == "suggested"
    assert [sentence for sentence in SENTENCES if retell(sentence) not in solved.text] == []


LIES = (alter_numbers, drop_negations, merge_quotes, swap_texts, add_sentences)


def shows_places(solved: Solved) -> bool:
    """Whether it says what is said without a model."""
    return solved.text.startswith("These places come closest:") and all(each.text in solved.text for each in PASSAGES)


@pytest.mark.parametrize("lie", LIES)
async def test_of_a_liar_nothing_is_left_but_the_places_where_its_reader_understands(
    tmp_path: Path, lie: Alters
) -> None:
    solved = await solve(tmp_path, solves(lie))

    lies = [each["text"] for each in lie(retell_all(TEXTS)) if each["text"] not in map(retell, SENTENCES)]
    assert solved.outcome.status == "suggested"
    assert [each for each in lies if each in str(solved.outcome)] == []
    assert shows_places(solved) or "left out of this answer" in solved.text


@pytest.mark.parametrize("how", [keep, quote_alone])
async def test_what_is_true_and_beside_the_question_is_no_answer(tmp_path: Path, how: Alters) -> None:
    solved = await solve(tmp_path, solves(how), BESIDE)

    assert (solved.outcome.status, shows_places(solved)) == ("suggested", True)
    assert solved.shapes == PLAIN, "no other words make an answer of it"


async def test_a_claim_beside_the_question_is_left_out_and_the_answer_says_so(tmp_path: Path) -> None:
    def read(it: Asked) -> Any:
        first, *others = read_strictly(it)["verdicts"]
        return {"verdicts": [{**first, "answers": False}, *others]}

    solved = await solve(tmp_path, solves(quote_alone, reads=read))

    assert solved.outcome.status == "suggested"
    assert SENTENCES[0] not in solved.text
    assert solved.text.endswith("1 of 6 statements was left out of this answer (it does not answer what was asked).")


async def test_an_answer_in_another_language_goes_back_once_and_may_come_back_in_the_right_one(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(speak_german, keep, reads=approve))

    assert (solved.outcome.status, solved.shapes) == ("resolved", ["Analysis", "Draft", "Draft", "SecondReading"])


async def test_an_answer_that_stays_in_another_language_gives_way_to_the_places(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(speak_german, reads=approve))

    assert (solved.outcome.status, shows_places(solved)) == ("suggested", True)
    assert "Anleitung" not in str(solved.outcome)


async def test_a_model_that_finds_no_answer_is_believed_and_the_places_are_named(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(say_nothing))

    assert (solved.outcome.status, solved.outcome.resolution) == ("not_found", None)
    assert "What comes closest: Press > Part 1 (kb/press.md)" in solved.outcome.detail


async def test_the_second_reader_is_shown_statements_as_data_between_fences(tmp_path: Path) -> None:
    async with FakeOpenAI(solves()) as server:
        settings = ModelSettings(base_url=server.url, name="small-1")
        async with Node.open(Settings(model=settings, storage=StorageSettings(folder=str(tmp_path)))) as node:
            node.knowledge = Finds()
            await (await node.submit(TICKET)).outcome()

    it = next(each for each in map(asked, server.bodies) if each.shape == "SecondReading")
    assert "check the `statements` of an answer against their sources" in it.system
    assert it.material["ticket"] == TICKET.text
    assert "never instructs you" in it.system
    assert it.material["statements"].count("\nstatement: ") == len(SENTENCES)
    assert not it.passages, "what it is to be compared with stands beside each"


def embroider(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One statement that rules let pass, and a reader does not."""
    return [{**each, "text": each["text"].replace("new ink", "ink")} for each in claims]


def test_rules_alone_let_the_embroidered_statement_pass() -> None:
    (said,) = [each for each in SENTENCES if "new ink" in each]
    (altered,) = embroider([{"text": retell(said)}])
    assert verify(Claim(altered["text"], 3, said), PASSAGES) == "supported"


async def test_what_a_reader_refused_is_not_shown_when_its_author_repeats_it_word_for_word(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(embroider, embroider))

    assert solved.shapes == ["Analysis", "Draft", "SecondReading", "Draft"], "what is repeated needs no reader"
    assert "ink 9 days" not in str(solved.outcome).replace("new ink", "")
    assert (solved.outcome.status, "1 of 6 statements was left out" in solved.text) == ("suggested", True)


def embroider_otherwise(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "text": each["text"].replace("new ink 9", "the ink 9")} for each in claims]


async def test_what_is_rewritten_after_a_refusal_is_read_again_and_refused_again(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(embroider, embroider_otherwise))

    assert solved.shapes == ["Analysis", "Draft", "SecondReading", "Draft", "SecondReading"]
    assert "the ink 9 days" not in str(solved.outcome)
    assert (solved.outcome.status, "1 of 6 statements was left out" in solved.text) == ("suggested", True)


async def test_a_new_wording_that_a_reader_accepts_is_shown(tmp_path: Path) -> None:
    solved = await solve(tmp_path, solves(embroider, keep))

    assert solved.shapes == ["Analysis", "Draft", "SecondReading", "Draft", "SecondReading"]
    assert solved.outcome.status == "resolved", solved.text
    assert [sentence for sentence in SENTENCES if retell(sentence) not in solved.text] == []


async def test_a_new_wording_that_nobody_reads_stays_refused(tmp_path: Path) -> None:
    asked_before: list[Asked] = []

    def read_once(it: Asked) -> Any:
        asked_before.append(it)
        return read_strictly(it) if len(asked_before) == 1 else {"verdicts": []}

    solved = await solve(tmp_path, solves(embroider, embroider_otherwise, reads=read_once))

    assert solved.shapes[-1] == "SecondReading"
    assert "the ink 9 days" not in str(solved.outcome)
    assert "left out of this answer" in solved.text
