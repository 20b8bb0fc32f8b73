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
    "402": "{server} has no credit left for this key{said}: check its plan.",
    "quota": "{server} has no quota left for this key: check its plan.",
}
"""What the next call will fail with too."""
TOO_LONG = (
    "The ticket and its passages are too long for {name}{said}: "
    "say in [model] context how many tokens it takes, or lower [knowledge] passages."
)
WITHHELD = "The content filter of {server} refused this ticket{said}: a person has to answer."
_FILTER = re.compile(r"content[_ ](?:filter|management policy|policy)|ResponsibleAIPolicyViolation", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"\bmodel\b[^.]{0,100}(?:not found|not exist|unknown|not available)|(?:invalid|unknown|no such) model",
    re.IGNORECASE,
)
SAYING = ("message", "detail", "msg", "error", "errors", "reason", "raw", "metadata", "error_description")
"""Keys under which servers say what is wrong."""
SAYINGS = 8
NESTED = 6
COSTLY = frozenset({"silent", "429", "form"})
"""Kinds of failure that take as long with every next call."""


class OutOfService(ModelFailed):
    """The server is of no use to this run any more: its next call would wait as long, and fail in the same way."""


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
        kind = OutOfService if self.fatal or self.kind in COSTLY else ModelFailed
        return kind(self.sentence if self.tries == 1 else f"{self.sentence} ({self.tries} tries)")


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
        named = " ".join(str(each) for each in (error.code, error.param, *_locations(error.body)) if each)
        return _by_status(error.status_code, detail, named, after, settings, where)
    if isinstance(error, msgspec.DecodeError):
        sentence = f"The model server at {where} sent something that is no chat completion: check [model] base_url."
        return Fault(kind="nonsense", again=True, paid=True, sentence=sentence)
    if _anywhere(error, kinds.unreachable):
        sentence = f"The model server at {where} cannot be reached: check [model] base_url, and that it runs."
        return Fault(kind="unreachable", again=True, fatal=True, answered=False, sentence=sentence)
    if isinstance(error, kinds.timeout) and not _anywhere(error, kinds.broken):
        sentence = f"The model server at {where} does not answer: try later, or check [model] base_url."
        return Fault(kind="silent", again=True, fatal=True, answered=False, paid=True, sentence=sentence)
    return broken(where)


def broken(where: str) -> Fault:
    sentence = f"The connection to the model server at {where} broke off: try later."
    return Fault(kind="broken", again=True, answered=False, paid=True, sentence=sentence)


def reported(error: object, settings: ModelSettings, where: str) -> Fault:
    """The fault that a completion reports in the place of an answer, with the status that it names, if it does."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return _by_status(status, _detail(error, settings.api_key), str(code or ""), None, settings, where)


def empty(where: str) -> Fault:
    sentence = f"The model server at {where} sent a completion without an answer: check [model] name."
    return Fault(kind="empty", again=True, paid=True, sentence=sentence)


def left_alone(fault: Fault, seconds: float) -> Fault:
    """The server asks for a pause that nobody waits for."""
    sentence = f"{fault.sentence} It asks to be left alone for {seconds:,.0f} s."
    return msgspec.structs.replace(fault, sentence=sentence, again=False, after=None)


def given_up(where: str, seconds: float, last: Fault | None, *, sent: bool, hung: bool) -> Fault:
    """
    The call's time was up: after `last`, or in the middle of its first try.

    :param sent: the server had the request; `hung`: for so long that nobody else need wait for it.
    """
    if last is not None:
        return msgspec.structs.replace(last, sentence=f"{last.sentence} (given up after {seconds:g} s)")
    sentence = (
        f"The model server at {where} did not answer within {seconds:g} s: try later, or raise [model] call_seconds."
    )
    return Fault(kind="silent" if sent else "waiting", fatal=hung, answered=False, sentence=sentence)


def _by_status(status: int, detail: str, named: str, after: float | None, settings: ModelSettings, where: str) -> Fault:
    """:param named: the error's code, and the parts of the request that it is about."""
    said = f" ({detail[:DETAIL_CHARACTERS]})" if detail else ""
    whole = f"{named} {detail}"
    kind, form = _kind(status, whole)
    if kind in FATAL:
        sentence, again = FATAL[kind], False
    elif status == 429:
        sentence, again = "{server} is asked too much{said}: set [model] requests_per_minute, or try later.", True
    elif kind == "filtered":
        sentence, again = WITHHELD, False
    elif too_long(whole):
        sentence, again = TOO_LONG, False
    elif not form and (status >= 500 or status in AGAIN):
        sentence, again = "{server} failed with status {status}{said}: try later.", True
    else:
        sentence, again = "{server} did not accept the request, status {status}{said}: " + CHECK, False
    sentence = sentence.format(server=f"The model server at {where}", name=settings.name, status=status, said=said)
    return Fault(
        kind=kind, sentence=sentence, again=again, fatal=kind in FATAL, after=after if again else None,
        rejected=whole if form else None,
    )  # fmt: skip


def _kind(status: int, whole: str) -> tuple[str, bool]:
    """What kind of failure it is, and whether another form of the request may be taken."""
    if "insufficient_quota" in whole:
        return "quota", False
    if status in (413, 500) and too_long(whole):
        return str(status), True
    if status in (400, 422) and _FILTER.search(whole):
        return "filtered", False
    if status == 400 and _NO_MODEL.search(whole) and not minds_form(whole):
        return "404", False
    if status in (404, 500, 501) and minds_form(whole) and not _NO_MODEL.search(whole):
        return "form", True  # such as "no endpoint supports tools"
    return str(status), status in (400, 422)


def _detail(body: object, key: str) -> str:
    """What the server said, on one line, bounded, without what looks like a key or a terminal obeys."""
    text = "; ".join(dict.fromkeys(_sayings(body, NESTED)[:SAYINGS]))
    line = " ".join(text[:4000].split())
    if key:
        line = line.replace(key, "***")
    return safe(_KEY.sub("***", line))


def _sayings(body: object, deep: int) -> list[str]:
    """The sentences of an error, in whatever arrays and objects they stand."""
    match body:
        case str():
            return [body[:4000]] if body.strip() else []
        case list() if deep:
            return [said for each in body[:SAYINGS] for said in _sayings(each, deep - 1)]
        case dict() if deep:
            return [said for name in SAYING for said in _sayings(body.get(name), deep - 1)]
    return []


def _locations(body: object) -> list[str]:
    """The parts of the request that an error names: `loc` of each item, as validators of Python have it."""
    items = body if isinstance(body, list) else body.get("detail") if isinstance(body, dict) else None
    found = [each.get("loc") for each in items[:SAYINGS] if isinstance(each, dict)] if isinstance(items, list) else []
    return [str(part)[:100] for loc in found if isinstance(loc, list) for part in loc[:SAYINGS]]


def _anywhere(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    """Whether one of these stands in the chain of causes: a transport may dress a refused connection as a time-out."""
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None or isinstance(seen, kinds):
            return seen is not None
        seen = seen.__cause__ or seen.__context__
    return False
