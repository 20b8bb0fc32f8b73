"""What a failed request means: whether another try may help, and one sentence for the user that never holds the key."""

import re
from typing import Any

import msgspec

from actors.ports import ModelFailed
from runtime.llm.capabilities import minds_form, too_long
from runtime.resilience.retry_after import retry_after
from runtime.settings import ModelSettings
from runtime.user_text import safe

DETAIL_CHARACTERS = 200
_KEY = re.compile(r"\b(?:(?:g?sk|pk|rk)[-_]|bearer )[\w*.~+/=-]{8,}", re.IGNORECASE)
AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may cure."""

CHECK = "check [model] name and base_url."
FATAL = {
    "401": "{server} refused the key: set TERMINUS_MODEL_API_KEY or [model] api_key.",
    "403": "{server} does not let this key use {name}{said}: use another key or [model] name.",
    "404": "{server} has no model {name}{said}: " + CHECK,
    "quota": "{server} has no quota left for this key: check its plan.",
}
"""What the next call will fail with too."""
TOO_LONG = (
    "The ticket and its passages are too long for {name}{said}: "
    "lower [model] material_characters or [knowledge] passages."
)


class Rejected(ModelFailed):
    """The server did not accept the request as it is; `detail` is what it said, for finding a form that it accepts."""

    def __init__(self, sentence: str, detail: str) -> None:
        super().__init__(sentence)
        self.detail = detail


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One try that came to nothing."""

    kind: str
    sentence: str
    again: bool = False
    fatal: bool = False
    """The next call would fail in the same way."""
    answered: bool = True
    """The server is there."""
    paid: bool = False
    """The server may charge for it all the same."""
    after: float | None = None
    """Seconds that the server asked to be left alone."""
    rejected: str | None = None
    """What the server said against the form of the request."""
    tries: int = 1

    def error(self) -> ModelFailed:
        """What the caller gets to see."""
        if self.rejected is not None:
            return Rejected(self.sentence, self.rejected)
        return ModelFailed(self.sentence if self.tries == 1 else f"{self.sentence} ({self.tries} tries)")


class Kinds(msgspec.Struct, frozen=True):
    """The exceptions of the SDK and its transports, which are not imported before they are needed."""

    status: type[Any]
    """With `status_code`, `body`, `code` and `response.headers`."""
    timeout: tuple[type[BaseException], ...]
    unreachable: tuple[type[BaseException], ...]
    broken: tuple[type[BaseException], ...]


def understand(error: Exception, kinds: Kinds, settings: ModelSettings, where: str, today: float) -> Fault:
    """Make a fault of what the SDK, its transport or the decoder raised. `today` is Unix time, for dates in headers."""
    if isinstance(error, kinds.status):
        detail = _detail(error.body, settings.api_key)
        after = retry_after(error.response.headers, today)
        return _by_status(error.status_code, detail, error.code, after, settings, where)
    if isinstance(error, msgspec.DecodeError):
        sentence = f"The model server at {where} sent something that is no chat completion: check [model] base_url."
        return Fault(kind="nonsense", again=True, paid=True, sentence=sentence)
    if _anywhere(error, kinds.unreachable):
        sentence = f"The model server at {where} cannot be reached: check [model] base_url, and that it runs."
        return Fault(kind="unreachable", again=True, fatal=True, answered=False, sentence=sentence)
    if isinstance(error, kinds.timeout) and not _anywhere(error, kinds.broken):
        sentence = f"The model server at {where} does not answer: try later, or check [model] base_url."
        return Fault(kind="silent", again=True, fatal=True, answered=False, paid=True, sentence=sentence)
    sentence = f"The connection to the model server at {where} broke off: try later."
    return Fault(kind="broken", again=True, answered=False, paid=True, sentence=sentence)


def empty(where: str) -> Fault:
    sentence = f"The model server at {where} sent a completion without an answer: check [model] name."
    return Fault(kind="empty", again=True, paid=True, sentence=sentence)


def left_alone(fault: Fault, seconds: float) -> Fault:
    """The server asks for a pause that nobody waits for."""
    sentence = f"{fault.sentence} It asks to be left alone for {seconds:,.0f} s."
    return msgspec.structs.replace(fault, sentence=sentence, again=False, after=None)


def given_up(where: str, seconds: float, last: Fault | None, *, hung: bool) -> Fault:
    """The call's time was up: after `last`, or in the middle of its first try."""
    if last is not None:
        return msgspec.structs.replace(last, sentence=f"{last.sentence} (given up after {seconds:g} s)")
    sentence = (
        f"The model server at {where} did not answer within {seconds:g} s: try later, or raise [model] call_seconds."
    )
    return Fault(kind="silent", fatal=hung, answered=False, sentence=sentence)


def _by_status(
    status: int, detail: str, code: str | None, after: float | None, settings: ModelSettings, where: str
) -> Fault:
    said = f" ({detail[:DETAIL_CHARACTERS]})" if detail else ""
    kind = "quota" if code == "insufficient_quota" else str(status)
    form = status in (400, 422) or (status in (500, 501) and minds_form(detail))
    if kind in FATAL:
        sentence, again, form = FATAL[kind], False, False
    elif status == 429:
        sentence, again = "{server} is asked too much{said}: set [model] requests_per_minute, or try later.", True
    elif too_long(f"{code} {detail}"):
        sentence, again = TOO_LONG, False
    elif not form and (status >= 500 or status in AGAIN):
        sentence, again = "{server} failed with status {status}{said}: try later.", True
    else:
        sentence, again = "{server} did not accept the request, status {status}{said}: " + CHECK, False
    sentence = sentence.format(server=f"The model server at {where}", name=settings.name, status=status, said=said)
    return Fault(
        kind=kind, sentence=sentence, again=again, fatal=kind in FATAL, after=after if again else None,
        rejected=f"{code or ''} {detail}" if form else None,
    )  # fmt: skip


def _detail(body: object, key: str) -> str:
    """What the server said, on one line, bounded, without what looks like a key or a terminal obeys."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    text = inner.get("message", "") if isinstance(inner, dict) else inner
    line = " ".join(text[:4000].split()) if isinstance(text, str) else ""
    if key:
        line = line.replace(key, "***")
    return safe(_KEY.sub("***", line))


def _anywhere(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    """Whether one of these stands in the chain of causes: a transport may dress a refused connection as a time-out."""
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None or isinstance(seen, kinds):
            return seen is not None
        seen = seen.__cause__ or seen.__context__
    return False
