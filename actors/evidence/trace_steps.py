"""Why an answer is as it is, step by step: what was searched, which claims were checked, what a model was asked."""

from collections.abc import Sequence
from typing import Literal, Self

import msgspec

from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, SearchHits
from actors.text.truncate import shorten

QUERY_CHARACTERS, TEXT_CHARACTERS, NAME_CHARACTERS = 200, 240, 100
BY_MODEL = "model"
"""Who made a search that a model made itself."""
FOUND = 8
"""So many of what a search found are kept."""
FOUND_BRIEFLY = 2

Fate = Literal["kept", "rewritten", "dropped"]
"""What became of a claim; `rewritten`: another one stands in its place."""


class Found(msgspec.Struct, frozen=True, gc=False):
    """Something that a search found."""

    source: str
    """A document, a page or a URL."""
    heading: str = ""
    meaning: float | None = None
    """The cosine of the angle between it and the question, -1 to 1; null: unknown."""
    quality: float | None = None
    """0 to 1: of a result that was not read yet, how well it seems to fit; null: of a passage."""
    left_out: str = ""
    """Why it was not read, where that is known."""


class SearchStep(msgspec.Struct, frozen=True, gc=False, tag="search"):
    """One search."""

    by: str
    """The agent that searched; `model` where a model did so itself."""
    query: str
    where: str
    """`documents`, `pages` (those that were read) or the name of a source."""
    found: tuple[Found, ...] = ()
    """Best first."""
    more: int = 0
    """How many it found beyond those."""
    abstain: str = ""
    """Why what was found should not be taken for an answer."""
    nearest: float | None = None
    """The cosine of the nearest passage of all that were searched."""
    words_only: str = ""
    """Why it went by words alone, where meaning was to be looked at, too."""
    failed: str = ""
    """Why it came to nothing."""
    at: float = 0.0
    """Seconds since the run began, when it was over."""
    seconds: float = 0.0
    pending: bool = False
    """It is planned, and the stage that searches has not told its end yet."""

    def abridge(self) -> Self:
        """The same, with no more than the best of what was found."""
        left = max(0, len(self.found) - FOUND_BRIEFLY)
        return msgspec.structs.replace(self, found=self.found[:FOUND_BRIEFLY], more=self.more + left)


class CheckedClaim(msgspec.Struct, frozen=True, gc=False):
    """One statement of an answer as it was written, and what became of it."""

    text: str
    """Empty: it says no more than its quote."""
    quote: str
    source: str = ""
    fate: Fate = "kept"
    why: str = ""
    """Why it was not kept: what rules found, or a second reader."""


class AnswerStep(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """The claims of one answer, once they were checked."""

    by: str
    """The agent that answered."""
    asked: str = ""
    """The question that it answers, where that is not the ticket."""
    claims: tuple[CheckedClaim, ...] = ()
    more: int = 0
    """How many other claims there were."""
    at: float = 0.0
    seconds: float = 0.0

    def abridge(self) -> Self:
        """The same, with no more than the claims that were not kept."""
        lost = tuple(each for each in self.claims if each.fate != "kept")
        return msgspec.structs.replace(self, claims=lost, more=self.more + len(self.claims) - len(lost))


class CallStep(msgspec.Struct, frozen=True, gc=False, tag="call"):
    """One answer that a model was asked for, with all that it took."""

    by: str
    """The agent that asked."""
    shape: str
    """The type of the answer."""
    model: str
    form: str = ""
    """How the form of the answer was asked for last: `json_schema`, `json_object` or `plain`."""
    tools: bool = False
    """The model could call tools."""
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    seconds: float = 0.0
    requests: int = 0
    """More than one where the model called tools, its answer went back to it, or the server minded the form."""
    tries: int = 0
    """How often they were sent: more than that where the server failed."""
    repaired: str = ""
    """Why its first answer went back to it."""
    failed: str = ""
    """Why there was no answer in the end."""
    at: float = 0.0

    def abridge(self) -> Self:
        return msgspec.structs.replace(self, repaired=clip(self.repaired, 40), failed=clip(self.failed, 80))


class ToolStep(msgspec.Struct, frozen=True, gc=False, tag="tool"):
    """One call of a tool by a model."""

    by: str
    """The agent that the model thought for."""
    tool: str
    arguments: str
    """As the model wrote them, shortened."""
    result: str = ""
    """What the model was told besides passages, shortened."""
    passages: int = 0
    """How many it found."""
    seconds: float = 0.0
    failed: str = ""
    """Why it was done without."""
    at: float = 0.0

    def abridge(self) -> Self:
        return msgspec.structs.replace(
            self, arguments=clip(self.arguments, 40), result=clip(self.result, 40), failed=clip(self.failed, 80)
        )


class OmittedSteps(msgspec.Struct, frozen=True, gc=False, tag="omitted"):
    """Steps for which there was no room."""

    count: int


TraceStep = SearchStep | AnswerStep | CallStep | ToolStep


def make_search_step(by: str, query: str, where: str, hits: SearchHits, seconds: float = 0.0) -> SearchStep:
    """A search of documents or pages, with what it found."""
    meaning = hits.meaning
    cosines = meaning.passages if meaning else ()
    found = tuple(
        Found(clip(each.source, NAME_CHARACTERS), clip(each.heading or each.title, NAME_CHARACTERS),
              _at(cosines, n))
        for n, each in enumerate(hits.passages[:FOUND])
    )  # fmt: skip
    return SearchStep(
        by, clip(query, QUERY_CHARACTERS), where, found, max(0, len(hits.passages) - FOUND), clip(hits.abstain),
        round(meaning.best, 2) if meaning else None, clip(hits.words_only),
        seconds=round(seconds, 3),
    )  # fmt: skip


def make_claim(claim: Claim, passages: Sequence[Passage], fate: Fate = "kept", why: str = "") -> CheckedClaim:
    """A claim with what became of it."""
    source = passages[claim.passage - 1].source if 1 <= claim.passage <= len(passages) else ""
    text = "" if claim.text.strip() == claim.quote.strip() else clip(claim.text)
    return CheckedClaim(text, clip(claim.quote), clip(source, NAME_CHARACTERS), fate, clip(why))


def make_tool_step(
    by: str, tool: str, arguments: str, seconds: float, result: str = "", passages: int = 0, failed: str = ""
) -> ToolStep:
    """A call of a tool, with what came of it."""
    return ToolStep(
        by, tool, clip(arguments, QUERY_CHARACTERS), clip(result), passages, round(seconds, 3), clip(failed)
    )


def clip(text: str, most: int = TEXT_CHARACTERS) -> str:
    """A text as a trace keeps it: on one line, shortened, and such that every encoding can carry it."""
    return shorten(text[: 4 * most], most).encode("utf-8", "replace").decode()


def _at(scores: Sequence[float | None], place: int) -> float | None:
    score = scores[place] if place < len(scores) else None
    return None if score is None else round(score, 2)
