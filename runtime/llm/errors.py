"""
What a failed request means: whether another try may help, one sentence that never holds the key,
and what the server cannot do.

How much of the protocol a server takes is found out by what it refuses, kept per kind of request,
and tried anew later.
"""

import re
from typing import Any, Literal

import msgspec

from actors.ports import ModelFailed
from bus import Clock
from runtime.resilience.limiters import retry_after
from runtime.settings import ModelSettings
from runtime.user_text import safe

Format = Literal["json_schema", "json_object", "plain"]
NEW, OLD = "max_completion_tokens", "max_tokens"


class Capabilities(msgspec.Struct, frozen=True):
    """A form of request. Each step goes to a simpler one, so looking for the right one ends after nine refusals."""

    format: Format = "json_schema"
    limits: tuple[str, ...] = (NEW, OLD)
    """The keys that may still bound the answer; the first is sent."""
    tools: bool = True
    temperature: bool = True
    """It may be told not to choose its words by chance."""
    system: bool = True
    """Instructions stand in a message of their own; else before the question."""
    stream: Literal["counted", "plain", ""] = "counted"
    """How an answer is asked for piece by piece, where somebody reads along: with a count of its tokens, or without."""

    @property
    def limit(self) -> str:
        return self.limits[0] if self.limits else ""


FIRST = Capabilities()
ELSEWHERE = Capabilities(limits=(OLD, NEW))
"""Servers other than OpenAI's know the older name, and some take the newer one without heeding it."""
ANEW_SECONDS = 600.0
"""After so long a server is asked in the fullest form again; each time in vain makes it twice as long."""
ANEW_MOST = 21_600.0

_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too (?:long|large|many tokens)", re.IGNORECASE
)
_FORMAT = re.compile(
    r"response_?format|json_schema|json_object|json[_ ]mode|schema|grammar|structured[_ ]output", re.IGNORECASE
)
_LIMIT = re.compile(r"max_(?:completion_)?tokens|in the completion", re.IGNORECASE)
"""Also where the room that is kept for the answer makes the whole too long."""
_SIZE = re.compile(r"too (?:large|high)|at most|must be (?:less|<|below)|maximum context|less than", re.IGNORECASE)
_TOOLS = re.compile(r"\btool|\bfunction", re.IGNORECASE)
_TOOL_SCHEMA = re.compile(r"schema for (?:tool|function)|\btools?\b.{0,40}\bstrict", re.IGNORECASE)
_TEMPERATURE = re.compile("temperature", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system[ _-]?(?:role|message|prompt|instruction)|developer[ _-]?instruction|roles? must alternate"
    r"|(?:support|invalid|unknown|unsupported)[^.]{0,40}['\"](?:system|developer)['\"]|\brole[^.]{0,20}\bsystem\b",
    re.IGNORECASE,
)
_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_REFUSED = r"(?:support|allow|permit|enabled|verified|cannot use|unknown|unrecogni[sz]ed|disabled)"
_STREAM = re.compile(
    rf"{_REFUSED}[^.]{{0,80}}\bstream(?:ing)?\b|\bstream(?:ing)?\b[^.]{{0,80}}{_REFUSED}|stream_options|include_usage",
    re.IGNORECASE,
)


def simpler(capabilities: Capabilities, detail: str, *, tools: bool, stream: bool = False) -> Capabilities | None:
    """
    The next form to try after a server refused one; None when no other form would help.

    :param detail: what the server said. When that names nothing known, less is asked of it step by step.
    :param tools: whether the refused request offered tools.
    :param stream: whether it asked for the answer piece by piece.
    """
    if stream and _STREAM.search(detail):
        counted = capabilities.stream == "counted" and _STREAM_OPTIONS.search(detail)
        return msgspec.structs.replace(capabilities, stream="plain" if counted else "")
    if _LIMIT.search(detail) and capabilities.limits:
        left = () if _SIZE.search(detail) else capabilities.limits[1:]
        return msgspec.structs.replace(capabilities, limits=left)
    if too_long(detail):
        return None
    if capabilities.temperature and _TEMPERATURE.search(detail):
        return msgspec.structs.replace(capabilities, temperature=False)
    if stream and not minds_form(detail):
        return msgspec.structs.replace(capabilities, stream="")  # it changes nothing but what is shown meanwhile
    if _SYSTEM.search(detail) and capabilities.system:
        return msgspec.structs.replace(capabilities, system=False)
    format_named, tools_named = _FORMAT.search(detail), tools and capabilities.tools and _TOOLS.search(detail)
    if tools_named and (not format_named or _TOOL_SCHEMA.search(detail)):
        return msgspec.structs.replace(capabilities, tools=False)
    if capabilities.format != "plain":
        less: Format = "json_object" if capabilities.format == "json_schema" and not tools_named else "plain"
        return msgspec.structs.replace(capabilities, format=less)  # both at once are refused in every format
    return None if format_named and not tools_named else _leave_out(capabilities, tools=tools)


def _leave_out(capabilities: Capabilities, *, tools: bool) -> Capabilities | None:
    """What else may be minded by a server that does not say what it minds."""
    if tools and capabilities.tools:
        return msgspec.structs.replace(capabilities, tools=False)
    if capabilities.system:
        return msgspec.structs.replace(capabilities, system=False)
    return msgspec.structs.replace(capabilities, limits=capabilities.limits[1:]) if capabilities.limits else None


def too_long(detail: str) -> bool:
    """Whether a server minds the length of the prompt, which no other form makes shorter."""
    return bool(_TOO_LONG.search(detail))


def minds_form(detail: str) -> bool:
    """Whether an error is about a part of the form, by name."""
    return any(each.search(detail) for each in (_FORMAT, _TOOLS, _SYSTEM, _LIMIT, _STREAM, _TEMPERATURE))


class ServerForms:
    """
    The form in which a server is asked first, with tools and without.

    A refusal that names what it minds is believed at once; one that does not may have had another cause, so its second
    in a row counts. None counts for ever: a server is mended, and a daemon runs for months.
    """

    def __init__(self, clock: Clock, first: Capabilities) -> None:
        self._clock = clock
        self._first = first
        self._known: dict[bool, tuple[Capabilities, float, float]] = {}
        """With when it was learned, and for how many seconds it holds."""
        self._doubted: dict[bool, Capabilities] = {}

    def best(self, *, tools: bool) -> Capabilities:
        form, since, seconds = self._known.get(tools, (self._first, 0.0, 0.0))
        return form if self._clock.time() < since + seconds else self._first

    def confirm(self, *, tools: bool) -> None:
        """The form that is asked first was taken: whatever was refused in between had another cause."""
        self._doubted.pop(tools, None)
        if self.best(tools=tools) == self._first:
            self._known.pop(tools, None)

    def learn(self, form: Capabilities, *, tools: bool, named: bool) -> bool:
        """
        A simpler form than the best was taken; say whether the next request begins with it.

        :param named: the refusals before it said what they minded.
        """
        if not named and self._doubted.get(tools) != form:
            self._doubted[tools] = form
            return False
        self._doubted.pop(tools, None)
        known, _, seconds = self._known.get(tools, (self._first, 0.0, 0.0))
        seconds = min(ANEW_MOST, 2 * seconds) if known == form else ANEW_SECONDS
        self._known[tools] = form, self._clock.time(), seconds
        return True


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
