"""What models write while a run goes on, until it has been checked: a fold of the progress of the run. Pure."""

import msgspec

from actors.workflow.outcome import AnswerReady, HandoffMade, RunEnded
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent


class Drafts(msgspec.Struct, frozen=True, gc=False):
    """What nobody has checked yet, and what was found when it was."""

    texts: tuple[tuple[str, str], ...] = ()
    """Of each agent what its model has written so far; who began first stands first."""
    unverified: tuple[tuple[str, str], ...] = ()
    """Agents and statements of their last drafts that were shown, and are not in the answer."""


def fold(drafts: Drafts, event: ProgressEvent) -> Drafts:
    """The drafts after one more event. What an agent has answered is no draft any more."""
    match event:
        case AnswerText(agent=agent, start=start, text=text):
            texts = dict(drafts.texts)
            texts[agent] = texts.get(agent, "")[:start] + text
            return Drafts(tuple(each for each in texts.items() if each[1]), drafts.unverified)
        case DraftChecked(agent=agent, unverified=unverified):
            others = _drop(drafts.unverified, agent)
            return Drafts(_drop(drafts.texts, agent), (*others, *((agent, each) for each in unverified)))
        case HandoffMade(source=agent):
            return msgspec.structs.replace(drafts, texts=_drop(drafts.texts, agent)) if drafts.texts else drafts
        case AnswerReady():
            return msgspec.structs.replace(drafts, texts=())
        case RunEnded():
            return Drafts()
        case _:
            return drafts


def _drop(pairs: tuple[tuple[str, str], ...], agent: str) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in pairs if each[0] != agent)
