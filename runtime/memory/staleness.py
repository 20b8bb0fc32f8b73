"""Whether an earlier answer may be repeated: by the documents as they are now, and by who could answer now."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import names_ticket
from actors.ports import PortFailed
from actors.text.catalogue import say
from actors.text.truncate import shorten
from runtime.storage.records import Served

OWN_DOCUMENTS = "knowledge:"
"""What a research puts before the source of a document of one's own."""
QUOTE_CHARACTERS = 80


class Documents(Protocol):
    """The knowledge as it is now."""

    async def find_missing(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[int]:
        """
        Which of some quotes, by number from 0, the documents do not say any more.

        :raises PortFailed: they cannot be read now.
        """


class EarlierAnswer(NamedTuple):
    """An answer that memory holds, and how the ticket that it answered is like the one at hand."""

    served: Served
    resolution: Resolution
    verdict: Literal["hit", "suggestion"]
    """If nothing speaks against it."""
    how: str
    is_same: bool
    """It is the very same text."""
    never: str
    """With this setting, and with `never`, an answer that nobody has confirmed is only suggested."""


def is_web_page(citation: Citation) -> bool:
    return "://" in citation.source


async def find_reasons(
    answers: Sequence[EarlierAnswer], documents: Documents | None, *, has_model: bool, language: str, within: float
) -> list[str]:
    """
    Why each of some answers is not to be repeated, in one sentence; nothing for those that may be.

    :param has_model: answers are made by a model now; one that was made without is no reason not to ask it.
    :param within: seconds for looking all quotes up.
    """
    places = [(number, each) for number, answer in enumerate(answers) for each in answer.resolution.citations]
    places = [(number, each) for number, each in places if not is_web_page(each) and not names_ticket(each)]
    no_model = say("stale_no_model", language)
    reasons = [no_model if has_model and not _is_kept_from_model(each.served) else "" for each in answers]
    if not places or documents is None:
        return reasons
    quotes = [(each.source.removeprefix(OWN_DOCUMENTS), each.quote) for _, each in places]
    try:
        missing = [places[i] for i in await documents.find_missing(quotes, within=within)]
    except PortFailed as error:
        said = say("stale_unchecked", language, why=str(error).rstrip("."))
        missing, checked = [], {number for number, _ in places}
        return [reason or (said if number in checked else "") for number, reason in enumerate(reasons)]
    for number, citation in reversed(missing):
        quote, source = shorten(" ".join(citation.quote.split()), QUOTE_CHARACTERS), citation.source
        reasons[number] = say("stale_gone", language, quote=quote, source=source.removeprefix(OWN_DOCUMENTS))
    return reasons


def _is_kept_from_model(served: Served) -> bool:
    """Whether an answer stands though a model could be asked: a person's word, or a model's own."""
    return served.state == "confirmed" or served.origin in {"model", "person"}
